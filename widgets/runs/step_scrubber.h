// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/outcome.h"

#include <QString>
#include <QWidget>
#include <vector>

namespace normscope::widgets {

/// An event at a step of a run.
struct StepMark {
    qint64 step = 0;
    int run = 0;  ///< colour index
    /// How the run ended; Running marks an event (a knob move, a spike), drawn as a tick rather than a glyph.
    RunState state = RunState::Running;
    QString text;
};

/// The steps at which one run was measured; a lane of the scrubber.
struct StepLane {
    QString name;
    int run = 0;                 ///< colour index
    qint64 recorded = -1;        ///< its last recorded step; −1: none
    std::vector<qint64> some;    ///< measured by at least one probe; ascending
    std::vector<qint64> by_all;  ///< by every panel shown; ascending, among `some`
};

/// The time line of the compared runs: one lane a run with a tick at each measured step (tall where every
/// panel shown was measured), planned steps in grey, events, and the step shown. The axis is log₂(1 + step):
/// failures begin in the first sixteen steps.
///
/// A drag snaps to the measured steps of any run; so do ← and →, Page up and down move by eight of them.
/// Shift with ← and → goes by single steps. Without measured steps all of them go by single steps.
class StepScrubber : public QWidget {
    Q_OBJECT
  public:
    explicit StepScrubber(QWidget* parent = nullptr);

    /// The setters send no signal. `recorded` is the last recorded step (−1: none), `planned` the last
    /// planned one.
    void setRange(qint64 recorded, qint64 planned);
    void setStep(qint64 step);
    void setMarks(std::vector<StepMark> marks);
    void setLanes(std::vector<StepLane> lanes);
    /// 11 px in the window (the default); lanes and marks grow with the text.
    void setTextSize(int px);
    const std::vector<StepLane>& lanes() const { return lanes_; }
    qint64 step() const { return step_; }
    qint64 recorded() const { return recorded_; }
    double xOf(qint64 step) const;
    /// The next measured step in a direction (±1), at most the newest recorded one; `from` if there is none.
    qint64 measuredNeighbour(qint64 from, int direction) const;
    /// Whether every run that has recorded the step was measured there by every panel shown.
    bool measuredByAll(qint64 step) const;

    /// Where the glyph of an outcome is drawn: after the end of its run's lane, so that two runs that end at
    /// one step do not cover each other. Empty without a lane, or in one that is too thin.
    QRectF outcomeRect(const StepMark& mark) const;

    QSize sizeHint() const override { return {400, heightHint()}; }
    QSize minimumSizeHint() const override { return {120, heightHint()}; }

  Q_SIGNALS:
    void scrubbed(qint64 step);  ///< every change by hand; always a recorded step

  protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    double top() const { return text_px_ + 5; }                ///< for the step number and the events
    double margin() const { return text_px_ < 18 ? 12 : 22; }  ///< left and right of the lanes
    int heightHint() const { return 46 + 2 * (text_px_ - 11); }
    void scrubTo(qint64 step);
    qint64 snapped(double x) const;
    QString marksAt(double x) const;
    void gatherMeasured();
    void describe();
    void paintLanes(QPainter& painter) const;
    QRectF laneRect(std::size_t lane) const;

    int text_px_ = 11;
    qint64 recorded_ = -1, planned_ = 0, step_ = 0;
    std::vector<StepMark> marks_;
    std::vector<StepLane> lanes_;
    std::vector<qint64>
        measured_;  ///< of all lanes and the newest recorded step, ascending; empty without lanes
};

}  // namespace normscope::widgets
