// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QApplication>
#include <QFontDatabase>
#include <QtTest>

namespace normscope::test {

/// The program's font (app/main.cpp), for tests of what fits: without it the widths are another font's.
inline void useProgramFont() {
    QVERIFY2(QFontDatabase::hasFamily("Inter"), "fonts-inter is not installed");
    QFont font("Inter");
    font.setPixelSize(13);
    QApplication::setFont(font);
}

}  // namespace normscope::test
