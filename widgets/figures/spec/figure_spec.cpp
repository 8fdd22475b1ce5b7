// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/spec/figure_spec.h"

#include "core/base/error.h"
#include "widgets/figures/view_state_json.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <cmath>

namespace normscope::widgets {
namespace {

constexpr int kVersion = 1;
const QString kFormat = QStringLiteral("normscope-figure");
const QStringList kThemes = {QStringLiteral("light"), QStringLiteral("dark"),
                             QStringLiteral("print")};  // ThemeKind
const QStringList kLegends = {QStringLiteral("direct"), QStringLiteral("below"),
                              QStringLiteral("none")};  // LegendPlace
const QStringList kTexts = {QStringLiteral("text"), QStringLiteral("paths")};

[[noreturn]] void reject(const QString& key, const QString& what, const QString& allowed) {
    throw InputError(key.toStdString(), what.toStdString(), allowed.toStdString());
}

QString textOf(const QJsonValue& value, const QString& key) {
    if (!value.isString()) reject(key, QStringLiteral("not a text"), QStringLiteral("\"…\""));
    return value.toString();
}

double numberOf(const QJsonValue& value, const QString& key) {
    if (!value.isDouble()) reject(key, QStringLiteral("not a number"), QStringLiteral("a number"));
    return value.toDouble();
}

std::int64_t integerOf(const QJsonValue& value, const QString& key) {
    const double number = numberOf(value, key);
    const bool whole = number == std::floor(number) && std::abs(number) <= 9007199254740992.0;
    if (!whole) reject(key, QStringLiteral("not a whole number"), QStringLiteral("-2^53 … 2^53"));
    return static_cast<std::int64_t>(number);
}

bool flagOf(const QJsonValue& value, const QString& key) {
    if (!value.isBool()) reject(key, QStringLiteral("not a switch"), QStringLiteral("true, false"));
    return value.toBool();
}

QJsonArray arrayOf(const QJsonValue& value, const QString& key) {
    if (!value.isArray()) reject(key, QStringLiteral("not a list"), QStringLiteral("[…]"));
    return value.toArray();
}

QStringList textsOf(const QJsonValue& value, const QString& key) {
    QStringList texts;
    for (const auto& item : arrayOf(value, key))
        texts.append(textOf(item, QStringLiteral("%1[%2]").arg(key).arg(texts.size())));
    return texts;
}

/// The index of a word in its list; the lists are in the order of the enums.
template <class Enum>
Enum oneOf(const QStringList& words, const QJsonValue& value, const QString& key) {
    const auto index = words.indexOf(textOf(value, key));
    if (index < 0) reject(key, QStringLiteral("unknown value"), words.join(QStringLiteral(", ")));
    return static_cast<Enum>(index);
}

void readKey(FigureSpec& spec, const QString& key, const QJsonValue& value) {
    if (key == QLatin1String("sessions")) {
        spec.sessions = textsOf(value, key);
    } else if (key == QLatin1String("panel")) {
        spec.panel = textOf(value, key).toStdString();
    } else if (key == QLatin1String("options")) {
        if (!value.isObject())
            reject(key, QStringLiteral("not an object"), QStringLiteral("{\"switch\": \"value\"}"));
        const QJsonObject options = value.toObject();
        for (auto it = options.begin(); it != options.end(); ++it) {
            spec.options[it.key().toStdString()] = textOf(*it, key + u'.' + it.key()).toStdString();
        }
    } else if (key == QLatin1String("runs")) {
        spec.runs = textsOf(value, key);
    } else if (key == QLatin1String("step")) {
        spec.step = integerOf(value, key);
    } else if (key == QLatin1String("size_mm")) {
        const QJsonArray size = arrayOf(value, key);
        if (size.size() != 2) reject(key, QStringLiteral("not a size"), QStringLiteral("[width, height]"));
        spec.paper.size_mm = QSizeF(numberOf(size[0], key), numberOf(size[1], key));
    } else if (key == QLatin1String("font_pt")) {
        spec.paper.font_pt = numberOf(value, key);
    } else if (key == QLatin1String("dpi")) {
        const std::int64_t dpi = integerOf(value, key);
        if (dpi < 30 || dpi > 2400)
            reject(key, QStringLiteral("%1 is out of range").arg(dpi), QStringLiteral("30 … 2400"));
        spec.paper.dpi = static_cast<int>(dpi);
    } else if (key == QLatin1String("theme")) {
        spec.paper.theme = oneOf<ThemeKind>(kThemes, value, key);
    } else if (key == QLatin1String("legend")) {
        spec.paper.legend = oneOf<LegendPlace>(kLegends, value, key);
    } else if (key == QLatin1String("title")) {
        spec.paper.title = flagOf(value, key);
    } else if (key == QLatin1String("ratio")) {
        spec.paper.ratio = flagOf(value, key);
    } else if (key == QLatin1String("text")) {
        spec.paper.text_paths = oneOf<int>(kTexts, value, key) == 1;
    } else if (key == QLatin1String("group_by")) {
        spec.group_by = textOf(value, key).toStdString();
    } else if (key == QLatin1String("band")) {
        spec.band = spreadFromWord(textOf(value, key).toStdString());
    } else if (key == QLatin1String("multiples")) {
        spec.multiples = flagOf(value, key);
    } else if (key == QLatin1String("view")) {
        spec.paper.view = viewStateFromJson(arrayOf(value, key), key);
    } else {
        reject(key, QStringLiteral("unknown key"),
               QStringLiteral("format, version, sessions, panel, options, runs, step, size_mm, font_pt, dpi, "
                              "theme, legend, title, ratio, text, group_by, band, multiples, view"));
    }
}

}  // namespace

QByteArray figureSpecToJson(const FigureSpec& spec) {
    QJsonObject options;
    for (const auto& [name, value] : spec.options)
        options[QString::fromStdString(name)] = QString::fromStdString(value);
    QJsonObject json{{"format", kFormat},
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
                     {"title", spec.paper.title},
                     {"ratio", spec.paper.ratio},
                     {"text", kTexts[spec.paper.text_paths ? 1 : 0]},
                     {"view", viewStateToJson(spec.paper.view)}};
    if (!spec.group_by.empty()) {
        json["group_by"] = QString::fromStdString(spec.group_by);
        json["band"] = QString::fromStdString(spreadWord(spec.band));
        json["multiples"] = spec.multiples;
    }
    if (spec.step) json["step"] = static_cast<qint64>(*spec.step);
    return QJsonDocument(json).toJson();
}

FigureSpec figureSpecFromJson(const QByteArray& text) {
    QJsonParseError error;
    const QJsonDocument document = QJsonDocument::fromJson(text, &error);
    if (error.error != QJsonParseError::NoError) {
        throw InputError(QStringLiteral("figure specification: byte %1: %2")
                             .arg(error.offset)
                             .arg(error.errorString())
                             .toStdString());
    }
    QJsonObject json = document.object();
    if (json.take(QStringLiteral("format")) != QJsonValue(kFormat))
        reject(QStringLiteral("format"), QStringLiteral("not a figure specification"), kFormat);
    if (json.take(QStringLiteral("version")) != QJsonValue(kVersion))
        reject(QStringLiteral("version"), QStringLiteral("unknown version"), QString::number(kVersion));
    FigureSpec spec;
    for (auto it = json.begin(); it != json.end(); ++it) readKey(spec, it.key(), *it);
    if (spec.panel.empty())
        reject(QStringLiteral("panel"), QStringLiteral("missing"), QStringLiteral("the id of a panel"));
    return spec;
}

}  // namespace normscope::widgets
