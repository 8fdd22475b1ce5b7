// SPDX-License-Identifier: GPL-3.0-or-later
// The image of dense curves: which pixels it fills, on a display of one and of two device pixels a pixel.
#include "widgets/plots/geometry/column_raster.h"

#include "tests/support/test_main.h"
#include "tests/widgets/plots/sample_figures.h"
#include "widgets/plots/figure_painter.h"
#include "widgets/plots/geometry/decimate.h"

#include <QtTest>
#include <cmath>

using namespace normscope::widgets;

class ColumnRasterTest : public QObject {
    Q_OBJECT

    static constexpr QRgb kEmpty = 0xffffffff;

    static QImage canvas(double scale) {
        QImage image(QSize(40, 30) * scale, QImage::Format_RGB32);
        image.setDevicePixelRatio(scale);
        image.fill(kEmpty);
        return image;
    }
    static QImage drawn(const QRectF& area, double scale, const QVector<QLineF>& lines,
                        const QColor& colour = Qt::black) {
        QImage image = canvas(scale);
        ColumnRaster raster(area, 1 / scale);
        raster.add(lines, colour);
        QPainter painter(&image);
        raster.paint(painter);
        return image;
    }
    /// The rows of a column that have this value.
    static QVector<int> rowsOf(const QImage& image, int column, QRgb value = 0xff000000) {
        QVector<int> rows;
        for (int row = 0; row < image.height(); ++row)
            if (image.pixel(column, row) == value) rows << row;
        return rows;
    }

  private Q_SLOTS:
    void pixelsWhoseCentreIsCoveredAreFilled() {
        const QImage image = drawn({5, 4, 20, 20}, 1, {{7.5, 6.4, 7.5, 9.6}, {9.5, 6.6, 9.5, 9.4}});
        QCOMPARE(rowsOf(image, 7), (QVector<int>{6, 7, 8, 9}));  // centres 6.5 to 9.5
        QCOMPARE(rowsOf(image, 9), (QVector<int>{7, 8}));
        for (const int column : {6, 8, 10}) QVERIFY(rowsOf(image, column).isEmpty());
    }

    void aShortLineHasOnePixel() {
        QCOMPARE(rowsOf(drawn({5, 4, 20, 20}, 1, {{7.5, 6.6, 7.5, 6.7}}), 7), (QVector<int>{7}));
        QCOMPARE(rowsOf(drawn({5, 4, 20, 20}, 1, {{7.5, 6.1, 7.5, 6.2}}), 7), (QVector<int>{6}));
    }

    void displaysOfTwoPixelsAPixelHaveTheirOwnColumns() {
        const QImage image = drawn({5, 4, 20, 20}, 2, {{7.25, 6, 7.25, 8}, {7.75, 7, 7.75, 9}});
        QCOMPARE(rowsOf(image, 14), (QVector<int>{12, 13, 14, 15}));
        QCOMPARE(rowsOf(image, 15), (QVector<int>{14, 15, 16, 17}));
        for (const int column : {13, 16}) QVERIFY(rowsOf(image, column).isEmpty());
    }

    /// An area that begins between two pixels does not shift what is drawn.
    void positionsAreThoseOfThePainter() {
        for (const double scale : {1.0, 2.0}) {
            const QVector<QLineF> lines{{7.25, 6, 7.25, 8}, {20.25, 9, 20.25, 12}};
            const QImage whole = drawn({0, 0, 40, 30}, scale, lines);
            QCOMPARE(drawn({5.4, 4.7, 20.3, 20.9}, scale, lines), whole);
            QCOMPARE(drawn({5.6, 4.2, 19.9, 21.5}, scale, lines), whole);
        }
    }

    void whatIsOutsideTheAreaIsCutOff() {
        const QVector<QLineF> lines{{2.5, 6, 2.5, 8},      {37.5, 6, 37.5, 8}, {7.5, -1e9, 7.5, 7},
                                    {8.5, 20, 8.5, 1e300}, {9.5, -9, 9.5, -5}, {10.5, 28, 10.5, 29}};
        const QImage image = drawn({5, 4, 20, 20}, 1, lines);
        QCOMPARE(rowsOf(image, 7), (QVector<int>{4, 5, 6}));
        QCOMPARE(rowsOf(image, 8),
                 (QVector<int>{20, 21, 22, 23, 24}));  // the area's last pixel is partly in it
        for (const int column : {2, 37, 9, 10}) QVERIFY(rowsOf(image, column).isEmpty());
    }

    void laterLinesCoverEarlierOnes() {
        QImage image = canvas(1);
        ColumnRaster raster({5, 4, 20, 20}, 1);
        raster.add({{7.5, 6, 7.5, 12}}, Qt::red);
        raster.add({{7.5, 8, 7.5, 10}}, Qt::blue);
        QPainter painter(&image);
        raster.paint(painter);
        QCOMPARE(rowsOf(image, 7, qRgb(255, 0, 0)), (QVector<int>{6, 7, 10, 11}));
        QCOMPARE(rowsOf(image, 7, qRgb(0, 0, 255)), (QVector<int>{8, 9}));
    }

    /// A dense curve of a figure has every column of device pixels between its ends: none is left empty.
    void denseCurvesHaveNoGaps_data() {
        QTest::addColumn<double>("scale");
        QTest::newRow("scale 1") << 1.0;
        QTest::newRow("scale 2") << 2.0;
    }
    void denseCurvesHaveNoGaps() {
        QFETCH(double, scale);
        std::vector<double> x, y;
        for (int i = 0; i < 2000; ++i) x.push_back(i), y.push_back(2 + std::sin(i * 0.7));
        Figure figure;
        figure.plots.push_back({});
        figure.plots[0].curves.push_back(samples::curve("a", 0, x, y));
        figure.plots[0].curves[0].label_at_end = false;
        RenderStyle style = screenStyle(Theme::make(Theme::Kind::Light));
        style.pixel = 1 / scale;
        const QSize size(400, 300);
        const FigureLayout layout = layoutFigure(figure, size, style);
        QVERIFY(!layout.plots[0].curves[0].columns.isEmpty());
        QImage image(size * scale, QImage::Format_RGB32);
        image.setDevicePixelRatio(scale);
        image.fill(kEmpty);
        {
            QPainter painter(&image);
            paintFigure(painter, layout, style);
        }
        const QRectF& area = layout.plots[0].area;
        const QRgb colour = style.theme.colour(figure.plots[0].curves[0].role).rgb();
        const auto first = static_cast<int>(layout.plots[0].x.toPixel(0) * scale);
        const auto last = static_cast<int>(layout.plots[0].x.toPixel(1999) * scale);
        QVERIFY(last - first > 300 * scale);
        for (int column = first; column <= last; ++column) {
            const QVector<int> rows = rowsOf(image, column, colour);
            QVERIFY2(!rows.isEmpty(), qPrintable(QString("no pixel in column %1").arg(column)));
            QVERIFY(rows.first() >= int(area.top() * scale) && rows.last() <= int(area.bottom() * scale));
        }
    }

    /// Where most columns have no point of their own, on a logarithmic axis, segments are smoother; many
    /// points at its end are thinned first.
    void curvesThatAreDenseInAPartHaveSegments() {
        std::vector<double> x, y;
        for (int i = 1; i <= 600; ++i) x.push_back(i), y.push_back(2 + std::sin(i * 0.7));
        Figure figure;
        figure.plots.push_back({});
        figure.plots[0].curves.push_back(samples::curve("a", 0, x, y));
        const RenderStyle style = screenStyle(Theme::make(Theme::Kind::Light));
        for (const Scale scale : {Scale::Linear, Scale::Log}) {
            figure.plots[0].x.scale = scale;
            const FigureLayout layout = layoutFigure(figure, QSizeF(400, 300), style);
            QVERIFY(!layout.plots[0].curves[0].pieces.empty());
            QCOMPARE(layout.plots[0].curves[0].columns.isEmpty(), scale == Scale::Log);
        }
    }

    /// The head of a stem touches it: drawn four times as large, where a rim would be four pixels.
    void stemsReachTheirHeads() {
        constexpr int kScale = 4;
        Figure figure;
        figure.plots.push_back({});
        figure.plots[0].stems.push_back({});
        figure.plots[0].stems[0].x = {1, 2, 3};
        figure.plots[0].stems[0].y = {1, 2, 3};
        const RenderStyle style = screenStyle(Theme::make(Theme::Kind::Light));
        const FigureLayout layout = layoutFigure(figure, QSizeF(400, 300), style);
        QImage image(kScale * QSize(400, 300), QImage::Format_RGB32);
        image.setDevicePixelRatio(kScale);
        image.fill(kEmpty);
        {
            QPainter painter(&image);
            paintFigure(painter, layout, style);
        }
        const PlotLayout& plot = layout.plots[0];
        const int column = static_cast<int>(kScale * plot.x.toPixel(2));
        const int head = static_cast<int>(kScale * plot.y.toPixel(2));
        const int base = static_cast<int>(kScale * plot.y.toPixel(0));
        for (int row = head; row < base - kScale; ++row) {
            const int shade = qGray(image.pixel(column, row));
            QVERIFY2(shade < 160,
                     qPrintable(QString("row %1 of %2 to %3: %4").arg(row).arg(head).arg(base).arg(shade)));
        }
    }

    /// Dots of a curve without a line can be seen on the dense curve under them, which has their colour.
    void dotsWithoutALineHaveARim() {
        std::vector<double> x, y;
        for (int i = 0; i < 2000; ++i) x.push_back(i), y.push_back(2 + (i % 2 ? 1 : -1));
        Figure figure;
        figure.plots.push_back({});
        figure.plots[0].curves = {samples::curve("a", 0, x, y), samples::curve("b", 0, {1000}, {2})};
        for (Curve& curve : figure.plots[0].curves) curve.label_at_end = false;
        figure.plots[0].curves[1].line = false;
        figure.plots[0].curves[1].markers = true;
        const RenderStyle style = screenStyle(Theme::make(Theme::Kind::Light));
        FigureLayout layout = layoutFigure(figure, QSizeF(400, 300), style);
        const PlotLayout& plot = layout.plots[0];
        const QPoint dot(static_cast<int>(plot.x.toPixel(1000)), static_cast<int>(plot.y.toPixel(2)));
        const double size = plot.curves[1].dot_size;
        const auto draw = [&] {
            QImage image(400, 300, QImage::Format_RGB32);
            image.fill(kEmpty);
            QPainter painter(&image);
            paintFigure(painter, layout, style);
            return image;
        };
        const QImage with = draw();
        layout.plots[0].curves[1].dots.clear();
        const QImage without = draw();
        const QRgb colour = style.theme.colour(figure.plots[0].curves[0].role).rgb();
        QCOMPARE(with.pixel(dot), colour);
        QCOMPARE(without.pixel(dot), colour);
        int lighter = 0;
        for (int row = 0; row < with.height(); ++row)
            for (int column = 0; column < with.width(); ++column) {
                if (with.pixel(column, row) == without.pixel(column, row)) continue;
                const double distance = QLineF(dot, QPoint(column, row)).length();
                QVERIFY2(distance <= size / 2 + 2.5 * style.unit, qPrintable(QString::number(distance)));
                lighter += qGray(with.pixel(column, row)) > qGray(colour) + 40;
            }
        QVERIFY2(lighter >= 2.5 * size, qPrintable(QString("%1 of a dot of %2").arg(lighter).arg(size)));
    }
};

NORMSCOPE_WIDGET_TEST(ColumnRasterTest)
#include "column_raster_test.moc"
