// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/presentation/presentation_foot.h"
#include "widgets/presentation/presentation_head.h"

#include <QObject>
#include <QPointer>
#include <vector>

class QMainWindow;
class QShortcut;

namespace normscope::widgets {

class PanelGrid;
class StoryStrip;

/// Presentation mode: one panel between the head (headline, step) and the foot (Train, scrubber, Δt, τ,
/// depth), all texts of 18 pt or more at 96 dpi, over the whole screen. ← and → step through the recorded
/// steps. Leaving it restores what was on screen.
class Presentation : public QObject {
    Q_OBJECT
  public:
    static constexpr int kText = 24;    ///< px: 18 pt at 96 dpi
    static constexpr int kPlot = 27;    ///< of PlotView::setSizes: its ticks are 24 px or more
    static constexpr double kLine = 3;  ///< px
    static constexpr int kMargin = 36;

    /// `hidden`: what is not shown in presentation mode.
    Presentation(QMainWindow& window, PanelGrid& grid, StoryStrip& story,
                 const std::vector<QWidget*>& hidden);

    PresentationHead* head() const { return head_; }
    PresentationFoot* foot() const { return foot_; }
    bool isOn() const { return on_; }
    void setOn(bool on);
    /// Shows the panel that the story is about; no change without a story, or where another panel was
    /// maximised.
    void showStoryPanel();
    struct Shown {
        qint64 recorded = -1, planned = 0;  ///< as StepScrubber::setRange() has them
        qint64 step = 0;
        bool playing = false;
        QString headline = {};
        QString act = {};  ///< as TransportBar::setPlaying() has it
    };
    void show(const Shown& shown);

  Q_SIGNALS:
    void stepRequested(qint64 step);

  private:
    void step(int direction);

    QMainWindow& window_;
    PanelGrid& grid_;
    StoryStrip& story_;
    struct Hidden {
        QWidget* widget;
        bool visible;
    };
    std::vector<Hidden> hidden_;
    PresentationHead* head_;
    PresentationFoot* foot_;
    std::vector<QShortcut*> keys_;
    bool on_ = false;
    int focused_cell_ = -1;
    QPointer<QWidget> focus_;
};

}  // namespace normscope::widgets
