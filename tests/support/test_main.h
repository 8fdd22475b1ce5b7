// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <QtTest>

/// A folder's tests are one program, since linking takes longer than most tests run: each source registers
/// its class, and the program's first argument names the source without `_test.cpp`; the rest goes to Qt
/// Test.
namespace normscope::test {

/// Notes a test for main(). `file` and `test_class` are string literals, unique in the program, else main()
/// ends with an error: a second class of one name would be merged with the first by the linker.
class Registration {
  public:
    using Run = int (*)(int& argc, char** argv);
    Registration(const char* file, const char* test_class, Run run);
};

/// Makes the application, which every test of a class shares, and runs them; the exit code is the number of
/// failures.
template <class Application, class Test>
int run_test(int& argc, char** argv) {
    Application application(argc, argv);
    application.setAttribute(Qt::AA_Use96Dpi, true);
    Test test;
    return QTest::qExec(&test, argc, argv);
}

}  // namespace normscope::test

/// At the end of a test's source, before its moc file: a test without a window (QCoreApplication).
#define NORMSCOPE_TEST(Class) NORMSCOPE_TEST_WITH(QCoreApplication, Class)
/// The same for a test with widgets (QApplication), on whatever platform $QT_QPA_PLATFORM or the display
/// gives.
#define NORMSCOPE_WIDGET_TEST(Class) NORMSCOPE_TEST_WITH(QApplication, Class)

#define NORMSCOPE_TEST_WITH(Application, Class)                        \
    static const normscope::test::Registration normscope_registration( \
        __FILE__, #Class, &normscope::test::run_test<Application, Class>);
