// SPDX-License-Identifier: GPL-3.0-or-later
// From the values of a measure to its figure.
#include "widgets/figures/gallery/gallery_figure.h"

#include "tests/support/test_main.h"

#include <QtTest>

using namespace normscope;
using namespace normscope::widgets;
using Effect = GalleryMeasure::Effect;

namespace {

GalleryEntry entryOf(Effect effect) {
    GalleryMeasure measure;
    measure.name = "M";
    measure.effect = effect;
    measure.unit = effect == Effect::Difference ? "nat" : "";
    measure.limit = 2;
    measure.of = {{"stack.d_model", "96"}, {"interventions", R"([{"kind":"norm_eps","rho":0.6}])"}};
    measure.against = {{"stack.d_model", "96"}, {"interventions", "[]"}};
    if (effect == Effect::Scatter) measure.points = {{{}, {}, 0.5}};
    GalleryEntry entry;
    entry.id = "b-x";
    entry.title = "T";
    entry.place = "Figure 1";
    entry.measures = {measure};
    return entry;
}

GalleryResult resultOf(MeasureValues values) {
    GalleryResult result;
    result.ended = 6;
    GalleryFinding finding;
    finding.verdict = GalleryVerdict::Opposite;
    finding.effect = {3, 2.5, 3.5};
    finding.seeds = 2;
    result.findings = {finding};
    result.measured = {std::move(values)};
    return result;
}

}  // namespace

class GalleryFigureTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void pairsAreJoinedSeedBySeed() {
        MeasureValues values;
        values.pairs = {{42, 5, 1}, {43, 6, 2}};
        const Figure figure = galleryFigure(entryOf(Effect::Difference), resultOf(values), 0);
        QCOMPARE(figure.plots.size(), 1u);
        const Plot& plot = figure.plots.front();
        QCOMPARE(plot.curves.size(), 2u);
        QCOMPARE(plot.curves[1].name, QString("seed 43"));
        QCOMPARE(plot.curves[1].x, std::vector<double>({0, 1}));
        QCOMPARE(plot.curves[1].y, std::vector<double>({2, 6}));
        QCOMPARE(plot.x.ticks[0].label, QString("interventions none"));
        QCOMPARE(plot.x.ticks[1].label, QString("interventions norm_eps"));
        QCOMPARE(plot.y.text(), QString("final loss (nat)"));
        QCOMPARE(figure.notes.front().text, QString("Verdict: opposite: +3 nat [+2.5, +3.5], 2 seeds"));
        QCOMPARE(figure.source, QString("Baek, Figure 1"));
    }

    void aValueHasItsLimit() {
        MeasureValues values;
        values.pairs = {{42, 5, kNaN}, {44, 6, kNaN}};
        const Figure figure = galleryFigure(entryOf(Effect::Value), resultOf(values), 0);
        const Plot& plot = figure.plots.front();
        QCOMPARE(plot.curves.size(), 1u);
        QCOMPARE(plot.curves[0].y, std::vector<double>({5, 6}));
        QCOMPARE(plot.x.ticks[1].label, QString("44"));
        QCOMPARE(plot.references.front().value, 2.0);
    }

    void pointsAreSeriesOnLogarithmicAxes() {
        MeasureValues values;
        values.points = {{1, 2, 42, "A"}, {3, 4, 42, "B"}, {5, 6, 43, "A"}};
        const Figure figure = galleryFigure(entryOf(Effect::Scatter), resultOf(values), 0);
        const Plot& plot = figure.plots.front();
        QVERIFY(plot.x.scale == Scale::Log && plot.y.scale == Scale::Log);
        QCOMPARE(plot.curves.size(), 2u);
        QCOMPARE(plot.curves[0].x, std::vector<double>({1, 5}));
        QCOMPARE(plot.curves[0].y, std::vector<double>({2, 6}));
        QVERIFY(!plot.curves[0].line && plot.curves[0].markers);
        QVERIFY(plot.x.label.startsWith("u · "));
    }

    /// Lags of both signs about 0; a seed without a scan has no curve.
    void scansAreCurvesOverTheLag() {
        GalleryEntry entry = entryOf(Effect::Value);
        entry.measures[0].quantity.kind = GalleryQuantity::Kind::Lead;
        MeasureValues values;
        LeadScan scan;
        scan.correlation = {0.1, 0.2, 0.3, 0.4, 0.5};
        scan.level = 0.25;
        values.scans = {{42, LeadScan()}, {43, scan}};
        const Figure figure = galleryFigure(entry, resultOf(values), 0);
        const Plot& plot = figure.plots.front();
        QCOMPARE(plot.curves.size(), 1u);
        QCOMPARE(plot.curves[0].name, QString("seed 43"));
        QCOMPARE(plot.curves[0].x, std::vector<double>({-2, -1, 0, 1, 2}));
        QCOMPARE(plot.references.back().value, 0.25);
    }

    void withoutValuesItStatesWhy() {
        const Figure figure = galleryFigure(entryOf(Effect::Value), resultOf({}), 0);
        QVERIFY(figure.plots.empty() && !figure.empty_text.isEmpty());
        QVERIFY(galleryFigure(entryOf(Effect::Ratio), GalleryResult(), 0).plots.empty());
    }
};

NORMSCOPE_TEST(GalleryFigureTest)
#include "gallery_figure_test.moc"
