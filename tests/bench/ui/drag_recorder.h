// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/frame.h"
#include "tests/bench/ui/measured_application.h"

#include <QObject>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace normscope::widgets {
class KnobPanel;
class PanelCell;
}  // namespace normscope::widgets

namespace normscope::app {
class Lab;
class MainWindow;
}  // namespace normscope::app

namespace normscope::app::bench {

/// The way of a move to its image; the stages follow one another, so their times add up to the latency.
enum class Stage {
    InterfaceQueue,  ///< posted, until the interface thread takes it
    Knob,            ///< the slider, the recipes, until the request (or the end of the event)
    EngineWait,      ///< until the reply to an earlier request has come, since one is in flight
    EngineQueue,     ///< until the engine's thread takes the request
    Rebuild,         ///< experiments are built, or their knobs set
    Probes,          ///< forward pass, backward pass, the cheap probes of all runs
    ReplyQueue,      ///< until the interface thread takes the reply
    Apply,           ///< the reply is applied to the runs, without the figures
    Figures,         ///< the figures of the panels are built and laid out
    PaintWait,       ///< until Qt paints the window
    Paint,           ///< paint events of all widgets
    Flush,           ///< the rest of the pass: backing store, pixels to the X server
};
constexpr std::size_t kStages = 12;
const char* stageName(Stage stage);

using StageTimes = std::array<double, kStages>;

/// Of one knob.
struct DragTimes {
    int moves = 0;                   ///< sent
    int changed = 0;                 ///< that changed the knob's value
    std::vector<double> latency;     ///< ms, of those with an image of their own
    std::vector<StageTimes> stages;  ///< of the same
    /// ms, to the paint of a later reply to the same request: the figures of the backward pass and of the
    /// expensive probes, which do not follow at every move.
    std::vector<double> refined;
    std::map<std::string, double> updates;  ///< new figures of each panel, per second of the drag
    std::vector<double> handled;            ///< ms, the whole event of each move in the interface thread
    /// Means over these images, ms: cost of each probe (the passes shared among them), over all runs; each
    /// panel's figure; each panel's paint event, and "other".
    std::map<std::string, double> probes, figures, paint;
    double other_widgets = 0;             ///< mean number of widgets other than panels painted with an image
    std::map<std::string, double> other;  ///< their paint, by class
};

/// Follows each move through the window: the request that carries it, that request's first reply, and the
/// pass that paints the last panel with a figure of that reply. A move whose value was replaced by a newer
/// one before it was requested, or whose reply was replaced before it was painted, has no image of its own.
class DragRecorder : public QObject, public EventListener {
  public:
    /// Listens to the window's laboratory from now on.
    explicit DragRecorder(MainWindow& window);

    /// Begins with `moves` moves of a knob.
    void begin(int moves);
    /// Whether the image of the newest request is on screen.
    bool settled() const { return !waits_for_reply_ && !shown_.generation; }
    /// `posted(i)`: when move i was posted.
    DragTimes end(const std::function<Time(int)>& posted);

    void moveBegins(int index, Time now) override;
    void moveEnds(int index, Time now) override;
    void windowPainted(Time begin, const std::vector<Painted>& painted, Time end) override;

  private:
    struct Move {
        Time begun{}, ended{};
        bool changed = false;
    };
    struct Request {
        std::uint64_t generation = 0;  ///< 0: none
        int move = -1;                 ///< the newest that it carries
        Time made{}, arrived{}, applied{};
        FrameTimes engine;
        double figures_ms = 0;
        std::set<const QObject*> unpainted;  ///< viewports of the panels that show it
    };
    struct Image {
        Request of;
        Time begin{}, end{};
        double paint_ms = 0;
    };

    void valueChanged();
    void requested(std::uint64_t generation);
    void arrived(const FramePtr& frame);
    void taken(const FramePtr& frame);
    void timeFigures(const widgets::PanelCell& cell);
    void addPaint(const std::vector<Painted>& painted);

    MainWindow& window_;
    std::vector<Move> moves_;
    int current_ = -1;  ///< the move being handled
    int newest_ = -1;   ///< that changed the value
    bool waits_for_reply_ = false;
    Request requested_;                                  ///< the newest, until its first reply was applied
    Request shown_;                                      ///< applied, not painted yet
    Request last_;                                       ///< the newest, after its first reply
    Request later_;                                      ///< a later reply to it: applied, not painted yet
    std::vector<std::pair<int, Time>> refined_;          ///< move, paint
    std::map<const void*, const void*> figures_before_;  ///< by cell
    struct FigureTimes {
        Time begun{};
        double build_ms = 0, layout_ms = 0;
    };
    std::map<const void*, FigureTimes> figure_times_;  ///< of the figure shown, by cell
    std::vector<Image> images_;
    DragTimes sums_;
};

}  // namespace normscope::app::bench
