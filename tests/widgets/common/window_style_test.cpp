// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/window_style.h"

#include "tests/support/test_main.h"
#include "widgets/common/palette.h"
#include "widgets/plots/theme.h"

#include <QPushButton>
#include <QTest>
#include <QToolButton>

using namespace normscope::widgets;

namespace {

/// The colour of a button's box, and that of its text: the one farthest from it along the middle of the
/// letters.
struct Look {
    QColor box, text;
};

Look lookOf(QWidget& button) {
    const QImage image = button.grab().toImage();
    Look look{image.pixelColor(image.width() / 2, 4), {}};
    double most = 0;
    for (int x = 10; x < image.width() - 10; ++x)
        for (int y = image.height() / 3; y < 2 * image.height() / 3; ++y)
            if (const QColor at = image.pixelColor(x, y); contrast(at, look.box) > most) {
                most = contrast(at, look.box);
                look.text = at;
            }
    return look;
}

}  // namespace

class WindowStyleTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { QApplication::setStyle(new WindowStyle); }

    void buttonsAreOutlinedAndTheDefaultOneIsSolid_data() {
        QTest::addColumn<bool>("dark");
        QTest::newRow("light") << false;
        QTest::newRow("dark") << true;
    }
    void buttonsAreOutlinedAndTheDefaultOneIsSolid() {
        QFETCH(bool, dark);
        const QPalette palette = windowPalette(dark);
        QWidget window;
        window.setPalette(palette);
        QPushButton plain(QStringLiteral("HHHHHHHH"), &window), start(QStringLiteral("HHHHHHHH"), &window),
            off(QStringLiteral("HHHHHHHH"), &window);
        QToolButton tool(&window);
        tool.setText(QStringLiteral("HHHHHHHH"));
        start.setDefault(true);
        start.setAutoDefault(true);
        off.setEnabled(false);
        for (QWidget* button : std::initializer_list<QWidget*>{&plain, &start, &off, &tool})
            button->resize(140, 30);
        QCOMPARE(lookOf(plain).box, palette.color(QPalette::Base));
        QCOMPARE(lookOf(tool).box, palette.color(QPalette::Base));
        QCOMPARE(lookOf(start).box, palette.color(QPalette::Highlight));
        for (QWidget* button : std::initializer_list<QWidget*>{&plain, &start, &off, &tool}) {
            const Look look = lookOf(*button);
            QVERIFY2(contrast(look.text, look.box) >= 4.5,
                     qPrintable(look.text.name() + " on " + look.box.name()));
        }
    }

    /// A ring inside the box, and no dotted rectangle.
    void aFocusedButtonHasARing() {
        QWidget window;
        window.setPalette(windowPalette(false));
        QPushButton button(QStringLiteral("Copy"), &window);
        button.setAutoDefault(false);
        window.resize(500, 400);
        button.setGeometry(300, 300, 140, 30);  // where the pointer is not
        const QImage before = button.grab().toImage();
        window.show();
        window.activateWindow();
        button.setFocus();
        QTRY_VERIFY(button.hasFocus());
        const QImage after = button.grab().toImage();
        QVERIFY(contrast(after.pixelColor(70, 2), before.pixelColor(70, 2)) >= 3);
        QCOMPARE(after.pixelColor(20, 15), before.pixelColor(20, 15));
    }

    void questionsHaveNoIcon() {
        const WindowStyle style;
        QVERIFY(style.standardIcon(QStyle::SP_MessageBoxQuestion).isNull());
        QVERIFY(style.standardIcon(QStyle::SP_MessageBoxWarning).isNull());
        QVERIFY(!style.standardIcon(QStyle::SP_DirIcon).isNull());  // of the file chooser
    }
};

NORMSCOPE_WIDGET_TEST(WindowStyleTest)
#include "window_style_test.moc"
