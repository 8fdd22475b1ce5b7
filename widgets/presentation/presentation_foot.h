// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/knobs/knob_table.h"

#include <QPushButton>
#include <QWidget>
#include <optional>
#include <vector>

class QLabel;

namespace normscope::widgets {
class KnobSlider;
class StepScrubber;

/// Train or pause, in the colour of solid controls.
class TrainButton : public QPushButton {
    Q_OBJECT
  public:
    explicit TrainButton(QWidget* parent = nullptr);
    void setPlaying(bool playing, const QString& act = {});

  protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

  private:
    bool playing_ = false;
};

/// The bottom of the presentation: the Train button, the scrubber, and the knobs Δt, τ and depth in large
/// type.
class PresentationFoot : public QWidget {
    Q_OBJECT
  public:
    explicit PresentationFoot(QWidget* parent = nullptr);

    TrainButton* train() const { return train_; }
    StepScrubber* scrubber() const { return scrubber_; }
    /// nullptr where the strip has no such knob.
    KnobSlider* slider(const QString& key) const;
    /// The values of the selected run; a slider that is dragged keeps its own.
    void setRecipe(const Recipe& shown);
    /// The value of a knob that a story asks for; nullopt: none.
    void setTarget(const QString& key, std::optional<double> value);

  Q_SIGNALS:
    void playToggled();
    void scrubbed(qint64 step);
    // A drag is any number of changes and one commit.
    void dragStarted();
    void keyChanging(normscope::KeyRef key, const normscope::FieldValue& value);
    void keyCommitted(normscope::KeyRef key, const normscope::FieldValue& value);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    struct Knob {
        const KnobSpec* spec;
        KnobSlider* slider;
        QLabel* value;
    };
    TrainButton* train_;
    StepScrubber* scrubber_;
    std::vector<Knob> knobs_;
};

}  // namespace normscope::widgets
