// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/outcome.h"

#include <QString>
#include <QWidget>
#include <vector>

namespace normscope::widgets {

/// Something that happened at a step of a run.
struct StepMark {
    qint64 step = 0;
    int run = 0;  ///< colour index
    /// How the run ended; Running marks an event (a knob move, a spike), drawn as a tick rather than a glyph.
    RunState state = RunState::Running;
    QString text;
};

/// The time line of the compared runs: what is recorded, what is planned, what happened where, and the step
/// shown.
class StepScrubber : public QWidget {
    Q_OBJECT
  public:
    explicit StepScrubber(QWidget* parent = nullptr);

    /// The setters send no signal. `recorded` is the last recorded step (−1: none), `planned` the last to
    /// come.
    void setRange(qint64 recorded, qint64 planned);
    void setStep(qint64 step);
    void setMarks(std::vector<StepMark> marks);
    qint64 step() const { return step_; }
    qint64 recorded() const { return recorded_; }
    double xOf(qint64 step) const;

    QSize sizeHint() const override { return {400, 40}; }
    QSize minimumSizeHint() const override { return {120, 40}; }

  Q_SIGNALS:
    void scrubbed(qint64 step);  ///< every change by hand; always a recorded step

  protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    void scrubTo(qint64 step);
    QString marksAt(double x) const;

    qint64 recorded_ = -1, planned_ = 0, step_ = 0;
    std::vector<StepMark> marks_;
};

}  // namespace normscope::widgets
