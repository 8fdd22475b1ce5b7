// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/outcome.h"
#include "widgets/figures/outcome_word.h"
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
    int runs = 1;          ///< of the group

    /// "Pre-LN", of a group "Pre-LN ×3".
    QString title() const { return runs > 1 ? QStringLiteral("%1 ×%2").arg(name).arg(runs) : name; }
    /// The state in words.
    QString outcome() const { return counted.isEmpty() ? outcomeWord(state) : counted; }
    bool operator==(const RunLabel&) const = default;
};

/// One run or group: sample of its line, name, number of runs, differences; at the right end its outcome as
/// glyph and word. Its width does not depend on the outcome. Where all do not fit the word is omitted first,
/// then the differences: the tooltip has all of them, the findings band has the outcome.
class RunChip : public QAbstractButton {
    Q_OBJECT
  public:
    static constexpr int kHeight = 32, kMin = 120;

    explicit RunChip(QWidget* parent = nullptr);
    void setRun(const RunLabel& run);
    const RunLabel& run() const { return run_; }
    /// Without the outcome, chips are less wide.
    void setOutcomeShown(bool shown);
    int minimumChipWidth(bool with_outcome) const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

  private:
    int nameEnd() const;
    void paintTexts(QPainter& painter) const;

    RunLabel run_;
    bool outcome_shown_ = true;
};

}  // namespace normscope::widgets
