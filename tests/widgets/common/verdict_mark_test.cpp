// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/verdict_mark.h"

#include "tests/support/test_main.h"
#include "widgets/gallery/gallery_texts.h"

#include <QByteArray>
#include <QImage>
#include <QPainter>
#include <QtTest>
#include <set>

using namespace normscope;
using namespace normscope::widgets;

class VerdictMarkTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void everyVerdictHasItsShape() {
        std::set<QByteArray> shapes;
        for (const GalleryVerdict verdict : kGalleryVerdicts) {
            QImage image(14, 14, QImage::Format_Grayscale8);
            image.fill(Qt::white);
            QPainter painter(&image);
            paintMark(painter, QRectF(0, 0, 14, 14), markOf(verdict), Qt::black);
            painter.end();
            QByteArray dark;  // the places of the pixels that are drawn, without their shade
            for (int y = 0; y < 14; ++y)
                for (int x = 0; x < 14; ++x) dark += qGray(image.pixel(x, y)) < 128 ? '1' : '0';
            QVERIFY(dark.contains('1'));
            shapes.insert(dark);
        }
        QCOMPARE(shapes.size(), kGalleryVerdicts.size());
    }
};

NORMSCOPE_TEST(VerdictMarkTest)
#include "verdict_mark_test.moc"
