// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/ui/bench_report.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace normscope::app::bench {

namespace {

using nlohmann::json;

constexpr double kStallLimit = 16, kShareLimit = 0.9, kRedrawLimit = 8, kOpenLimit = 1000;

double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
}

std::vector<double> stageValues(const DragTimes& times, std::size_t stage) {
    std::vector<double> values;
    for (const StageTimes& of : times.stages) values.push_back(of[stage]);
    return values;
}

/// Means of the moves whose latency is at least the median, so that the stages are those of the slow moves.
StageTimes slowStages(const DragTimes& times) {
    const double median = percentile(times.latency, 0.5);
    StageTimes sums{};
    int n = 0;
    for (std::size_t i = 0; i < times.latency.size(); ++i) {
        if (times.latency[i] < median) continue;
        ++n;
        for (std::size_t s = 0; s < kStages; ++s) sums[s] += times.stages[i][s];
    }
    for (double& sum : sums) sum /= std::max(1, n);
    return sums;
}

std::size_t slowest(const StageTimes& stages) {
    return static_cast<std::size_t>(std::max_element(stages.begin(), stages.end()) - stages.begin());
}

double share(const DragTimes& times) {
    return times.changed > 0 ? static_cast<double>(times.latency.size()) / times.changed : 0;
}

bool met(const KnobResult& knob) {
    return percentile(knob.times.latency, 0.95) <= knob.limit_ms && share(knob.times) >= kShareLimit;
}

json percentiles(const std::vector<double>& values) {
    return {{"p50", percentile(values, 0.5)},
            {"p95", percentile(values, 0.95)},
            {"p99", percentile(values, 0.99)},
            {"max", percentile(values, 1)}};
}

std::string line(const char* format, auto... values) {
    char text[256];
    std::snprintf(text, sizeof text, format, values...);
    return text;
}

std::string means(const char* title, const std::map<std::string, double>& of) {
    std::string text = line("    %-9s", title);
    for (const auto& [name, ms] : of) text += line(" %s %.2f ·", name.c_str(), ms);
    if (!of.empty()) text.resize(text.size() - 3);
    return text + '\n';
}

}  // namespace

double percentile(std::vector<double> values, double share) {
    if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
    const auto last = static_cast<double>(values.size() - 1);
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::ceil(share * last));
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

bool stallSeen(const StallCheck& check) {
    // A move comes every 17 ms: the first one in the stall waits for most of it.
    constexpr double stall = 50, interval = 1000.0 / 60;
    return check.watchdog_ms >= 0.95 * stall && check.move_ms >= stall - interval - 1;
}

std::string asText(const BenchResult& r) {
    std::string text =
        line("%s, %d × %d, %d runs, %d cores, engine with %d threads, 60 moves a second for %g s per knob\n",
             r.platform.c_str(), r.size.width(), r.size.height(), r.runs, r.cores, r.threads, r.seconds);
    text +=
        line("self-check: a stall of %d ms; seen by the watchdog %.1f ms, by a move %.1f ms: %s\n\n",
             r.check.stall_ms, r.check.watchdog_ms, r.check.move_ms, stallSeen(r.check) ? "ok" : "NOT SEEN");
    text += line("48 curves of 1,000 points redrawn, ms: p50 %.1f · p95 %.1f · max %.1f · limit %.0f: %s\n\n",
                 percentile(r.redraw, 0.5), percentile(r.redraw, 0.95), percentile(r.redraw, 1), kRedrawLimit,
                 percentile(r.redraw, 0.95) <= kRedrawLimit ? "met" : "missed");
    if (r.open_ms > 0)
        return text +
               line(
                   "session of %d runs, %zu values in their step tables: first paint after %.0f ms · limit "
                   "%.0f: %s\n",
                   r.runs, r.opened_values, r.open_ms, kOpenLimit,
                   r.open_ms <= kOpenLimit ? "met" : "missed");
    text += "from the event to the end of the paint, ms\n";
    text += line("%-8s %6s %6s %6s %6s %6s  %5s %7s %7s %8s  %s\n", "knob", "p50", "p95", "p99", "max",
                 "limit", "moves", "images", "dropped", "limits", "slowest stage");
    for (const KnobResult& knob : r.knobs) {
        const DragTimes& t = knob.times;
        const StageTimes slow = slowStages(t);
        const auto letters = QString::fromStdString(knob.title).size();  // Δt has three bytes
        text += knob.title + std::string(static_cast<std::size_t>(std::max<qsizetype>(1, 8 - letters)), ' ');
        text += line(" %6.1f %6.1f %6.1f %6.1f %6.0f  %5d %6.1f%% %7d %8s  %s %.1f ms\n",
                     percentile(t.latency, 0.5), percentile(t.latency, 0.95), percentile(t.latency, 0.99),
                     percentile(t.latency, 1), knob.limit_ms, t.changed, 100 * share(t),
                     t.changed - static_cast<int>(t.latency.size()), met(knob) ? "met" : "missed",
                     stageName(static_cast<Stage>(slowest(slow))), slow[slowest(slow)]);
    }
    for (const KnobResult& knob : r.knobs) {
        const DragTimes& t = knob.times;
        if (t.latency.empty()) continue;
        text += line("\n%s: stages, mean and p95 ms\n   ", knob.title.c_str());
        for (std::size_t s = 0; s < kStages; ++s) {
            const auto values = stageValues(t, s);
            text += line(" %s %.1f/%.1f", stageName(static_cast<Stage>(s)), mean(values),
                         percentile(values, 0.95));
            if (s + 1 < kStages) text += s == 5 ? "\n   " : " ·";
        }
        text += '\n' + means("probes", t.probes) + means("figures", t.figures) + means("paint", t.paint);
        text += line("    other    %.1f widgets:", t.other_widgets);
        for (const auto& [name, ms] : t.other)
            if (ms >= 0.02) text += line(" %s %.2f", name.c_str(), ms);
        text += line("\n    the event of a move %.2f ms\n", mean(t.handled));
        text += means("updates/s", t.updates);
        text += line("    later figures of the same move: %zu, p50 %.1f, p95 %.1f ms\n", t.refined.size(),
                     percentile(t.refined, 0.5), percentile(t.refined, 0.95));
    }
    text += line(
        "\nwaits of the interface thread while all runs train (%lld steps) and the window is resized (%d "
        "times), ms\n    p50 %.1f · p95 %.1f · p99 %.1f · max %.1f · limit of the p99 %.0f: %s\n",
        r.steps, r.resizes, percentile(r.stalls, 0.5), percentile(r.stalls, 0.95), percentile(r.stalls, 0.99),
        percentile(r.stalls, 1), kStallLimit, percentile(r.stalls, 0.99) <= kStallLimit ? "met" : "missed");
    for (const auto& [name, slow] : r.slow)
        text += line("    %s: %d times, mean %.1f, longest %.1f ms\n", name.c_str(), slow.count,
                     slow.total_ms / slow.count, slow.longest_ms);
    if (!r.all_trained) text += "    a run ended before the end of the measurement\n";
    return text;
}

std::string asJson(const BenchResult& r) {
    json knobs = json::array();
    for (const KnobResult& knob : r.knobs) {
        const DragTimes& t = knob.times;
        json stages = json::object();
        for (std::size_t s = 0; s < kStages; ++s) {
            const auto values = stageValues(t, s);
            stages[stageName(static_cast<Stage>(s))] = {{"mean", values.empty() ? 0 : mean(values)},
                                                        {"p95", percentile(values, 0.95)}};
        }
        // What the stages do not account for.
        double rest = 0;
        for (std::size_t i = 0; i < t.latency.size(); ++i) {
            double sum = 0;
            for (const double ms : t.stages[i]) sum += ms;
            rest = std::max(rest, std::abs(t.latency[i] - sum));
        }
        knobs.push_back({{"knob", knob.key},
                         {"title", knob.title},
                         {"from", knob.from},
                         {"to", knob.to},
                         {"moves_sent", t.moves},
                         {"moves", t.changed},
                         {"images", t.latency.size()},
                         {"share", share(t)},
                         {"dropped", t.changed - static_cast<int>(t.latency.size())},
                         {"ms", percentiles(t.latency)},
                         {"mean_ms", t.latency.empty() ? 0 : mean(t.latency)},
                         {"limit_ms", knob.limit_ms},
                         {"met", met(knob)},
                         {"stages", std::move(stages)},
                         {"unaccounted_ms", rest},
                         {"slowest_stage", stageName(static_cast<Stage>(slowest(slowStages(t))))},
                         {"later", percentiles(t.refined)},
                         {"later_figures", t.refined.size()},
                         {"updates_per_s", t.updates},
                         {"probes", t.probes},
                         {"figures", t.figures},
                         {"paint", t.paint},
                         {"paint_other", t.other},
                         {"event_ms", percentiles(t.handled)}});
    }
    json slow = json::object();
    for (const auto& [name, event] : r.slow)
        slow[name] = {{"count", event.count},
                      {"mean_ms", event.total_ms / event.count},
                      {"longest_ms", event.longest_ms}};
    json stalls = percentiles(r.stalls);
    stalls["limit_ms"] = kStallLimit;
    stalls["met"] = percentile(r.stalls, 0.99) <= kStallLimit;
    stalls["waits"] = r.stalls.size();
    stalls["resizes"] = r.resizes;
    stalls["steps"] = r.steps;
    stalls["all_trained"] = r.all_trained;
    stalls["slow_events"] = std::move(slow);
    const json all = {{"platform", r.platform},
                      {"size", {r.size.width(), r.size.height()}},
                      {"seconds", r.seconds},
                      {"rate_hz", 60},
                      {"cores", r.cores},
                      {"threads", r.threads},
                      {"runs", r.runs},
                      {"panels", r.panels},
                      {"self_check",
                       {{"stall_ms", r.check.stall_ms},
                        {"watchdog_ms", r.check.watchdog_ms},
                        {"move_ms", r.check.move_ms},
                        {"ok", stallSeen(r.check)}}},
                      {"redraw", percentiles(r.redraw)},
                      {"open_ms", r.open_ms},
                      {"opened_values", r.opened_values},
                      {"knobs", std::move(knobs)},
                      {"stalls", std::move(stalls)}};
    return all.dump(2) + '\n';
}

}  // namespace normscope::app::bench
