// SPDX-License-Identifier: GPL-3.0-or-later
// Libraries that are opened at run time, and the line where one, or a function of it, is missing.
#include "core/backend/plugin/library_functions.h"

#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>

using namespace normscope;

class TestLibraryFunctions : public QObject {
    Q_OBJECT
    using Function = double(double);

  private Q_SLOTS:
    void theFirstThatCanBeOpened() {
        LibraryFunctions library("libm", "libm.so.6", {"/nowhere/libm.so.6", "libm.so.6"});
        Function* cosine = nullptr;
        library.find(cosine, "cos");
        QCOMPARE(library.missing(), std::string());
        QCOMPARE(cosine(0.5), std::cos(0.5));
    }

    void theFirstMissingFunctionIsNamed() {
        LibraryFunctions library("libm", "libm.so.6", {"libm.so.6"});
        Function *none = nullptr, *other = nullptr, *cosine = nullptr;
        library.find(none, "cosine_of_nothing");
        library.find(other, "sine_of_nothing");
        library.find(cosine, "cos");
        QCOMPARE(library.missing(), std::string("libm has no function cosine_of_nothing"));
        QVERIFY(!none && !other && cosine);
    }

    void noLibrary() {
        LibraryFunctions library("libnone", "libnone.so.1 or libnone.so.2", {"libnone.so.1", "libnone.so.2"});
        Function* cosine = nullptr;
        library.find(cosine, "cos");
        QVERIFY(!cosine);
        QCOMPARE(library.missing(),
                 std::string("no libnone (libnone.so.1 or libnone.so.2 on the dynamic linker's path)"));
    }
};

NORMSCOPE_TEST(TestLibraryFunctions)
#include "library_functions_test.moc"
