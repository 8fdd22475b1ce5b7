// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/panel.h"

#include "core/stack/error.h"

#include <algorithm>

namespace normscope::widgets {

namespace {

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

}  // namespace

PanelOptions resolveOptions(const PanelInfo& panel, const PanelOptions& given) {
    PanelOptions resolved;
    std::vector<std::string> keys;
    for (const auto& option : panel.options) {
        keys.push_back(option.key);
        resolved[option.key] = option.values.front();
    }
    for (const auto& [key, value] : given) {
        const auto option = std::find_if(panel.options.begin(), panel.options.end(),
                                         [&key = key](const PanelOption& o) { return o.key == key; });
        if (option == panel.options.end())
            throw InputError("panel " + panel.id, "unknown option '" + key + "'",
                             keys.empty() ? "none" : joined(keys));
        if (const auto old = option->former.find(value); old != option->former.end()) {
            resolved[key] = old->second;
            continue;
        }
        if (std::find(option->values.begin(), option->values.end(), value) == option->values.end())
            throw InputError("panel " + panel.id + ", option " + key, "unknown value '" + value + "'",
                             joined(option->values));
        resolved[key] = value;
    }
    return resolved;
}

Figure startFigure(const PanelInfo& panel) {
    Figure figure;
    figure.panel = QString::fromStdString(panel.id);
    figure.title = panel.title;
    return figure;
}

}  // namespace normscope::widgets
