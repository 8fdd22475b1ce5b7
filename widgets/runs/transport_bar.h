// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/runs/step_scrubber.h"

#include <QWidget>

class QBoxLayout;
class QLabel;

namespace normscope::widgets {

class BarButton;
class DeviceButton;
class GlyphButton;

/// The bottom bar: at the left, as wide as the left column, train, pause and step; the scrubber; at the right
/// the step shown, how it was measured or how fast the training is, the device, fork and measure. Space plays
/// and pauses from anywhere in the window. No text moves anything.
class TransportBar : public QWidget {
    Q_OBJECT
  public:
    static constexpr int kHeight = 56;

    explicit TransportBar(QWidget* parent = nullptr);

    /// Of the left column above it.
    void setLeftWidth(int width);
    /// The setters send no signal.
    void setRange(qint64 recorded, qint64 planned);  ///< see StepScrubber
    void setStep(qint64 step);                       ///< the step that the panels show
    void setMarks(std::vector<StepMark> marks);
    void setLanes(std::vector<StepLane> lanes);  ///< see StepScrubber
    /// Whether the step shown can be measured now; else the button is disabled with the reason as its
    /// tooltip.
    void setMeasurable(bool measurable, const QString& why_not);
    /// Whether the selected run can be forked at the step shown; else the same.
    void setForkable(bool forkable, const QString& why_not);
    /// What is being measured ("measuring Post-LN at step 45 …"), shown instead of the rates; empty = none.
    /// While it is not empty, the button cancels it.
    void setMeasuring(const QString& status);
    /// The same of a fork that is replayed, and its button.
    void setForking(const QString& status);
    /// `act`: what the button does where nothing is playing, "Resume 6 runs"; empty: "Train". It does nothing
    /// where `why_not` has a reason.
    void setPlaying(bool playing, const QString& act = {}, const QString& why_not = {});
    bool isPlaying() const { return playing_; }
    /// Tokens per second, milliseconds per step, and the probes' share of the step time in percent; NaN where
    /// unknown.
    void setRates(double tokens_per_s, double step_ms, double probe_percent);
    /// Where the runs in training compute, and the memory there ("71.2 of 79.1 GiB free"); empty = none.
    void setDeviceUse(const QString& device, const QString& memory);
    /// After a structural knob was moved in training: in the place of the fork, which keeps the stack, a
    /// button that starts the previewed stack as a new run.
    void setReplaceable(bool replaceable);

    StepScrubber* scrubber() const { return scrubber_; }
    DeviceButton* device() const { return device_; }
    /// Train, pause or resume.
    QWidget* mainButton() const;
    /// The line of rates and costs.
    QWidget* rates() const;

  Q_SIGNALS:
    void play();
    void pause();
    void singleStep();  ///< train one step; sent only where the newest step is shown
    void scrubbed(qint64 step);
    void replaceRuns();
    void forkHere();     ///< or cancel the replay of a fork
    void measureHere();  ///< or cancel the running measurement

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    class StepField;

    void addTrainButtons();
    void addStep(QBoxLayout* line);
    void addActions(QBoxLayout* line);
    void playOrPause();
    void stepForward();
    void scrubTo(qint64 step);
    void showButtons();
    void showNote();
    QString ratesText() const;

    QWidget* left_;
    GlyphButton *first_, *back_, *forward_, *last_;
    BarButton *play_, *fork_, *replace_, *measure_;
    StepScrubber* scrubber_;
    StepField* field_;
    QLabel *planned_, *note_;
    DeviceButton* device_;
    QString rates_text_, device_text_, memory_text_, measuring_, forking_;
    bool playing_ = false;
};

}  // namespace normscope::widgets
