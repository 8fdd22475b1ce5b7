// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/sweep/sweep_fields.h"

#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/recipe/keys.h"
#include "core/recipe/recipe.h"
#include "core/run/complete.h"

#include <QDate>
#include <QDir>
#include <QFileInfo>
#include <QObject>
#include <algorithm>

namespace normscope::widgets {

namespace {

/// Values of one key that are checked as they are typed: completing a recipe takes a fraction of a
/// millisecond.
constexpr std::size_t kMaxChecked = 64;

Recipe completed(const std::string& text) {
    Recipe recipe = parse_recipe(text, "recipe");
    complete_without_data(recipe);
    return recipe;
}

/// Without the option of the command line that begins a message.
QString reason(const std::exception& error) {
    QString text = QString::fromUtf8(error.what());
    for (const char* option : {"--grid ", "--seeds: ", "--seeds "})
        if (text.startsWith(QLatin1String(option))) text.remove(0, static_cast<int>(qstrlen(option)));
    return text;
}

}  // namespace

bool ParsedSweep::valid() const {
    return problem.isEmpty() && seeds_problem.isEmpty() &&
           std::all_of(field_problems.begin(), field_problems.end(),
                       [](const QString& text) { return text.isEmpty(); });
}

std::string baseText(const Recipe& recipe) {
    nlohmann::ordered_json text = strict_ordered_json(recipe_json(recipe), "recipe");
    const Recipe whole = completed(json_text(text));
    for (const RecipeKey& key : recipe_keys()) {
        if (!*key.role.follows) continue;
        std::string pointer = "/" + key.name;
        std::replace(pointer.begin(), pointer.end(), '.', '/');
        const nlohmann::ordered_json::json_pointer at(pointer);
        if (!text.contains(at)) continue;
        nlohmann::ordered_json without = text;
        without[at.parent_pointer()].erase(at.back());
        try {
            if (same_recipe(completed(json_text(without)), whole)) text = std::move(without);
        } catch (const InputError&) {
            // the key is required
        }
    }
    return json_text(text, 2);
}

ParsedSweep parseSweep(const std::string& base, const std::vector<SweepField>& fields,
                       const std::string& seeds) {
    ParsedSweep parsed;
    parsed.spec.recipe = base;
    parsed.field_problems.resize(fields.size());
    try {
        parsed.spec.seeds = parse_seeds(seeds);
    } catch (const InputError& error) {
        parsed.seeds_problem = reason(error);
        parsed.spec.seeds = {0};
    }
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (fields[i].key.empty()) continue;
        try {
            SweepAxis axis = parse_sweep_axis(fields[i].key + "=" + fields[i].values);
            for (const SweepAxis& other : parsed.spec.grid)
                if (other.key == axis.key) throw InputError(axis.key, "is given twice", "two different keys");
            // Known key, and each value on its own.
            SweepSpec alone{base, {axis}, {parsed.spec.seeds.front()}};
            if (alone.grid[0].values.size() > kMaxChecked) alone.grid[0].values.resize(kMaxChecked);
            for (const SweepRun& run : expand_sweep(alone)) {
                Recipe recipe = recipe_of(alone, run);
                complete_without_data(recipe);
            }
            parsed.spec.grid.push_back(std::move(axis));
        } catch (const InputError& error) {
            parsed.field_problems[i] = reason(error);
        }
    }
    if (parsed.valid() && parsed.spec.runs() > kMaxSweepRuns)
        parsed.problem = QObject::tr("These are more than %1 runs").arg(kMaxSweepRuns);
    if (parsed.valid() && parsed.spec.runs() < 2)
        parsed.problem = QObject::tr("A sweep has at least two runs");
    return parsed;
}

std::string sweepRange(const KnobScale& scale, double low, double high, int count) {
    const auto number = [](double value) { return short_number_text(value); };
    if (!scale.isInteger() && !scale.detents_only && !(scale.isLog() && low <= 0))
        return (scale.isLog() ? "log:" : "lin:") + number(low) + ":" + number(high) + ":" +
               std::to_string(count);
    const double from = positionOf(scale, low), to = positionOf(scale, high);
    std::string text, last;
    for (int i = 0; i < count; ++i) {
        const std::string value = number(valueAt(scale, from + (to - from) * i / (count - 1)));
        if (value == last) continue;
        text += (text.empty() ? "" : ",") + value;
        last = value;
    }
    return text;
}

QString freshSweepFolder(const QString& parent, const std::vector<SweepField>& fields) {
    QString name = QDate::currentDate().toString(Qt::ISODate);
    for (const SweepField& field : fields)
        if (!field.key.empty()) name += u' ' + QString::fromStdString(field.key).section(u'.', -1);
    const QDir folder(parent);
    QString path = folder.filePath(name);
    for (int i = 2; QFileInfo::exists(path); ++i)
        path = folder.filePath(QStringLiteral("%1 %2").arg(name).arg(i));
    return path;
}

}  // namespace normscope::widgets
