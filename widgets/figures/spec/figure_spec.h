// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"
#include "widgets/figures/export_options.h"
#include "widgets/figures/groups/group_statistics.h"

#include <QByteArray>
#include <QStringList>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace normscope::widgets {

/// A description from which a figure is redrawn from its sessions: what Ctrl+E saves and `normscope figure
/// --spec` reads.
///     { "format": "normscope-figure", "version": 1, "sessions": ["a.h5"], "panel": "growth", "options":
///     {"quantity": "rms"},
///       "runs": ["A"], "step": 200, "size_mm": [85, 60], "font_pt": 8, "dpi": 300, "theme":
///       "light|dark|print", "legend": "direct|below|none", "title": true|false|"text", "ratio": true,
///       "text": "text|paths", "group_by": "scheme", "band": "minmax|iqr|se|none", "multiples": false,
///       "view": [{"x":
///       {"range": [0, 12]}, "y": {"scale": "log"}}] }
/// Format, version and panel are needed; the rest has the defaults of the structs.
struct FigureSpec {
    QStringList sessions;                        ///< files, relative to the specification's folder
    std::string panel;                           ///< id of a panel
    std::map<std::string, std::string> options;  ///< the panel's switches
    QStringList runs;                            ///< empty = all
    std::optional<std::int64_t> step;            ///< absent = the last
    std::string group_by;                        ///< seed, scheme or a recipe's key; empty = single runs
    Spread band = Spread::MinMax;                ///< about the median of each group
    bool multiples = false;                      ///< a plot for each group
    ExportOptions paper;                         ///< format and metadata are not part of the specification
};

/// The figure of a specification, from the runs of its sessions in their order: selected, grouped, with the
/// panel's switches. Runs of one name get what distinguishes them added to it. The specification's paper,
/// view included, is not applied. Throws InputError for an unknown panel, option, run or key to group by.
Figure figureOf(const FigureSpec& spec, std::vector<RunData> runs);

/// The recipes of the runs that figureOf() draws, a line each: the metadata of an exported figure.
QString recipesOf(const FigureSpec& spec, const std::vector<RunData>& runs);

/// The specification as JSON text, the same text for the same specification.
QByteArray figureSpecToJson(const FigureSpec& spec);

/// Reads a specification. Throws InputError naming the key and what is allowed: broken JSON, another format
/// or version, unknown keys, values of another type. Ranges of numbers are checked by renderFigure().
FigureSpec figureSpecFromJson(const QByteArray& json);

}  // namespace normscope::widgets
