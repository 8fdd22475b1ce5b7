// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/outcome.h"
#include "widgets/plots/glyph.h"

#include <QAbstractButton>
#include <QString>

namespace normscope::widgets {

/// The label of a run, or of a group of runs, in the strip.
struct RunLabel {
    QString id;       ///< unique, e.g. "a"
    QString name;     ///< "Pre-LN"
    int index = 0;    ///< of colour and dash
    QString differs;  ///< only what differs from the other runs: "Δt 0.2"; may be empty
    RunState state = RunState::Prepared;
    QString detail;        ///< of the outcome: "step 212 · L7 ffn.w2 · inf"; in the tooltip
    QString counted = {};  ///< of a group whose runs ended differently: "2 of 3 stalled", instead of the word

    /// The state in words.
    QString outcome() const { return counted.isEmpty() ? outcomeWord(state) : counted; }
};

/// One run: swatch with its dash, name, differences, outcome as glyph and word. Elides its texts, the
/// differences first, where they do not fit.
class RunChip : public QAbstractButton {
    Q_OBJECT
  public:
    explicit RunChip(QWidget* parent = nullptr);
    void setRun(const RunLabel& run);
    const RunLabel& run() const { return run_; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

  private:
    int textWidth(bool differences) const;

    RunLabel run_;
};

}  // namespace normscope::widgets
