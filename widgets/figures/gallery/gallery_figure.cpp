// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/gallery/gallery_figure.h"

#include "core/base/statistics.h"

#include <QObject>
#include <QRegularExpression>
#include <algorithm>
#include <cmath>
#include <map>

namespace normscope::widgets {

namespace {

using Effect = GalleryMeasure::Effect;

/// Ends of an axis of seeds' dots, in steps of one seed.
constexpr double kSeedMargin = 0.5;
/// Of the text of a value in the name of an arm, characters.
constexpr int kLongestValue = 18;

QString text(const std::string& words) {
    return QString::fromStdString(words);
}

QString seedName(std::uint64_t seed) {
    return QObject::tr("seed %1").arg(seed);
}

Role roleOf(std::size_t index) {
    return {Role::Kind::Run, static_cast<int>(index), 0};
}

/// "norm_eps" of a list of objects with a kind, "none" of an empty one; long values are cut.
QString shortValue(const std::string& value) {
    const QString whole = text(value);
    if (whole == QLatin1String("[]")) return QObject::tr("none");
    static const QRegularExpression kind(QStringLiteral("\"kind\":\"(\\w+)\""));
    QStringList kinds;
    for (auto match = kind.globalMatch(whole); match.hasNext();) kinds << match.next().captured(1);
    if (!kinds.isEmpty()) return kinds.join(QStringLiteral(", "));
    return whole.size() > kLongestValue ? whole.left(kLongestValue - 1) + u'…' : whole;
}

/// "interventions norm_eps": the keys in which two cells differ; all of them where they do not.
QString armName(const GalleryCell& cell, const GalleryCell& other) {
    QStringList parts, all;
    for (const auto& [key, value] : cell) {
        const QString part = text(key.substr(key.rfind('.') + 1)) + u' ' + shortValue(value);
        all << part;
        const auto against = other.find(key);
        if (against == other.end() || against->second != value) parts << part;
    }
    return (parts.isEmpty() ? all : parts).join(QStringLiteral(", "));
}

/// "as the paper: 0.968 [0.951, 0.998], 5 seeds".
QString verdictLine(const GalleryMeasure& measure, const GalleryFinding& finding) {
    return text(gallery_verdict_text(finding.verdict)) + QStringLiteral(": ") +
           text(gallery_effect_text(measure, finding));
}

void drawScatter(Figure& figure, const GalleryMeasure& measure, const MeasureValues& values) {
    Plot plot;
    std::map<std::string, std::size_t> at;
    for (const MeasureValues::Point& point : values.points) {
        const auto [found, is_new] = at.try_emplace(point.series, plot.curves.size());
        if (is_new) {
            Curve curve;
            curve.name = text(point.series);
            curve.role = roleOf(found->second);
            curve.markers = true;
            curve.line = false;
            plot.curves.push_back(std::move(curve));
        }
        Curve& curve = plot.curves[found->second];
        curve.x.push_back(point.x);
        curve.y.push_back(point.y);
    }
    const auto axis = [](const QString& label) {
        Axis made;
        made.label = label;
        made.scale = Scale::Log;
        return made;
    };
    const GalleryMeasure::Points& first = measure.points.front();
    const bool scaled = std::any_of(measure.points.begin(), measure.points.end(),
                                    [](const GalleryMeasure::Points& p) { return p.times != 1; });
    plot.x = axis((scaled ? QObject::tr("u · ") : QString()) + text(first.x.title()));
    plot.y = axis(measure.points.size() > 1 ? QObject::tr("measured error") : text(first.y.title()));
    figure.plots.push_back(std::move(plot));
}

/// Each seed's two arms at 0 and 1.
void drawPairs(Figure& figure, const GalleryMeasure& measure, const MeasureValues& values) {
    Plot plot;
    for (std::size_t i = 0; i < values.pairs.size(); ++i) {
        Curve curve;
        curve.name = seedName(values.pairs[i].seed);
        curve.role = roleOf(i);
        curve.x = {0, 1};
        curve.y = {values.pairs[i].against, values.pairs[i].of};
        curve.markers = true;
        plot.curves.push_back(std::move(curve));
    }
    QString of = armName(measure.of, measure.against), against = armName(measure.against, measure.of);
    if (of == against) {
        of = text(measure.quantity.title());
        against = text(measure.against_quantity.title());
    }
    plot.x.ticks = {{0, against, false}, {1, of, false}};
    plot.x.range = {-0.25, 1.25};
    plot.x.label = QObject::tr("the same seed in both arms");
    plot.y.label = text(measure.quantity.title());
    plot.y.unit = measure.effect == Effect::Difference ? text(measure.unit) : QString();
    figure.x_names = {against, of};
    figure.x_name_at = {0, 1};
    figure.plots.push_back(std::move(plot));
}

/// A dot each seed, and the limit of the measure.
void drawValues(Figure& figure, const GalleryMeasure& measure, const MeasureValues& values) {
    Plot plot;
    Curve curve;
    curve.name = text(measure.quantity.title());
    curve.role = roleOf(0);
    curve.markers = true;
    curve.line = false;
    for (std::size_t i = 0; i < values.pairs.size(); ++i) {
        curve.x.push_back(static_cast<double>(i));
        curve.y.push_back(values.pairs[i].of);
        plot.x.ticks.push_back({static_cast<double>(i), QString::number(values.pairs[i].seed), false});
        figure.x_names << seedName(values.pairs[i].seed);
        figure.x_name_at.push_back(static_cast<double>(i));
    }
    plot.x.range = {-kSeedMargin, static_cast<double>(values.pairs.size()) - 1 + kSeedMargin};
    plot.x.label = QObject::tr("seed");
    plot.y.label = text(measure.quantity.title());
    plot.y.unit = text(measure.unit);
    plot.curves.push_back(std::move(curve));
    plot.references.push_back({Qt::Horizontal, measure.limit, text(gallery_paper_text(measure))});
    figure.plots.push_back(std::move(plot));
}

/// The correlation at each lag, and the median of the seeds' levels of chance.
void drawScans(Figure& figure, const GalleryMeasure& measure, const MeasureValues& values) {
    Plot plot;
    std::vector<double> levels;
    for (std::size_t i = 0; i < values.scans.size(); ++i) {
        const LeadScan& scan = values.scans[i].scan;
        if (scan.correlation.empty()) continue;
        Curve curve;
        curve.name = seedName(values.scans[i].seed);
        curve.role = roleOf(i);
        curve.y = scan.correlation;
        const std::size_t largest_lag = scan.correlation.size() / 2;
        const double first = -static_cast<double>(largest_lag);
        for (std::size_t lag = 0; lag < scan.correlation.size(); ++lag)
            curve.x.push_back(first + static_cast<double>(lag));
        levels.push_back(scan.level);
        plot.curves.push_back(std::move(curve));
    }
    if (plot.curves.empty()) return;
    plot.x.label = QObject::tr("samples that %1 is ahead").arg(text(measure.quantity.ahead.array));
    plot.x.integers = true;
    plot.y.label = QObject::tr("correlation, without line and memory");
    plot.references.push_back({Qt::Vertical, 0, QString()});
    plot.references.push_back({Qt::Horizontal, median(levels), QObject::tr("1 of 20 by chance")});
    figure.plots.push_back(std::move(plot));
}

void draw(Figure& figure, const GalleryMeasure& measure, const MeasureValues& values) {
    if (!values.points.empty()) return drawScatter(figure, measure, values);
    if (!values.scans.empty()) return drawScans(figure, measure, values);
    if (values.pairs.empty()) return;
    if (measure.effect == Effect::Value) return drawValues(figure, measure, values);
    drawPairs(figure, measure, values);
}

}  // namespace

Figure galleryFigure(const GalleryEntry& entry, const GalleryResult& result, std::size_t index) {
    const GalleryMeasure& measure = entry.measures.at(index);
    Figure figure;
    figure.panel = text(entry.id);
    figure.title = text(entry.title);
    figure.subtitle = text(measure.name);
    figure.quantity = text(measure.quantity.title());
    figure.formula = text(entry.statement);
    figure.source = text(std::string(entry.paper()) + ", " + entry.place);
    if (index < result.measured.size()) draw(figure, measure, result.measured[index]);
    if (figure.plots.empty()) {
        figure.empty_text = QObject::tr("No run of this measure has ended with a value");
        figure.summary = figure.title + QStringLiteral(": ") + figure.empty_text;
        return figure;
    }
    const QString verdict = verdictLine(measure, result.findings.at(index));
    figure.notes.push_back({QObject::tr("Verdict: %1").arg(verdict)});
    figure.summary = QStringLiteral("%1, %2. %3").arg(figure.title, figure.subtitle, verdict);
    return figure;
}

}  // namespace normscope::widgets
