// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/training/progress.h"

#include "core/base/number_text.h"
#include "core/base/strict_json.h"

#include <unistd.h>

#include <cmath>
#include <iostream>

namespace normscope::app {

using Json = nlohmann::ordered_json;
using namespace std::chrono_literals;

namespace {

void print(const Json& object) {
    std::cout << json_text(object) << std::endl;
}

double value_of(const StepRecord& record, const std::string& name) {
    for (const auto& [key, value] : record.values)
        if (key == name) return value;
    return std::nan("");
}

/// "  held-out accuracy 92.4 %" of images, where it was taken.
std::string accuracy_text(const StepRecord& record) {
    const double accuracy = value_of(record, "val_accuracy");
    return std::isnan(accuracy) ? "" : "  held-out accuracy " + number_text(100 * accuracy, 3) + " %";
}

}  // namespace

Progress::Progress(bool json, std::int64_t report_every)
    : json_(json), terminal_(!json && isatty(STDOUT_FILENO) == 1), report_every_(report_every) {}

bool Progress::is_reported(std::int64_t step) const {
    return report_every_ > 0 && ((step + 1) % report_every_ == 0 || step + 1 == steps_);
}

void Progress::begin(const std::string& name, const std::string& path, std::int64_t first_step) {
    if (json_)
        print({{"event", "begin"},
               {"name", name},
               {"recording", path},
               {"first_step", first_step},
               {"steps", steps_}});
    else
        std::cout << name << ": steps " << first_step << " … " << steps_ << " -> " << path << std::endl;
}

void Progress::note(const std::string& text) {
    if (muted_) return;
    if (json_)
        print({{"event", "note"}, {"text", text}});
    else
        std::cout << text << std::endl;
}

void Progress::recorded(const RunData& history) {
    const std::vector<double>* losses = history.steps.find("loss");
    if (losses && !losses->empty()) last_loss_ = plain_number(losses->back());
}

void Progress::show_json(const RunDelta& delta) const {
    const auto silent = [&](std::int64_t step) { return report_every_ > 0 && !is_reported(step); };
    for (const ProbeResult& probe : delta.probes)
        if (!silent(probe.step))
            print({{"event", "probe"},
                   {"step", probe.step},
                   {"probe", probe.probe},
                   {"cost_ms", probe.cost_ms}});
    for (const StepRecord& record : delta.steps) {
        if (silent(record.step)) continue;
        Json line{{"event", "step"}, {"step", record.step}};
        for (const auto& [name, value] : record.values) line[name] = value;  // NaN becomes null
        print(line);
    }
}

void Progress::show_step(const StepRecord& record) {
    const auto now = std::chrono::steady_clock::now();
    const double held_out = value_of(record, "val_loss");
    last_loss_ = plain_number(value_of(record, "loss"));
    const std::string state = std::to_string(record.step + 1) + "/" + std::to_string(steps_) + "  loss " +
                              last_loss_ + "  " + plain_number(value_of(record, "step_ms")) + " ms/step";
    if (terminal_) {
        if (now - shown_ < 100ms && record.step + 1 < steps_) return;
        constexpr std::int64_t kWidth = 30;
        const auto full =
            static_cast<std::size_t>(kWidth * (record.step + 1) / std::max<std::int64_t>(1, steps_));
        std::cout << "\r\033[K[" << std::string(full, '#') << std::string(kWidth - full, '-') << "] " << state
                  << std::flush;
        bar_open_ = true;
    } else {
        if (report_every_ > 0 ? !is_reported(record.step) : now - shown_ < 1s && std::isnan(held_out)) return;
        std::cout << "step " << state
                  << (std::isnan(held_out) ? "" : "  held-out loss " + plain_number(held_out))
                  << accuracy_text(record) << std::endl;
    }
    shown_ = now;
}

void Progress::show(const RunDelta& delta) {
    if (json_) return show_json(delta);
    for (const StepRecord& record : delta.steps) show_step(record);
}

void Progress::show(const RunEvent& event) {
    if (json_) return print({{"event", event.kind}, {"step", event.step}, {"text", event.text}});
    if (bar_open_) std::cout << "\r\033[K";
    std::cout << "step " << event.step << ": " << event.kind << ", " << event.text << std::endl;
}

void Progress::end(const Outcome& outcome, std::int64_t steps_done, const std::string& path,
                   const RunResult& result) {
    if (json_) return print(json_of(result));
    if (bar_open_) std::cout << "\n";
    std::cout << run_state_word(outcome.state) << (outcome.text.empty() ? "" : " (" + outcome.text + ")")
              << ": " << steps_done << " steps, last loss " << last_loss_ << " -> " << path << std::endl;
}

}  // namespace normscope::app
