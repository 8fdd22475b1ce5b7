// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/sweep/sweep_figure.h"

#include "core/base/statistics.h"
#include "widgets/figures/axis_range.h"
#include "widgets/figures/knobs/knob_table.h"
#include "widgets/figures/number_text.h"
#include "widgets/figures/outcome_word.h"

#include <QCoreApplication>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace normscope::widgets {

namespace {

constexpr std::size_t kMaxLines = 8;  ///< runs listed in a hover card
constexpr double kDecades = 30;       ///< a scalar that varies by more is coloured by its logarithm

QString tr(const char* text) {
    return QCoreApplication::translate("SweepMap", text);
}

double number(const std::string& text) {
    bool ok = false;
    const double value = QString::fromStdString(text).toDouble(&ok);
    return ok ? value : kNaN;
}

bool isNumeric(const SweepAxis& axis) {
    return std::all_of(axis.values.begin(), axis.values.end(),
                       [](const std::string& text) { return std::isfinite(number(text)); });
}

/// "3×10⁻⁴"; an axis that leaves 0.01 … 100 has all its values as powers.
QString powers(double value) {
    QString text = QString::number(value, 'e', 2);
    const auto e = text.indexOf(u'e');
    QString mantissa = text.left(e);
    while (mantissa.contains(u'.') && (mantissa.endsWith(u'0') || mantissa.endsWith(u'.'))) mantissa.chop(1);
    const int power = text.mid(e + 1).toInt();
    return power == 0 ? mantissa : powerText(mantissa + u'e' + QString::number(power));
}

bool isLoss(SweepValue kind) {
    return kind == SweepValue::FinalLoss || kind == SweepValue::BestLoss || kind == SweepValue::HeldOutLoss;
}

QString cellText(double value, SweepValue kind) {
    if (!std::isfinite(value)) return {};
    if (isLoss(kind) && value >= 0.1 && value < 100) return QString::number(value, 'f', 2);
    return numberText(value, 3);
}

/// A row's value; a diverged run has an infinite final loss. Nullopt where it has none.
std::optional<double> valueOf(const SweepSlice& slice, const SweepRow& row, SweepValue kind) {
    if (row.state == RunState::Failed) return std::nullopt;
    const auto of = [](const auto& value) -> std::optional<double> {
        if (!value) return std::nullopt;
        return static_cast<double>(*value);
    };
    switch (kind) {
        case SweepValue::Outcome:
        case SweepValue::FinalLoss:
            if (row.state == RunState::Diverged || !row.final_loss || !std::isfinite(*row.final_loss))
                return std::numeric_limits<double>::infinity();
            return row.final_loss;
        case SweepValue::BestLoss:
            return of(row.best_loss);
        case SweepValue::HeldOutLoss:
            if (row.state == RunState::Diverged) return std::numeric_limits<double>::infinity();
            return of(row.held_out_loss);
        case SweepValue::DivergedAt:
            return of(row.diverged_at);
        case SweepValue::Steps:
            return static_cast<double>(row.steps);
        case SweepValue::Seconds:
            return of(row.seconds);
        case SweepValue::Scalar:
            break;
    }
    const auto found = slice.scalars.find(row.run);
    return found == slice.scalars.end() ? std::nullopt : std::optional(found->second);
}

QString unitOf(const SweepSlice& slice, SweepValue kind) {
    if (kind == SweepValue::Scalar)
        return slice.scalar ? QString::fromStdString(slice.scalar->unit()) : QString();
    if (isLoss(kind)) return QStringLiteral("nat");
    return kind == SweepValue::Seconds ? QStringLiteral("s") : QString();
}

/// The median, the least and the largest value; NaN where there is none.
struct Middle {
    double median = kNaN, low = kNaN, high = kNaN;
};

Middle middleOf(std::vector<double> values) {
    std::erase_if(values, [](double v) { return std::isnan(v); });
    if (values.empty()) return {};
    const auto [least, largest] = std::minmax_element(values.begin(), values.end());
    return {median(values), *least, *largest};
}

/// The rows of results.csv by run of the slice.
std::map<std::size_t, const SweepRow*> rowsOf(const SweepSlice& slice) {
    std::map<std::size_t, const SweepRow*> rows;
    for (const SweepRow& row : slice.part.rows) rows[row.run] = &row;
    return rows;
}

std::vector<SweepCell> cellsOf(const SweepSlice& slice) {
    std::vector<std::size_t> keys;
    for (std::size_t key = 0; key < slice.part.spec.grid.size(); ++key) keys.push_back(key);
    return sweep_cells(slice.part, keys);
}

/// For each row, by its index: the column with the lowest median final loss.
std::map<std::size_t, BestValue> bestOf(const SweepSlice& slice) {
    std::map<std::size_t, BestValue> best;
    if (slice.part.spec.grid.empty() || slice.columns < 2) return best;
    for (BestValue& found : best_values(slice.part, slice.part.spec.grid.size() - 1))
        best[found.others.empty() ? 0 : found.others.front()] = std::move(found);
    return best;
}

QStringList namesOf(const SweepAxis& axis) {
    QStringList names;
    for (std::size_t i = 0; i < axis.values.size(); ++i) names << sweepValueName(axis, i);
    return names;
}

/// A row's hue and dash: those that its scheme has in the comparison of Pre-LN and Post-LN that the window
/// starts with, the other schemes after them; by its place for other keys.
Role roleOf(const SweepAxis& axis, std::size_t row) {
    constexpr std::array kOrder{"pre", "post",     "peri", "deepnorm", "mix",
                                "lns", "sandwich", "none", "output",   "custom"};
    const auto at = std::find(kOrder.begin(), kOrder.end(), axis.values[row]);
    const bool known = axis.key == "stack.scheme" && at != kOrder.end();
    return {Role::Kind::Run, static_cast<int>(known ? std::size_t(at - kOrder.begin()) : row), 0};
}

/// Of each run: its seed, its outcome with the step, its value.
QStringList linesOf(const SweepSlice& slice, const SweepCell& cell, SweepValue kind,
                    const std::map<std::size_t, const SweepRow*>& rows) {
    QStringList lines;
    for (const std::size_t index : cell.runs) {
        if (static_cast<std::size_t>(lines.size()) == kMaxLines) {
            lines << tr("and %1 more").arg(cell.runs.size() - kMaxLines);
            break;
        }
        const auto row = rows.find(index);
        QString line = tr("seed %1: ").arg(slice.part.runs[index].seed);
        if (row == rows.end()) {
            lines << line + (slice.training.count(index) ? outcomeWord(RunState::Running) : tr("queued"));
            continue;
        }
        line += outcomeWord(row->second->state);
        if (row->second->diverged_at) line += tr(" at step %1").arg(*row->second->diverged_at);
        if (row->second->final_loss)
            line += tr(", final loss %1 nat").arg(numberText(*row->second->final_loss));
        const bool other =
            kind != SweepValue::Outcome && kind != SweepValue::FinalLoss && kind != SweepValue::DivergedAt;
        if (const auto value = valueOf(slice, *row->second, kind); value && other)
            line += QStringLiteral(", %1 %2 %3")
                        .arg(titleOf(slice, kind), numberText(*value), unitOf(slice, kind))
                        .trimmed();
        lines << line;
    }
    return lines;
}

std::size_t total(const SweepSlice& slice) {
    return slice.part.runs.size();
}

}  // namespace

QString sweepValueTitle(SweepValue value) {
    switch (value) {
        case SweepValue::Outcome:
            return tr("outcome");
        case SweepValue::FinalLoss:
            return tr("final loss");
        case SweepValue::BestLoss:
            return tr("lowest loss");
        case SweepValue::HeldOutLoss:
            return tr("held-out loss");
        case SweepValue::DivergedAt:
            return tr("step of divergence");
        case SweepValue::Steps:
            return tr("steps");
        case SweepValue::Seconds:
            return tr("training time");
        case SweepValue::Scalar:
            break;
    }
    return tr("scalar of a probe");
}

QString titleOf(const SweepSlice& slice, SweepValue value) {
    if (value == SweepValue::Scalar && slice.scalar) return QString::fromStdString(slice.scalar->title());
    return sweepValueTitle(value);
}

QString sweepKeyName(const std::string& key) {
    for (const KnobSpec& spec : knobTable())
        if (key == spec.key->name) {
            const QString label = QCoreApplication::translate("KnobTable", spec.label);
            // "Learning rate" within a sentence; GPAS, Δt and τ as they are.
            const bool word =
                label.size() > 1 && label[0].script() == QChar::Script_Latin && label[1].isLower();
            return word ? label.left(1).toLower() + label.mid(1) : label;
        }
    return QString::fromStdString(key);
}

QString sweepValueName(const SweepAxis& axis, std::size_t value) {
    const QString text = QString::fromStdString(axis.values[value]);
    if (!isNumeric(axis)) {
        if (axis.key == "stack.scheme") return choiceTitle("stack.scheme", text);
        return text;
    }
    const bool as_powers = std::any_of(axis.values.begin(), axis.values.end(), [](const std::string& other) {
        const double size = std::abs(number(other));
        return size != 0 && (size < 0.01 || size > 1e4);
    });
    const double v = number(axis.values[value]);
    return as_powers && v != 0 ? powers(v) : numberText(v, 6);
}

QString sweepOutcomes(const SweepCell& cell) {
    std::vector<std::pair<RunState, std::size_t>> counts(cell.outcomes.begin(), cell.outcomes.end());
    if (counts.empty()) return {};
    if (counts.size() == 1)
        return cell.ended() == 1
                   ? outcomeWord(counts[0].first)
                   : QStringLiteral("%1 %2").arg(counts[0].second).arg(outcomeWord(counts[0].first));
    std::erase_if(counts, [](const auto& count) { return count.first == RunState::Finished; });
    std::stable_sort(counts.begin(), counts.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    QString text =
        tr("%1 of %2 %3").arg(counts[0].second).arg(cell.ended()).arg(outcomeWord(counts[0].first));
    for (std::size_t i = 1; i < counts.size(); ++i)
        text += QStringLiteral(", %1 %2").arg(counts[i].second).arg(outcomeWord(counts[i].first));
    return text;
}

std::vector<std::size_t> runsIn(const SweepSlice& slice, const SweepCells& cells) {
    std::vector<std::size_t> runs;
    for (std::size_t row = cells.first_row; row <= cells.last_row && row < slice.rows; ++row)
        for (std::size_t column = cells.first_column; column <= cells.last_column && column < slice.columns;
             ++column)
            for (const std::size_t run : slice.runsOf(row, column)) runs.push_back(run);
    return runs;
}

Figure sweepMap(const SweepSlice& slice, SweepValue kind, const std::optional<SweepCells>& selected) {
    const auto& grid = slice.part.spec.grid;
    const bool has_rows = grid.size() > 1;
    const std::size_t seeds = slice.part.spec.seeds.size();
    Figure figure;
    figure.panel = "sweep";
    figure.title =
        kind == SweepValue::Outcome ? tr("Outcome") : tr("Outcome and %1").arg(titleOf(slice, kind));
    figure.quantity = titleOf(slice, kind);
    figure.unit = unitOf(slice, kind);
    QStringList subtitle;
    if (kind != SweepValue::Outcome && seeds > 1) subtitle << tr("median of %1 seeds").arg(seeds);
    if (!figure.unit.isEmpty()) subtitle << figure.unit;
    if (kind == SweepValue::FinalLoss) subtitle << tr("mean of the last 20 steps");
    if (kind == SweepValue::Scalar) subtitle << tr("last sample");
    if (kind == SweepValue::BestLoss) subtitle << tr("lowest mean of 20 steps in a row");
    if (kind == SweepValue::HeldOutLoss) subtitle << tr("the last one of each run");
    figure.subtitle = subtitle.join(QStringLiteral(" · "));

    HeatMap map;
    map.rows = static_cast<int>(slice.rows);
    map.columns = static_cast<int>(slice.columns);
    const std::size_t count = slice.rows * slice.columns;
    map.value.assign(count, kNaN);
    map.raw.assign(count, kNaN);
    map.neutral.assign(count, false);
    map.runs.resize(count);
    const std::vector<SweepCell> cells = cellsOf(slice);
    const auto rows = rowsOf(slice);
    const auto best = bestOf(slice);
    QStringList texts;
    for (std::size_t i = 0; i < count; ++i) texts << QString();
    std::vector<RunState> seen;
    const auto note = [&](RunState state) {
        if (std::find(seen.begin(), seen.end(), state) == seen.end()) seen.push_back(state);
    };
    bool log = isLoss(kind);
    double low = kNaN, high = kNaN;
    for (std::size_t from_above = 0; from_above < slice.rows; ++from_above)
        for (std::size_t column = 0; column < slice.columns; ++column) {
            const SweepCell& cell = cells[from_above * slice.columns + column];
            const std::size_t at = (slice.rows - 1 - from_above) * slice.columns + column;
            CellRuns& runs = map.runs[at];
            std::vector<double> values;
            for (const std::size_t index : cell.runs) {
                const auto row = rows.find(index);
                const RunState state = row != rows.end()             ? row->second->state
                                       : slice.training.count(index) ? RunState::Running
                                                                     : RunState::Prepared;
                runs.states.push_back(state);
                note(state);
                if (row == rows.end()) continue;
                if (const auto value = valueOf(slice, *row->second, kind)) values.push_back(*value);
            }
            const Middle middle = middleOf(values);
            runs.low = middle.low;
            runs.high = middle.high;
            if (!cell.outcomes.empty()) {
                runs.lines << sweepOutcomes(cell);
                if (kind != SweepValue::Outcome && cell.ended() > 1)
                    runs.lines << tr("median %1: %2 %3")
                                      .arg(titleOf(slice, kind), numberText(middle.median), figure.unit)
                                      .trimmed();
            }
            runs.lines << linesOf(slice, cell, kind, rows);
            const auto lowest = best.find(from_above);
            runs.best = lowest != best.end() && lowest->second.value == column;

            const double shown =
                kind == SweepValue::FinalLoss ? cell.median_loss.value_or(kNaN) : middle.median;
            map.raw[at] = shown;
            // Not trained yet, or without this value: grey. Infinite: hatched.
            map.neutral[at] = std::isnan(shown) || (kind == SweepValue::Outcome && std::isfinite(shown));
            if (kind == SweepValue::Outcome) {
                map.value[at] = std::isfinite(shown) ? 0 : kNaN;
                if (std::isfinite(shown)) texts[static_cast<qsizetype>(at)] = sweepOutcomes(cell);
                continue;
            }
            if (!std::isfinite(shown) || (log && shown <= 0)) continue;
            map.value[at] = log ? std::log10(shown) : shown;
            texts[static_cast<qsizetype>(at)] = cellText(shown, kind);
            low = std::fmin(low, shown);
            high = std::fmax(high, shown);
        }
    if (kind == SweepValue::Scalar && low > 0 && high > kDecades * low) {
        log = true;
        for (double& value : map.value) value = std::log10(value);
    }
    map.text = texts;
    if (kind == SweepValue::Outcome || std::isnan(low)) {
        map.colour = HeatMap::Colour::None;
    } else {
        map.low = log ? std::log10(low) : low;
        map.high = log ? std::log10(high) : high;
        map.low_text = cellText(low, kind);
        map.high_text = cellText(high, kind);
    }
    QStringList row_names, notes;
    for (std::size_t at = 0; at < slice.rows; ++at) {
        const std::size_t row = slice.rows - 1 - at;
        row_names << (has_rows ? sweepValueName(grid.front(), row) : QString());
        if (has_rows) map.row_roles.push_back(roleOf(grid.front(), row));
        const auto lowest = best.find(row);
        notes << (lowest == best.end()
                      ? QString()
                      : tr("%1: %2").arg(sweepValueName(grid.back(), lowest->second.value),
                                         cellText(*lowest->second.cell.median_loss, SweepValue::FinalLoss)));
    }
    map.row_names = row_names;
    map.column_names = grid.empty() ? QStringList{QString()} : namesOf(grid.back());
    if (!best.empty()) {
        map.row_notes = notes;
        map.row_notes_title = tr("lowest at");
    }
    if (selected && selected->first_row == selected->last_row &&
        selected->first_column == selected->last_column) {
        map.selected_row = static_cast<int>(slice.rows - 1 - selected->first_row);
        map.selected_column = static_cast<int>(selected->first_column);
    }

    Plot plot;
    plot.x.label = grid.empty() ? QString() : sweepKeyName(grid.back().key);
    plot.y.label = has_rows ? sweepKeyName(grid.front().key) : QString();
    plot.maps.push_back(std::move(map));
    figure.plots.push_back(std::move(plot));
    std::sort(seen.begin(), seen.end(), [](RunState a, RunState b) {
        const auto rank = [](RunState state) {
            return state == RunState::Finished   ? 0
                   : state == RunState::Stalled  ? 1
                   : state == RunState::Prepared ? 100
                                                 : 2 + static_cast<int>(state);
        };
        return rank(a) < rank(b);
    });
    figure.state_key = seen;
    const SweepCell all = sweep_cells(slice.part, {}).front();
    figure.summary = tr("%1 of %2 runs: %3")
                         .arg(slice.part.rows.size())
                         .arg(total(slice))
                         .arg(QString::fromStdString(all.outcomes_text()));
    for (const auto& [row, lowest] : best) {
        const QString name = has_rows ? sweepValueName(grid.front(), row) + u' ' : QString();
        figure.summary += tr("; %1lowest at %2").arg(name, sweepValueName(grid.back(), lowest.value));
    }
    return figure;
}

Figure sweepCurves(const SweepSlice& slice) {
    const auto& grid = slice.part.spec.grid;
    const std::size_t seeds = slice.part.spec.seeds.size();
    Figure figure;
    figure.panel = "sweep_curves";
    figure.quantity = tr("final loss");
    figure.unit = QStringLiteral("nat");
    figure.title =
        grid.empty() ? tr("Final loss") : tr("Final loss by %1").arg(sweepKeyName(grid.back().key));
    const bool numeric = !grid.empty() && isNumeric(grid.back()), spread = seeds > 1 && numeric;
    figure.subtitle = spread      ? tr("nat · median, least and largest of %1 seeds").arg(seeds)
                      : seeds > 1 ? tr("nat · median of %1 seeds").arg(seeds)
                                  : QStringLiteral("nat");
    figure.empty_text =
        slice.columns < 2 ? tr("A curve needs two values of a key") : tr("No run has ended yet");
    if (slice.columns < 2) return figure;

    Plot plot;
    plot.x.label = sweepKeyName(grid.back().key);
    std::vector<double> at;
    for (std::size_t i = 0; i < slice.columns; ++i) {
        at.push_back(numeric ? number(grid.back().values[i]) : static_cast<double>(i));
        plot.x.ticks.push_back({at.back(), sweepValueName(grid.back(), i), false});
        figure.x_names << sweepValueName(grid.back(), i);
        figure.x_name_at.push_back(at.back());
    }
    const auto [least, largest] = std::minmax_element(at.begin(), at.end());
    if (numeric && *least > 0 && *largest / *least >= 8) plot.x.scale = Scale::Log;
    // Of all values of the key: while a sweep runs, the axis stays.
    if (numeric) {
        Plot whole;
        whole.x.scale = plot.x.scale;
        whole.curves.emplace_back().x = at;
        plot.x.range = xRange(whole);
    } else {
        plot.x.range = {*least - 0.5, *largest + 0.5};
    }
    const std::vector<SweepCell> cells = cellsOf(slice);
    const auto rows = rowsOf(slice);
    bool any = false;
    for (std::size_t row = 0; row < slice.rows; ++row) {
        const Role role = grid.size() > 1 ? roleOf(grid.front(), row) : Role{Role::Kind::Run, 0, 0};
        Curve curve;
        Band band;
        curve.name = band.name = grid.size() > 1 ? sweepValueName(grid.front(), row) : tr("all runs");
        curve.role = band.role = role;
        curve.markers = true;
        curve.line = numeric;  // nothing lies between two words
        band.strength = 0.16;
        band.is_spread = true;
        figure.run_names << curve.name;
        for (std::size_t column = 0; column < slice.columns; ++column) {
            const SweepCell& cell = cells[row * slice.columns + column];
            if (!cell.median_loss) continue;  // not trained yet: the line joins its neighbours
            std::vector<double> finite;
            for (const std::size_t index : cell.runs)
                if (const auto found = rows.find(index); found != rows.end())
                    if (const auto value = valueOf(slice, *found->second, SweepValue::FinalLoss);
                        value && std::isfinite(*value))
                        finite.push_back(*value);
            const Middle middle = middleOf(finite);
            curve.x.push_back(at[column]);
            curve.y.push_back(*cell.median_loss);
            curve.runs.push_back(static_cast<int>(cell.ended()));
            band.x.push_back(at[column]);
            band.low.push_back(middle.low);
            band.high.push_back(middle.high);
        }
        any = any || !curve.x.empty();
        plot.curves.push_back(std::move(curve));
        if (spread) plot.bands.push_back(std::move(band));
    }
    if (any) figure.plots.push_back(std::move(plot));
    return figure;
}

}  // namespace normscope::widgets
