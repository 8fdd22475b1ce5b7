// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/runs/step_scrubber.h"

#include <QWidget>

class QLabel;
class QPushButton;
class QSpinBox;

namespace normscope::widgets {

class DeviceButton;
class GlyphButton;

/// The bottom bar: run, pause, step, scrub. Space plays and pauses from anywhere in the window.
class TransportBar : public QWidget {
    Q_OBJECT
  public:
    static constexpr int kHeight = 56;

    explicit TransportBar(QWidget* parent = nullptr);

    /// The setters send no signal.
    void setRange(qint64 recorded, qint64 planned);  ///< see StepScrubber
    void setStep(qint64 step);                       ///< the step that the panels show
    void setMarks(std::vector<StepMark> marks);
    void setLanes(std::vector<StepLane> lanes);  ///< see StepScrubber
    /// Whether the step shown can be measured now; else the button is disabled with the reason as its
    /// tooltip.
    void setMeasurable(bool measurable, const QString& why_not);
    /// What is being measured ("measuring Post-LN at step 45 …"), shown instead of the rates; empty = none.
    /// While it is not empty, the button cancels it.
    void setMeasuring(const QString& status);
    void setPlaying(bool playing);
    bool isPlaying() const { return playing_; }
    /// Tokens per second, milliseconds per step, and the probes' share of the step time in percent; NaN where
    /// unknown.
    void setRates(double tokens_per_s, double step_ms, double probe_percent);
    /// Where the runs in training compute, and the memory there ("71.2 of 79.1 GiB free"); empty = none.
    void setDeviceUse(const QString& device, const QString& memory);
    /// Shown after a structural knob was moved during training: starts the previewed stack as a new run.
    void setPreviewPending(bool pending);

    StepScrubber* scrubber() const { return scrubber_; }
    DeviceButton* device() const { return device_; }

  Q_SIGNALS:
    void play();
    void pause();
    void singleStep();  ///< train one step; sent only where the newest step is shown
    void scrubbed(qint64 step);
    void startNewRun();
    void measureHere();  ///< or cancel the running measurement

  private:
    void playOrPause();
    void stepForward();
    void scrubTo(qint64 step);
    void showButtons();
    void showRates();
    QString ratesText() const;

    GlyphButton *first_, *back_, *play_, *forward_, *last_;
    StepScrubber* scrubber_;
    QSpinBox* field_;
    QLabel* planned_;
    QLabel* rates_;
    QPushButton* measure_;
    QPushButton* new_run_;
    DeviceButton* device_;
    QString rates_text_, device_text_, memory_text_, status_;
    bool playing_ = false;
};

}  // namespace normscope::widgets
