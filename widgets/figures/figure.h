// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/nan.h"
#include "core/train/outcome.h"

#include <QString>
#include <QStringList>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace normscope::widgets {

using normscope::kNaN;

/// The contents of a panel's plot, as plain data in data coordinates. A panel builds a Figure; PlotView draws
/// it on screen, the exporter draws the same Figure on paper, the CSV writer writes the same values, and
/// tests compare it. So what is seen, exported and tested cannot differ. A Figure holds raw values:
/// decimation, log scales, gaps at NaN or at non-positive values on a log axis, and colours are left to the
/// renderer.

/// Log1p is even in log₂(1 + x): of steps, so that 0 is on the axis and the first steps have space.
enum class Scale { Linear, Log, Log1p };

/// The owner of a mark. The renderer maps roles to colours and dashes, so light, dark and print differ only
/// there.
struct Role {
    enum class Kind {
        Run,        ///< hue and dash by run index (0 blue solid, 1 orange dashed, …)
        Sequential  ///< position in [0, 1] of one sequential map (layers when x is the step)
    };
    Kind kind = Kind::Run;
    int run = 0;
    double position = 0;
};

enum class LineKind {
    Measured,  ///< exact value: solid weight
    Draft,     ///< first estimate while refining: thin, half strength
    Ghost,     ///< the old curve while a knob is dragged: grey
    Preview,   ///< dotted: step 0 after a structural change
    Bound,     ///< theory: thin, own dash
    Context    ///< a curve of another plot, repeated for comparison: thin, grey, not in the CSV
};

/// Grey and below the other curves.
inline bool isUnderlaid(LineKind kind) {
    return kind == LineKind::Ghost || kind == LineKind::Context;
}

/// How a run ended, drawn at the curve's last finite point.
struct EndMark {
    enum class Kind { None, Diverged, Collapsed, Stalled };
    Kind kind = Kind::None;
    QString label;  ///< "step 212 · L7 ffn.w2 · inf"
};

/// Where a curve leaves the one that it was a copy of until then.
struct Branch {
    double x = 0;  ///< the last point that both have
    QString text;  ///< "fork of Post-LN at step 40"
};

struct Curve {
    QString name;  ///< run label, e.g. "Pre-LN"; shown at the line's end
    Role role;
    LineKind kind = LineKind::Measured;
    std::vector<double> x, y;  ///< same length; NaN/Inf y is a gap with a mark
    bool markers = false;      ///< a dot at each point
    bool line = true;          ///< off: the points are not joined
    EndMark end;
    bool label_at_end = true;
    QString end_value = {};                 ///< after the name at the line's end: the last value
    std::optional<std::int64_t> step = {};  ///< step of measurement; nullopt where x is the step
    std::vector<double> y_error = {};       ///< standard error of each y; empty = exact or not known
    std::vector<int> runs = {};  ///< of a group's median: how many runs each y is the median of; else empty
    std::optional<Branch> branch = {};  ///< a ring on the curve
    bool aged =
        false;  ///< at half strength: of another step than the one asked for, or drawn over by its mean
};

/// A filled band between two curves over the same x (spectra fans, min–max of seeds).
struct Band {
    QString name;
    Role role;
    std::vector<double> x, low, high;
    double strength = 0.25;  ///< opacity of the fill
    std::optional<std::int64_t> step = {};
    bool is_error = false;  ///< shows the y_error of a curve; card and CSV list it with the curve
    bool is_spread =
        false;  ///< of a group's runs about the curve of the same name; the CSV lists it with the curve
    bool aged = false;          ///< as of a curve
    bool is_reference = false;  ///< of other runs than those drawn: grey, of no run
};

/// Lollipops: a stem from the base to each value.
struct Stems {
    QString name;
    Role role;
    std::vector<double> x, y;
    double base = 0;  ///< on a log axis the stem starts at the axis' lower end
    std::optional<std::int64_t> step = {};
    bool aged = false;  ///< as of a curve
};

struct ReferenceLine {
    Qt::Orientation orientation = Qt::Horizontal;
    double value = 0;
    QString label;
    bool inside = false;  ///< screen: the label is at the line in the plot, not in the column of names
};

/// A flat shaded band across the plot (the unigram entropy that a stalled run did not get below).
struct Plateau {
    double low = 0, high = 0;
    QString label;
    Role role;
};

/// A tick named by the panel ("emb", "1", …). Where an axis has none, the renderer picks 4–8 nice ones.
struct NamedTick {
    double value = 0;
    QString label;
    bool minor = false;
};

struct Axis {
    QString label;  ///< "layer"
    QString unit;   ///< "nat"; empty when dimensionless
    Scale scale = Scale::Linear;
    std::optional<std::pair<double, double>> range;  ///< fixed by the panel; else the data with 5 % margin
    std::optional<std::pair<double, double>> covers = {};  ///< joins the data's extent: that of other steps
    std::vector<NamedTick> ticks;
    bool integers = false;   ///< steps, layers: ticks at whole numbers only
    QStringList words = {};  ///< of x = 1, 2, …, which the hover card adds: the texts of tokens

    /// "loss (nat)".
    QString text() const { return unit.isEmpty() ? label : QStringLiteral("%1 (%2)").arg(label, unit); }
};

/// What a cell of runs holds besides its value.
struct CellRuns {
    std::vector<RunState> states;  ///< of each run, as glyphs under the value; prepared: not trained yet
    bool best = false;             ///< framed: the best of its row
    double low = std::numeric_limits<double>::quiet_NaN(), high = low;  ///< least and largest value, for CSV
    QStringList lines;  ///< of the hover card: the value of each run
};

/// A grid of cells with the value's text in it where it fits (layer × head tiles).
struct HeatMap {
    /// Cividis on the value given; blue–grey–orange centred at 0; no colour and no colour bar.
    enum class Colour { Magnitude, Ratio, None };
    QString name;  ///< run label
    Role role;
    int rows = 0, columns = 0;
    std::vector<double>
        value;  ///< rows × columns, row 0 at the bottom; drives the colour (e.g. log10(1 − θ))
    std::vector<double> raw;  ///< rows × columns: for hover and CSV (e.g. θ); empty = value
    QStringList text;         ///< rows × columns, printed in the cell; may be empty
    QStringList row_names, column_names;
    std::vector<bool> neutral;         ///< cells drawn neutral grey ("1"), NaN without a mark; may be empty
    std::vector<CellRuns> runs = {};   ///< rows × columns, of a map of runs; else empty
    std::vector<Role> row_roles = {};  ///< whose colour a row's name has; may be empty
    QStringList row_notes = {};        ///< at the right of each row; may be empty
    QString row_notes_title = {};      ///< above them
    QString low_text = {}, high_text = {};  ///< at the ends of the colour bar; empty = the numbers
    Colour colour = Colour::Magnitude;
    double low = 0, high = 1;  ///< the colour scale, the same across runs
    QString scale_label;       ///< "log₁₀(1 − θ)"
    int selected_row = -1, selected_column = -1;
    std::vector<std::int64_t>
        column_steps;  ///< the step of each column, −1 for none; empty where columns are not steps
    std::optional<std::int64_t> step = {};
    bool aged = false;  ///< as of a curve
};

/// Text at the frame: a bound far outside ("bound 3e9 ↑"), a printed ratio; a hint in the middle of the plot.
struct Chip {
    enum class Edge { TopLeft, TopRight, BottomLeft, BottomRight, Middle };
    Edge edge = Edge::TopRight;
    QString text;
    std::optional<Role> role;  ///< coloured as a run; absent = neutral text
};

/// A mark ▲ at the frame under x (first bad layer) or inside a zero lane (count of exact nulls).
struct FrameMark {
    double x = 0;
    QString glyph;  ///< "▲" or a number
    Role role;
};

/// A change at an x: a pole across the plot and a pennant; its text is placed in a lane above the plot area.
struct Flag {
    double x = 0;
    QString name;      ///< run label
    QString what;      ///< "Δt"
    QString from, to;  ///< "1", "0.2"; both empty: `what` is the whole text
    Role role;

    QString text() const {
        return from.isEmpty() && to.isEmpty() ? what : QStringLiteral("%1 %2→%3").arg(what, from, to);
    }
};

/// One plot: axes and their contents.
struct Plot {
    QString heading;  ///< small text above this plot when a figure has several (run name); may be empty
    std::optional<Role> heading_role = {};  ///< whose name it is; absent = neutral text
    Axis x, y;
    std::vector<Band> bands;
    std::vector<Curve> curves;
    std::vector<Stems> stems;
    std::vector<ReferenceLine> references;
    std::vector<Plateau> plateaus;
    std::vector<HeatMap> maps;  ///< at most one; fills the plot area
    std::vector<Chip> chips;
    std::vector<Flag> flags = {};        ///< ascending in x
    std::vector<FrameMark> frame_marks;  ///< in a lane under the plot area
    QString lane_label;                  ///< name of that lane ("0"); empty = no lane
    double height_share = 1;             ///< of the figure, among its plots
    bool is_ratio = false;               ///< the strip of ratios under a plot, which can be switched off
};

/// A sentence under the plots ("Post-LN: 2 of 3 stalled").
struct Note {
    QString text;
    std::optional<Role> role = {};  ///< coloured as a run; absent = neutral text
};

/// The sequential map of the curves' roles, drawn once next to small multiples: positions in [0, 1] with
/// names.
struct ColourKey {
    QString title;  ///< "layer"
    std::vector<NamedTick> ticks;
};

/// The complete figure of a panel.
struct Figure {
    QString panel;                    ///< id: growth, gradients, jacobian, training, null_space, theta, …
    QString title;                    ///< "Growth"
    QString subtitle;                 ///< "at step 0"
    QString quantity;                 ///< what the y value is, for hover and CSV: "RMS of the hidden state"
    QString unit;                     ///< of the quantity; empty when dimensionless
    bool quantity_in_header = false;  ///< where a panel's header has the title, it also names y
    QString formula;                  ///< plain text, shown by "?"
    QString source;                   ///< paper and equation
    QString erratum;                  ///< where the paper is wrong, or empty
    QStringList x_names;              ///< name of each whole-number x, e.g. "layer 3 · ffn"; may be empty
    std::vector<double> x_name_at;    ///< the x each name belongs to; same length as x_names
    QStringList run_names;            ///< of run 0, 1, … of the roles, for the CSV; may be empty
    bool side_by_side = false;        ///< plots share rows (one per run) rather than a column
    bool shared_axes =
        false;  ///< with side_by_side: small multiples, in rows and columns on one x and y range
    std::optional<ColourKey> colour_key = {};  ///< with shared_axes
    std::vector<Plot> plots;       ///< the first is the main one; strips (ratio B/A) follow below it
    std::vector<Note> notes = {};  ///< in rows under the plots
    std::vector<RunState> state_key =
        {};              ///< the glyphs of a map of runs with their words, in a row under it
    QString summary;     ///< one sentence for screen readers: "Post-LN: gradient falls 1e-7 from …"
    QString empty_text;  ///< shown if there is nothing to draw, with the reason
    std::optional<std::int64_t> unmeasured = {};  ///< the step asked for, which some run did not sample
};

}  // namespace normscope::widgets
