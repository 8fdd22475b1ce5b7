// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/theory/growth_classifier.h"

#include "core/base/error.h"
#include "tests/support/test_main.h"

#include <QTest>
#include <cmath>
#include <random>
#include <vector>

using namespace normscope;
using Verdict = GrowthClass::Verdict;

namespace {

std::vector<double> series(const GrowthFit& truth, GrowthModel model, std::size_t layers, double noise,
                           std::mt19937_64& generator) {
    std::normal_distribution<double> normal;
    std::vector<double> values(layers);
    for (std::size_t l = 0; l < layers; ++l)
        values[l] =
            growth_model_value(model, truth, static_cast<double>(l)) * std::exp(noise * normal(generator));
    return values;
}

class GrowthClassifierTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void syntheticSeries_data() {
        QTest::addColumn<int>("model");
        QTest::addColumn<double>("a");
        QTest::addColumn<double>("b");
        QTest::addColumn<double>("c");
        QTest::newRow("constant") << 0 << 0.8 << 0.0 << 0.0;
        QTest::newRow("random branches") << 1 << 0.04 << 2.0 << 0.0;
        QTest::newRow("gentle square root") << 1 << 2.0 << 1.0 << 0.0;
        QTest::newRow("linear") << 2 << 1.0 << 0.5 << 0.0;
        QTest::newRow("steep linear") << 2 << 0.1 << 2.0 << 0.0;
        QTest::newRow("square of a linear bound") << 3 << 1.0 << 1.0 << 0.25;
        QTest::newRow("pure quadratic") << 3 << 1.0 << 0.0 << 0.3;
        QTest::newRow("exponential") << 4 << 0.5 << 0.3 << 0.0;
        QTest::newRow("decay") << 4 << 2.0 << -0.2 << 0.0;
    }
    /// 1, 2 and 5 % noise over 24 layers: nearly always right, and rarely wrong (decided for another class).
    void syntheticSeries() {
        QFETCH(int, model);
        QFETCH(double, a);
        QFETCH(double, b);
        QFETCH(double, c);
        const auto expected = static_cast<GrowthModel>(model);
        const GrowthFit truth{{a, b, c}, 0, 0};
        std::mt19937_64 generator(1);
        for (const double noise : {0.01, 0.02, 0.05}) {
            int right = 0;
            int wrong = 0;
            for (int trial = 0; trial < 200; ++trial) {
                const GrowthClass result = classify_growth(series(truth, expected, 24, noise, generator));
                if (result.verdict == Verdict::decided) ++(result.best == expected ? right : wrong);
            }
            qInfo("noise %g: right %d, wrong %d of 200", noise, right, wrong);
            QVERIFY2(right >= 170, qPrintable(QString("noise %1: %2 right").arg(noise).arg(right)));
            QVERIFY2(wrong <= 10, qPrintable(QString("noise %1: %2 wrong").arg(noise).arg(wrong)));
        }
    }

    void exactSeriesRecoverTheirParameters() {
        std::mt19937_64 generator(2);
        const std::vector<std::pair<GrowthModel, GrowthFit>> truths{
            {GrowthModel::constant, {{3, 0, 0}, 0, 0}},         {GrowthModel::square_root, {{3, 2, 0}, 0, 0}},
            {GrowthModel::linear, {{0.5, 2, 0}, 0, 0}},         {GrowthModel::quadratic, {{2, 1, 0.5}, 0, 0}},
            {GrowthModel::exponential, {{1e-3, 0.7, 0}, 0, 0}},
        };
        for (const auto& [model, truth] : truths) {
            const GrowthClass result = classify_growth(series(truth, model, 17, 0, generator));
            QCOMPARE(result.verdict, Verdict::decided);
            QCOMPARE(result.best, model);
            const GrowthFit& fit = result.fits[static_cast<std::size_t>(model)];
            QVERIFY(fit.rms < 1e-9);
            for (std::size_t k = 0; k < 3; ++k)
                QVERIFY(std::abs(fit.parameters[k] - truth.parameters[k]) < 1e-6 * truth.parameters[0]);
        }
    }

    /// At 12 layers, as of the default stack, √ℓ and ℓ are distinguished, and the lead is that over the named
    /// rival.
    void squareRootAgainstItsRivals() {
        std::mt19937_64 generator(5);
        for (const auto& [model, b] :
             {std::pair(GrowthModel::square_root, 2.0), std::pair(GrowthModel::linear, 0.5)}) {
            int right = 0, wrong = 0;
            for (int trial = 0; trial < 100; ++trial) {
                const GrowthClass result =
                    classify_growth(series({{0.5, b, 0}, 0, 0}, model, 13, 0.03, generator));
                if (result.verdict == Verdict::decided) ++(result.best == model ? right : wrong);
                const auto aicc = [&](GrowthModel m) {
                    return result.fits[static_cast<std::size_t>(m)].aicc;
                };
                if (result.rival != result.best)
                    QCOMPARE(result.lead, aicc(result.rival) - aicc(result.best));
            }
            QVERIFY2(right >= 85 && wrong <= 3,
                     qPrintable(QString("%1 right, %2 wrong").arg(right).arg(wrong)));
        }
        const GrowthClass flat = classify_growth(std::vector<double>(9, 2.0));
        QCOMPARE(flat.best, GrowthModel::constant);  // in every other model: it has no rival
        QCOMPARE(flat.rival, GrowthModel::constant);
        QVERIFY(std::isinf(flat.lead));
    }

    /// The AICc formula on a series whose constant fit is known: log v = ±s alternating.
    void aiccManually() {
        std::vector<double> values;
        for (int l = 0; l < 10; ++l) values.push_back(std::exp(l % 2 == 0 ? 0.1 : -0.1));
        const GrowthClass result = classify_growth(values);
        const GrowthFit& fit = result.fits[0];
        QVERIFY(std::abs(fit.rms - 0.1) < 1e-14);
        QVERIFY(std::abs(fit.aicc - (10 * std::log(0.01) + 4 + 2.0 * 2 * 3 / 7)) < 1e-12);
        QCOMPARE(result.best, GrowthModel::constant);
    }

    /// A gentle rise under noise fits linear, quadratic and exponential alike: no class may be decided.
    void ambiguousSeriesAreUndecided() {
        std::mt19937_64 generator(3);
        int undecided = 0;
        for (int trial = 0; trial < 100; ++trial)
            undecided +=
                classify_growth(series({{1, 0.04, 0}, 0, 0}, GrowthModel::exponential, 10, 0.03, generator))
                    .verdict == Verdict::undecided;
        QVERIFY2(undecided >= 70, qPrintable(QString::number(undecided)));
    }

    void shortSeriesAreNotClassified() {
        const GrowthClass result = classify_growth(std::vector<double>{1, 2, 4, 8, 16, 32, 64});
        QCOMPARE(result.verdict, Verdict::too_few_layers);
        QCOMPARE(classify_growth(std::vector<double>{1, 2, 4, 8, 16, 32, 64, 128}).best,
                 GrowthModel::exponential);
        QCOMPARE(classify_growth({}).verdict, Verdict::too_few_layers);
    }

    void badInputIsRejected() {
        QVERIFY_EXCEPTION_THROWN(classify_growth(std::vector<double>{1, 2, 0}), InputError);
        QVERIFY_EXCEPTION_THROWN(classify_growth(std::vector<double>{1, NAN}), InputError);
        QVERIFY_EXCEPTION_THROWN(classify_growth(std::vector<double>{1, INFINITY}), InputError);
    }

    void hugeRangesAreFitted() {
        std::vector<double> values;
        for (int l = 0; l < 48; ++l) values.push_back(std::exp(-300 + 12.0 * l));
        const GrowthClass result = classify_growth(values);
        QCOMPARE(result.best, GrowthModel::exponential);
        QCOMPARE(result.verdict, Verdict::decided);
        for (const GrowthFit& fit : result.fits)
            QVERIFY(std::isfinite(fit.aicc) && std::isfinite(fit.parameters[0]));
    }

    void namesAreDistinct() {
        QCOMPARE(growth_model_name(GrowthModel::constant), std::string_view("constant"));
        QCOMPARE(growth_model_name(GrowthModel::square_root), std::string_view("square root"));
        QCOMPARE(growth_model_name(GrowthModel::exponential), std::string_view("exponential"));
    }
};

}  // namespace

NORMSCOPE_TEST(GrowthClassifierTest)
#include "growth_classifier_test.moc"
