// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/run_scales.h"

#include "widgets/figures/panels/panel_registry.h"

#include <QElapsedTimer>
#include <algorithm>

namespace normscope::app {

namespace {

constexpr std::size_t kMaxKeptScales = 64;  // panels and options; the oldest is forgotten

}  // namespace

/// The figures of all steps, of runs that grow.
widgets::FigureKey RunScales::identity(widgets::FigureKey key) {
    key.step = 0;
    key.hint.clear();
    key.scale = 0;
    for (widgets::FigureKey::Run& run : key.runs) {
        run = {run.data, nullptr, nullptr};
    }
    return key;
}

RunScales::Entry* RunScales::find(const widgets::FigureKey& identity) {
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& entry) { return entry.key == identity; });
    return found == entries_.end() ? nullptr : &*found;
}

bool RunScales::apply(widgets::Figure& figure, const widgets::FigureKey& key,
                      const widgets::PanelInput& input, const Build& build) {
    const auto steps = widgets::scaledSteps(widgets::panelInfo(key.panel), input);
    if (steps.empty()) return true;
    const widgets::FigureKey own = identity(key);
    Entry* entry = find(own);
    if (!entry) {
        // Of other runs under the same panel and options: replaced.
        std::erase_if(entries_, [&](const Entry& old) {
            return old.key.panel == own.panel && old.key.options == own.options;
        });
        if (entries_.size() == kMaxKeptScales) entries_.erase(entries_.begin());
        entries_.push_back({own, {}, {}});
        entry = &entries_.back();
    }
    entry->scale.include(figure);
    const bool was_incomplete = !entry->included.empty() && !entry->complete;
    QElapsedTimer timer;
    timer.start();
    bool included_one = false;
    entry->complete = true;
    for (const auto& [step, samples] : steps) {
        std::size_t& included = entry->included[step];
        if (included == samples) continue;
        if (included_one && timer.elapsed() >= budget_.count()) {
            entry->complete = false;
            break;
        }
        widgets::PanelInput at = input;
        at.step = step;
        entry->scale.include(build(at));
        included = samples;
        included_one = true;
    }
    if (was_incomplete && entry->complete) ++entry->version;
    entry->scale.applyTo(figure, steps.size() > 1);
    return entry->complete;
}

std::vector<std::pair<std::string, widgets::PanelOptions>> RunScales::incomplete() const {
    std::vector<std::pair<std::string, widgets::PanelOptions>> found;
    for (const Entry& entry : entries_)
        if (!entry.complete) found.emplace_back(entry.key.panel, entry.key.options);
    return found;
}

std::size_t RunScales::version(const widgets::FigureKey& key) const {
    const widgets::FigureKey own = identity(key);
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.key == own; });
    return found == entries_.end() ? 0 : found->version;
}

}  // namespace normscope::app
