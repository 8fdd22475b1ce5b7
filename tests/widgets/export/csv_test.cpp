// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/export/csv.h"

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
        QCOMPARE(rows[0].join(u','), QString("plot,kind,series,x,x_name,y,value,low,high"));
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

    void gapsBandsStemsAndCells() {
        QVERIFY(csvText(samples::losses()).contains("0,measured,No norm,120,,,NaN,,\n"));
        QVERIFY(csvText(samples::spectra()).contains("0,band,min … max,1,,,,"));
        QVERIFY(csvText(samples::sites()).contains("0,stem,Pre-LN,0,,,1.2,,\n"));
        QVERIFY(csvText(samples::theta()).contains("1,cell,Post-LN,3,,11,"));
        QCOMPARE(table(csvText(samples::theta())).size(), qsizetype(1 + 96));
    }

    void namesAreQuoted() {
        Figure f = samples::losses();
        f.plots[0].curves.resize(1);
        f.plots[0].curves[0].name = "a, \"b\"";
        QVERIFY(csvText(f).contains("0,measured,\"a, \"\"b\"\"\",0,"));
    }
};

QTEST_GUILESS_MAIN(CsvTest)
#include "csv_test.moc"
