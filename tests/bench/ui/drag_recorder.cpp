// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/ui/drag_recorder.h"

#include "app/lab/lab.h"
#include "app/window/main_window.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/panels/panel_grid.h"

#include <algorithm>
#include <numeric>

namespace normscope::app::bench {

const char* stageName(Stage stage) {
    constexpr std::array<const char*, kStages> names{
        "interface_queue", "knob",  "engine_wait", "engine_queue", "rebuild", "probes",
        "reply_queue",     "apply", "figures",     "paint_wait",   "paint",   "flush"};
    return names[static_cast<std::size_t>(stage)];
}

DragRecorder::DragRecorder(MainWindow& window) : window_(window) {
    auto* knobs = window.views().knobs;
    connect(knobs, &widgets::KnobPanel::keyChanging, this, &DragRecorder::valueChanged);
    connect(knobs, &widgets::KnobPanel::keyCommitted, this, &DragRecorder::valueChanged);
    connect(knobs, &widgets::KnobPanel::runKeyCommitted, this, &DragRecorder::valueChanged);
    connect(window.lab(), &Lab::explorationRequested, this, &DragRecorder::requested);
    connect(window.lab(), &Lab::frameArrived, this, &DragRecorder::arrived);
    // The panels were connected before: their figures are those of the frame.
    connect(window.lab(), &Lab::frameTaken, this, &DragRecorder::taken);
    for (const widgets::PanelCell* cell : window.views().grid->cells()) timeFigures(*cell);
}

void DragRecorder::timeFigures(const widgets::PanelCell& cell) {
    FigureTimes& times = figure_times_[&cell];
    connect(&cell, &widgets::PanelCell::figureAsked, this, [&times] { times.begun = Clock::now(); });
    connect(&cell, &widgets::PanelCell::figureBuilt, this, [&times] {
        const Time now = Clock::now();
        times.build_ms = milliseconds(now - std::exchange(times.begun, now));
    });
    connect(&cell, &widgets::PanelCell::figureShown, this,
            [&times] { times.layout_ms = milliseconds(Clock::now() - times.begun); });
}

void DragRecorder::begin(int moves) {
    moves_.assign(static_cast<std::size_t>(moves), {});
    current_ = newest_ = -1;
    waits_for_reply_ = false;
    requested_ = shown_ = last_ = later_ = {};
    refined_.clear();
    images_.clear();
    sums_ = {};
}

void DragRecorder::moveBegins(int index, Time now) {
    current_ = index;
    moves_.at(static_cast<std::size_t>(index)).begun = now;
}

void DragRecorder::moveEnds(int index, Time now) {
    moves_.at(static_cast<std::size_t>(index)).ended = now;
    current_ = -1;
}

void DragRecorder::valueChanged() {
    if (current_ < 0) return;
    newest_ = current_;
    moves_[static_cast<std::size_t>(current_)].changed = true;
}

void DragRecorder::requested(std::uint64_t generation) {
    waits_for_reply_ = true;
    requested_ = {generation, current_ >= 0 ? current_ : newest_, Clock::now(), {}, {}, {}, 0, {}};
}

void DragRecorder::arrived(const FramePtr& frame) {
    if (frame->generation == requested_.generation && waits_for_reply_) {
        requested_.arrived = Clock::now();
        requested_.engine = frame->times;
    }
    figures_before_.clear();
    for (const widgets::PanelCell* cell : window_.views().grid->visibleCells())
        figures_before_[cell] = cell->plot()->figure().get();
}

void DragRecorder::taken(const FramePtr& frame) {
    const bool first = frame->generation == requested_.generation && waits_for_reply_;
    Request& request = first ? requested_ : last_;
    if (frame->generation != request.generation) return;
    request.applied = Clock::now();
    for (const widgets::PanelCell* cell : window_.views().grid->visibleCells()) {
        if (figures_before_[cell] == cell->plot()->figure().get()) continue;
        request.unpainted.insert(cell->plot()->viewport());
        const FigureTimes& times = figure_times_[cell];
        request.figures_ms += times.build_ms + times.layout_ms;
        ++sums_.updates[cell->panel()];
        sums_.figures[cell->panel() + ".build"] += times.build_ms;
        sums_.figures[cell->panel() + ".layout"] += times.layout_ms;
    }
    for (const RunFrame& run : frame->runs)
        for (const ProbeResult& result : run.delta.probes) sums_.probes[result.probe] += result.cost_ms;
    if (!first) {
        later_ = last_;
        last_.unpainted.clear();
        return;
    }
    waits_for_reply_ = false;
    last_ = {requested_.generation, requested_.move, {}, {}, {}, {}, 0, {}};
    later_ = {};
    shown_ = std::exchange(requested_, {});  // an earlier one that waits for its paint event is replaced
}

void DragRecorder::windowPainted(Time begin, const std::vector<Painted>& painted, Time end) {
    addPaint(painted);
    const auto showsAll = [&](Request& request) {
        if (!request.generation || begin < request.applied) return false;
        for (const Painted& one : painted) request.unpainted.erase(one.widget);
        return request.unpainted.empty();
    };
    if (showsAll(later_)) refined_.emplace_back(std::exchange(later_, {}).move, end);
    if (!showsAll(shown_)) return;
    const double ms = std::accumulate(painted.begin(), painted.end(), 0.0,
                                      [](double sum, const Painted& one) { return sum + one.ms; });
    Request shown = std::exchange(shown_, {});
    if (shown.move >= 0) images_.push_back({std::move(shown), begin, end, ms});
}

void DragRecorder::addPaint(const std::vector<Painted>& painted) {
    std::map<const QObject*, std::string> panels;
    for (const widgets::PanelCell* cell : window_.views().grid->visibleCells())
        panels[cell->plot()->viewport()] = cell->panel();
    for (const Painted& one : painted) {
        const auto panel = panels.find(one.widget);
        if (panel != panels.end()) {
            sums_.paint[panel->second] += one.ms;
            continue;
        }
        sums_.paint["other"] += one.ms;
        sums_.other[one.widget->metaObject()->className()] += one.ms;
        ++sums_.other_widgets;
    }
}

DragTimes DragRecorder::end(const std::function<Time(int)>& posted) {
    DragTimes times = std::exchange(sums_, {});
    times.moves = static_cast<int>(moves_.size());
    times.changed = static_cast<int>(
        std::count_if(moves_.begin(), moves_.end(), [](const Move& move) { return move.changed; }));
    for (const Move& move : moves_)
        if (move.changed) times.handled.push_back(milliseconds(move.ended - move.begun));
    for (const Image& image : images_) {
        const Request& request = image.of;
        const Move& move = moves_[static_cast<std::size_t>(request.move)];
        const Time knob_end = std::min(move.ended, request.made);
        const FrameTimes& engine = request.engine;
        const Time points[] = {posted(request.move), move.begun,      knob_end,        request.made,
                               engine.taken,         engine.prepared, engine.measured, request.arrived,
                               request.applied,      image.begin,     image.end};
        const auto between = [&](int i) { return milliseconds(points[i + 1] - points[i]); };
        StageTimes stages{between(0), between(1), between(2), between(3), between(4), between(5), between(6)};
        const auto at = [&](Stage stage) -> double& { return stages[static_cast<std::size_t>(stage)]; };
        at(Stage::Apply) = between(7) - request.figures_ms;
        at(Stage::Figures) = request.figures_ms;
        at(Stage::PaintWait) = between(8);
        at(Stage::Paint) = image.paint_ms;
        at(Stage::Flush) = between(9) - image.paint_ms;
        times.latency.push_back(milliseconds(image.end - points[0]));
        times.stages.push_back(stages);
    }
    for (const auto& [move, end] : refined_)
        if (move >= 0) times.refined.push_back(milliseconds(end - posted(move)));
    if (!moves_.empty())
        for (auto& [_, count] : times.updates)
            count *= 1000 / std::max(1.0, milliseconds(moves_.back().ended - moves_.front().begun));
    if (const auto n = static_cast<double>(images_.size()); n > 0) {
        for (auto* sums : {&times.probes, &times.figures, &times.paint, &times.other})
            for (auto& [_, ms] : *sums) ms /= n;
        times.other_widgets /= n;
    }
    images_.clear();
    return times;
}

}  // namespace normscope::app::bench
