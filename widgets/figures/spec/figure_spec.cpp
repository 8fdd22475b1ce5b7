// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/spec/figure_spec.h"

#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "widgets/figures/view_state_json.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <cmath>

namespace normscope::widgets {

using nlohmann::json;

namespace {

constexpr int kVersion = 1;
constexpr const char* kFormat = "normscope-figure";
const QStringList kThemes = {QStringLiteral("light"), QStringLiteral("dark"),
                             QStringLiteral("print")};  // ThemeKind
const QStringList kLegends = {QStringLiteral("direct"), QStringLiteral("below"),
                              QStringLiteral("none")};  // LegendPlace
const QStringList kTexts = {QStringLiteral("text"), QStringLiteral("paths")};

std::string textOf(const json& value, const std::string& key) {
    if (!value.is_string()) throw InputError(key, "not a text", "\"…\"");
    return value.get<std::string>();
}

double numberOf(const json& value, const std::string& key) {
    if (!value.is_number()) throw InputError(key, "not a number", "a number");
    return value.get<double>();
}

std::int64_t integerOf(const json& value, const std::string& key) {
    const double number = numberOf(value, key);
    const bool whole = number == std::floor(number) && std::abs(number) <= 9007199254740992.0;
    if (!whole) throw InputError(key, "not a whole number", "-2^53 … 2^53");
    return static_cast<std::int64_t>(number);
}

bool flagOf(const json& value, const std::string& key) {
    if (!value.is_boolean()) throw InputError(key, "not a switch", "true, false");
    return value.get<bool>();
}

const json& arrayOf(const json& value, const std::string& key) {
    if (!value.is_array()) throw InputError(key, "not a list", "[…]");
    return value;
}

QStringList textsOf(const json& value, const std::string& key) {
    QStringList texts;
    for (const json& item : arrayOf(value, key))
        texts.append(QString::fromStdString(textOf(item, key + "[" + std::to_string(texts.size()) + "]")));
    return texts;
}

/// The index of a word in its list; the lists are in the order of the enums.
template <class Enum>
Enum oneOf(const QStringList& words, const json& value, const std::string& key) {
    const auto index = words.indexOf(QString::fromStdString(textOf(value, key)));
    if (index < 0) throw InputError(key, "unknown value", words.join(QStringLiteral(", ")).toStdString());
    return static_cast<Enum>(index);
}

void readKey(FigureSpec& spec, const std::string& key, const json& value) {
    if (key == "sessions") {
        spec.sessions = textsOf(value, key);
    } else if (key == "panel") {
        spec.panel = textOf(value, key);
    } else if (key == "options") {
        if (!value.is_object()) throw InputError(key, "not an object", "{\"switch\": \"value\"}");
        for (const auto& option : value.items())
            spec.options[option.key()] = textOf(option.value(), key + "." + printable(option.key()));
    } else if (key == "runs") {
        spec.runs = textsOf(value, key);
    } else if (key == "step") {
        spec.step = integerOf(value, key);
    } else if (key == "size_mm") {
        if (arrayOf(value, key).size() != 2) throw InputError(key, "not a size", "[width, height]");
        spec.paper.size_mm = QSizeF(numberOf(value[0], key), numberOf(value[1], key));
    } else if (key == "font_pt") {
        spec.paper.font_pt = numberOf(value, key);
    } else if (key == "dpi") {
        const std::int64_t dpi = integerOf(value, key);
        if (dpi < 30 || dpi > 2400)
            throw InputError(key, std::to_string(dpi) + " is out of range", "30 … 2400");
        spec.paper.dpi = static_cast<int>(dpi);
    } else if (key == "theme") {
        spec.paper.theme = oneOf<ThemeKind>(kThemes, value, key);
    } else if (key == "legend") {
        spec.paper.legend = oneOf<LegendPlace>(kLegends, value, key);
    } else if (key == "title") {
        spec.paper.title = value.is_string() || flagOf(value, key);
        if (value.is_string()) spec.paper.title_text = QString::fromStdString(textOf(value, key));
    } else if (key == "ratio") {
        spec.paper.ratio = flagOf(value, key);
    } else if (key == "text") {
        spec.paper.text_paths = oneOf<int>(kTexts, value, key) == 1;
    } else if (key == "group_by") {
        spec.group_by = textOf(value, key);
    } else if (key == "band") {
        spec.band = spreadFromWord(textOf(value, key));
    } else if (key == "multiples") {
        spec.multiples = flagOf(value, key);
    } else if (key == "view") {
        spec.paper.view = viewStateFromJson(arrayOf(value, key), key);
    } else {
        throw InputError(printable(key), "unknown key",
                         "format, version, sessions, panel, options, runs, step, size_mm, font_pt, dpi, "
                         "theme, legend, title, ratio, text, group_by, band, multiples, view");
    }
}

}  // namespace

QByteArray figureSpecToJson(const FigureSpec& spec) {
    QJsonObject options;
    for (const auto& [name, value] : spec.options)
        options[QString::fromStdString(name)] = QString::fromStdString(value);
    QJsonObject object{
        {"format", QLatin1String(kFormat)},
        {"version", kVersion},
        {"sessions", QJsonArray::fromStringList(spec.sessions)},
        {"panel", QString::fromStdString(spec.panel)},
        {"options", options},
        {"runs", QJsonArray::fromStringList(spec.runs)},
        {"size_mm", QJsonArray{spec.paper.size_mm.width(), spec.paper.size_mm.height()}},
        {"font_pt", spec.paper.font_pt},
        {"dpi", spec.paper.dpi},
        {"theme", kThemes[static_cast<int>(spec.paper.theme)]},
        {"legend", kLegends[static_cast<int>(spec.paper.legend)]},
        {"title", spec.paper.title && !spec.paper.title_text.isEmpty() ? QJsonValue(spec.paper.title_text)
                                                                       : QJsonValue(spec.paper.title)},
        {"ratio", spec.paper.ratio},
        {"text", kTexts[spec.paper.text_paths ? 1 : 0]},
        {"view", viewStateToJson(spec.paper.view)}};
    if (!spec.group_by.empty()) {
        object["group_by"] = QString::fromStdString(spec.group_by);
        object["band"] = QString::fromStdString(spreadWord(spec.band));
        object["multiples"] = spec.multiples;
    }
    if (spec.step) object["step"] = static_cast<qint64>(*spec.step);
    return QJsonDocument(object).toJson();
}

FigureSpec figureSpecFromJson(const QByteArray& text) {
    const std::string where = "figure specification";
    json object =
        strict_json(std::string_view(text.constData(), static_cast<std::size_t>(text.size())), where);
    if (!object.is_object() || object.value("format", json()) != kFormat)
        throw InputError(where + ": format", "not a figure specification", kFormat);
    if (object.value("version", json()) != kVersion)
        throw InputError(where + ": version", "unknown version", std::to_string(kVersion));
    object.erase("format");
    object.erase("version");
    FigureSpec spec;
    for (const auto& entry : object.items()) readKey(spec, entry.key(), entry.value());
    if (spec.panel.empty()) throw InputError("panel", "missing", "the id of a panel");
    return spec;
}

}  // namespace normscope::widgets
