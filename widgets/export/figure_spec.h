// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/export/figure_exporter.h"

#include <QByteArray>
#include <QStringList>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace normscope::widgets {

/// A description from which a figure is redrawn from its sessions: what Ctrl+E saves and `normscope figure
/// --spec` reads.
///     { "format": "normscope-figure", "version": 1, "sessions": ["a.h5"], "panel": "growth", "options":
///     {"quantity": "rms"},
///       "runs": ["A"], "step": 200, "size_mm": [85, 60], "font_pt": 8, "dpi": 300, "theme":
///       "light|dark|print", "legend": "direct|below|none", "title": true, "view": [{"x": {"range": [0, 12]},
///       "y": {"scale": "log"}}] }
/// Format, version and panel are needed; the rest has the defaults of the structs.
struct FigureSpec {
    QStringList sessions;                        ///< files, relative to the specification's folder
    std::string panel;                           ///< id of a panel
    std::map<std::string, std::string> options;  ///< the panel's switches
    QStringList runs;                            ///< empty = all
    std::optional<std::int64_t> step;            ///< absent = the last
    ExportOptions paper;                         ///< format and metadata are not part of the specification
};

/// The specification as JSON text, the same text for the same specification.
QByteArray figureSpecToJson(const FigureSpec& spec);

/// Reads a specification. Throws InputError naming the key and what is allowed: broken JSON, another format
/// or version, unknown keys, values of another type. Ranges of numbers are checked by renderFigure().
FigureSpec figureSpecFromJson(const QByteArray& json);

}  // namespace normscope::widgets
