// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/csv.h"

#include "tests/support/test_main.h"
#include "tests/widgets/plots/sample_figures.h"

#include <QtTest>

using namespace normscope::widgets;

namespace {
QList<QStringList> table(const QByteArray& csv) {
    QList<QStringList> rows;
    for (const auto& line : QString::fromUtf8(csv).split(u'\n', Qt::SkipEmptyParts))
        rows.append(line.split(u','));
    return rows;
}
}  // namespace

class CsvTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void oneHeaderAndEveryPoint() {
        const Figure f = samples::gradients();
        const auto rows = table(csvText(f));
        QCOMPARE(rows[0].join(u','), QString("plot,kind,series,x,x_name,y,value,low,high,run,step,error,n"));
        QCOMPARE(rows.size(), qsizetype(1 + 4 * 25 + 1));  // three curves, the ratio, its reference line
        QCOMPARE(rows[2][4], QString("layer 1 · attn"));
        QCOMPARE(rows[1 + 2 * 25][1], QString("bound"));
    }

    void numbersComeBackTheSame() {
        const Figure f = samples::gradients();
        const auto rows = table(csvText(f));
        for (int i = 0; i < 25; ++i)
            QCOMPARE(rows[1 + i][6].toDouble(), f.plots[0].curves[0].y[static_cast<std::size_t>(i)]);
    }

    void sameFigureSameText() { QCOMPARE(csvText(samples::losses()), csvText(samples::losses())); }

    void onlyWhatIsShown() {
        const PlotViewState view{{{{Range{10, 19}, std::nullopt}, {}}}};
        int points = 0;
        for (const auto& row : table(csvText(samples::losses(), view))) {
            if (row[1] != "measured") continue;
            QVERIFY(row[3].toDouble() >= 10 && row[3].toDouble() <= 19);
            ++points;
        }
        QCOMPARE(points, 3 * 10);
    }

    /// Each reference line is filtered by the axis that it lies on.
    void referencesFollowTheirOwnAxis() {
        Figure f = samples::losses();
        Plot& plot = f.plots[0];
        plot.references = {{Qt::Horizontal, 50, "flat"}, {Qt::Vertical, 50, "upright"}};
        const auto shown = [&](std::optional<Range> x, std::optional<Range> y) {
            const PlotViewState view{{{{x, std::nullopt}, {y, std::nullopt}}}};
            const QByteArray csv = csvText(f, view);
            return QList<bool>{csv.contains(",reference,flat,"), csv.contains(",reference,upright,")};
        };
        QCOMPARE(shown(Range{1, 10}, Range{1, 100}), QList<bool>({true, false}));
        QCOMPARE(shown(Range{1, 100}, Range{1, 10}), QList<bool>({false, true}));
    }

    void gapsBandsStemsAndCells() {
        QVERIFY(csvText(samples::losses()).contains("0,measured,No norm,120,,,NaN,,,,120,,\n"));
        QVERIFY(csvText(samples::spectra()).contains("0,band,min … max,1,,,,"));
        QVERIFY(csvText(samples::sites()).contains("0,stem,Pre-LN,0,,,1.2,,,,,,\n"));
        QVERIFY(csvText(samples::theta()).contains("1,cell,Post-LN,3,,11,"));
        QCOMPARE(table(csvText(samples::theta())).size(), qsizetype(1 + 96));
    }

    /// What was not measured has no x; a value that is not a number has.
    void pointsWithoutAPlaceAreNoRows() {
        Figure f = samples::losses();
        f.plots[0].curves.resize(1);
        const qsizetype all = table(csvText(f)).size();
        f.plots[0].curves[0].x[2] = f.plots[0].curves[0].y[2] = kNaN;
        QCOMPARE(table(csvText(f)).size(), all - 1);
        f.plots[0].curves[0].y[3] = kNaN;
        QCOMPARE(table(csvText(f)).size(), all - 1);
    }

    void everyPointHasItsRunItsStepAndItsError() {
        Figure f = samples::gradients();
        f.run_names = {"Pre-LN", "Post, LN"};
        f.plots[0].curves[0].step = 45;
        for (std::size_t i = 0; i < f.plots[0].curves[0].y.size(); ++i)
            f.plots[0].curves[0].y_error.push_back(0.5 + 0.25 * static_cast<double>(i));
        f.plots[0].curves[1].step = 32;
        Band error;
        error.name = "Pre-LN ± error";
        error.x = {0, 1};
        error.low = error.high = {1, 1};
        error.is_error = true;
        Band fan = error;
        fan.name = "fan";
        fan.is_error = false;
        fan.step = 7;
        f.plots[0].bands = {error, fan};
        const QByteArray csv = csvText(f);
        const auto rows = table(csv);
        QCOMPARE(rows[1].mid(9), QStringList({"Pre-LN", "45", "0.5", ""}));
        QCOMPARE(rows[4].mid(9), QStringList({"Pre-LN", "45", "1.25", ""}));
        QVERIFY(csv.contains(",\"Post, LN\",32,,\n"));
        QVERIFY(csv.contains("0,band,fan,0,embedding,,,1,1,Pre-LN,7,,\n") ||
                csv.contains("0,band,fan,0,,,,1,1,Pre-LN,7,,\n"));
        QVERIFY(!csv.contains("± error"));
        Figure map = samples::theta();
        map.plots[1].maps[0].step = 12;
        QVERIFY(csvText(map).contains(",12,,\n"));
    }

    void namesAreQuoted() {
        Figure f = samples::losses();
        f.plots[0].curves.resize(1);
        f.plots[0].curves[0].name = "a, \"b\"";
        QVERIFY(csvText(f).contains("0,measured,\"a, \"\"b\"\"\",0,"));
    }
};

NORMSCOPE_TEST(CsvTest)
#include "csv_test.moc"
