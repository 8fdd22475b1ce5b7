// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/csv.h"

#include "widgets/figures/number_text.h"
#include "widgets/figures/save_bytes.h"

#include <QStringList>
#include <algorithm>
#include <cmath>
#include <map>

namespace normscope::widgets {
namespace {

QString quoted(const QString& text) {
    const bool plain =
        !text.contains(u',') && !text.contains(u'"') && !text.contains(u'\n') && !text.contains(u'\r');
    return plain ? text : u'"' + QString(text).replace(u'"', QStringLiteral("\"\"")) + u'"';
}

bool inside(double value, const std::optional<Range>& range) {
    return !range || std::isnan(value) || (value >= range->first && value <= range->second);
}

/// One line; columns that its kind lacks stay empty.
struct Row {
    QString kind, series;
    QString x, x_name, y, value, low, high;
    QString run = {}, step = {}, error = {}, n = {};
};

class Table {
  public:
    explicit Table(const Figure& figure) : figure_(figure) {}

    QByteArray text() {
        out_ = QStringLiteral("plot,kind,series,x,x_name,y,value,low,high,run,step,error,n\n");
        for (std::size_t i = 0; i < figure_.plots.size(); ++i) addPlot(i);
        return out_.toUtf8();
    }

  private:
    void add(std::size_t plot, const Row& r) {
        const QStringList cells = {QString::number(plot),
                                   r.kind,
                                   quoted(r.series),
                                   r.x,
                                   quoted(r.x_name),
                                   r.y,
                                   r.value,
                                   r.low,
                                   r.high,
                                   quoted(r.run),
                                   r.step,
                                   r.error,
                                   r.n};
        out_ += cells.join(u',') + u'\n';
    }

    QString nameAt(double x) const {
        const std::size_t names =
            std::min(figure_.x_name_at.size(), static_cast<std::size_t>(figure_.x_names.size()));
        for (std::size_t i = 0; i < names; ++i) {
            if (figure_.x_name_at[i] == x) return figure_.x_names[static_cast<qsizetype>(i)];
        }
        return {};
    }

    QString runOf(const Role& role) const {
        return role.run >= 0 && role.run < figure_.run_names.size() ? figure_.run_names[role.run] : QString();
    }

    /// The step at which something was measured; where x is the step, x.
    QString stepOf(std::size_t plot, const std::optional<std::int64_t>& step, const QString& x) const {
        if (figure_.plots[plot].x.label == QLatin1String("step")) return x;
        return step ? QString::number(*step) : QString();
    }

    /// The band of a group's curve: over the same x, by construction.
    static const Band* spreadOf(const Plot& plot, const QString& name, const Role& role) {
        for (const auto& b : plot.bands)
            if (b.is_spread && b.name == name && b.role.run == role.run) return &b;
        return nullptr;
    }

    template <class Mark>
    void addPoints(std::size_t index, const QString& kind, const Mark& mark, const std::vector<double>& error,
                   const std::vector<int>& runs = {}) {
        const Plot& plot = figure_.plots[index];
        const auto &x = mark.x, &y = mark.y;
        const Band* spread = runs.empty() ? nullptr : spreadOf(plot, mark.name, mark.role);
        for (std::size_t k = 0; k < std::min(x.size(), y.size()); ++k) {
            if (std::isnan(x[k])) continue;  // not measured (annotateSelection)
            const bool seen =
                inside(x[k], plot.x.range) && (!std::isfinite(y[k]) || inside(y[k], plot.y.range));
            if (!seen) continue;
            const QString at = exactText(x[k]);
            Row row{kind,
                    mark.name,
                    at,
                    nameAt(x[k]),
                    {},
                    exactText(y[k]),
                    {},
                    {},
                    runOf(mark.role),
                    stepOf(index, mark.step, at),
                    k < error.size() ? exactText(error[k]) : QString()};
            if (spread && k < spread->low.size() && k < spread->high.size()) {
                row.low = exactText(spread->low[k]);
                row.high = exactText(spread->high[k]);
            }
            if (k < runs.size()) row.n = QString::number(runs[k]);
            add(index, row);
        }
    }

    void addPlot(std::size_t index) {
        static const QString kinds[] = {QStringLiteral("measured"), QStringLiteral("draft"),
                                        QStringLiteral("ghost"), QStringLiteral("preview"),
                                        QStringLiteral("bound")};
        const Plot& plot = figure_.plots[index];
        for (const auto& c : plot.curves) {
            if (c.kind == LineKind::Context) continue;  // written with the plot that it belongs to
            const QString kind = c.runs.empty() ? kinds[static_cast<int>(c.kind)] : QStringLiteral("median");
            addPoints(index, kind, c, c.y_error, c.runs);
        }
        for (const auto& s : plot.stems) addPoints(index, QStringLiteral("stem"), s, {});
        for (const auto& b : plot.bands) {
            if (b.is_error || b.is_spread) continue;  // written with each point
            for (std::size_t k = 0; k < std::min({b.x.size(), b.low.size(), b.high.size()}); ++k) {
                if (inside(b.x[k], plot.x.range)) {
                    add(index, {QStringLiteral("band"),
                                b.name,
                                exactText(b.x[k]),
                                nameAt(b.x[k]),
                                {},
                                {},
                                exactText(b.low[k]),
                                exactText(b.high[k]),
                                runOf(b.role),
                                stepOf(index, b.step, exactText(b.x[k]))});
                }
            }
        }
        for (const auto& r : plot.references) {
            const bool flat = r.orientation == Qt::Horizontal;
            if (!inside(r.value, flat ? plot.y.range : plot.x.range)) continue;
            const QString value = exactText(r.value);
            add(index, {QStringLiteral("reference"),
                        r.label,
                        flat ? QString() : value,
                        {},
                        {},
                        flat ? value : QString(),
                        {},
                        {}});
        }
        for (const auto& m : plot.maps) addCells(index, m);
    }

    /// The median of a cell's runs with the least and the largest value, and a line for each state with the
    /// number of its runs. The series is the row's name.
    void addRuns(std::size_t index, const HeatMap& map, std::size_t i, Row cell) {
        const CellRuns& runs = map.runs[i];
        const auto row = static_cast<qsizetype>(i / static_cast<std::size_t>(map.columns));
        if (row < map.row_names.size()) cell.series = map.row_names[row];
        std::map<RunState, int> counts;
        int ended = 0;
        for (const RunState state : runs.states) {
            ++counts[state];
            ended += state != RunState::Prepared && state != RunState::Running;
        }
        for (const auto& [state, count] : counts) {
            Row line = cell;
            line.kind = QLatin1String(run_state_word(state));
            line.value.clear();
            line.n = QString::number(count);
            add(index, line);
        }
        if (ended == 0) return;
        cell.kind = QStringLiteral("median");
        cell.low = exactText(runs.low);
        cell.high = exactText(runs.high);
        cell.n = QString::number(ended);
        add(index, cell);
    }

    void addCells(std::size_t index, const HeatMap& map) {
        const auto& source = map.raw.empty() ? map.value : map.raw;
        for (int row = 0; row < map.rows; ++row) {
            for (int column = 0; column < map.columns; ++column) {
                const std::size_t i = static_cast<std::size_t>(row) * static_cast<std::size_t>(map.columns) +
                                      static_cast<std::size_t>(column);
                if (i >= source.size()) continue;
                const QString name = column < map.column_names.size() ? map.column_names[column] : QString();
                Row cell{QStringLiteral("cell"),
                         map.name,
                         QString::number(column),
                         name,
                         QString::number(row),
                         exactText(source[i]),
                         {},
                         {},
                         runOf(map.role),
                         stepOf(index, map.step, {})};
                if (i < map.runs.size()) {
                    addRuns(index, map, i, std::move(cell));
                    continue;
                }
                add(index, cell);
            }
        }
    }

    const Figure& figure_;
    QString out_;
};

}  // namespace

QByteArray csvText(const Figure& figure, const PlotViewState& view) {
    return Table(applyViewState(figure, view)).text();
}

void exportCsv(const Figure& figure, const PlotViewState& view, const QString& path) {
    saveBytes(path, csvText(figure, view));
}

}  // namespace normscope::widgets
