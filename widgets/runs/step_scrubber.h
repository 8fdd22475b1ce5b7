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
    bool operator==(const StepMark&) const = default;
};

/// The steps at which one run was measured; a lane of the scrubber.
struct StepLane {
    QString name;
    int run = 0;                 ///< colour index
    qint64 recorded = -1;        ///< its last recorded step; −1: none
    std::vector<qint64> some;    ///< measured by at least one probe; ascending
    std::vector<qint64> by_all;  ///< by every panel shown; ascending, among `some`
    bool operator==(const StepLane&) const = default;
};

/// The time line of the compared runs: one lane a run, with a sample of its line at the left, a tick at each
/// measured step (tall where every panel shown was measured), planned steps in grey and, after its end, its
/// outcome; above the lanes events and the handle of the step shown, below them the steps. The axis is
/// log₂(1 + step): failures begin in the first sixteen steps.
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
    /// How the step shown was measured: "measured by every panel", "not measured: nearest 49 / 81".
    QString measuredText() const;
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
    bool isLarge() const { return text_px_ >= 18; }
    // Around the lanes: the handle and the events, the steps, the samples of the lines, the outcomes.
    double top() const { return isLarge() ? 14 : 11; }
    double bottom() const { return text_px_ + 7; }
    double left() const { return isLarge() ? 96 : 56; }
    double right() const { return isLarge() ? 40 : 28; }
    int heightHint() const { return 56 + (text_px_ - 11) * 3 / 2; }
    void scrubTo(qint64 step);
    qint64 snapped(double x) const;
    QString textAt(const QPointF& place) const;
    void gatherMeasured();
    void describe();
    QRectF sampleRect(std::size_t lane) const;
    void paintLanes(QPainter& painter) const;
    void paintSteps(QPainter& painter) const;
    void paintHandle(QPainter& painter) const;
    QRectF laneRect(std::size_t lane) const;

    int text_px_ = 11;
    qint64 recorded_ = -1, planned_ = 0, step_ = 0;
    std::vector<StepMark> marks_;
    std::vector<StepLane> lanes_;
    std::vector<qint64>
        measured_;  ///< of all lanes and the newest recorded step, ascending; empty without lanes
};

}  // namespace normscope::widgets
