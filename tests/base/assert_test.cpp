// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/assert.h"

#include "tests/base/assert_released.h"
#include "tests/support/test_main.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>
#include <csignal>
#include <string>

namespace {

struct Ended {
    int status = 0;
    std::string written;
};

/// How a child process that runs `body` ends, and what it writes on stderr.
template <class Body>
Ended in_child(const Body& body) {
    Ended ended;
    int ends[2];
    if (pipe(ends) != 0) return ended;
    const pid_t child = fork();
    if (child == 0) {
        const rlimit none{0, 0};
        setrlimit(RLIMIT_CORE, &none);
        std::signal(SIGABRT, SIG_DFL);  // Qt Test's handler would print a stack
        dup2(ends[1], STDERR_FILENO);
        body();
        _exit(0);
    }
    close(ends[1]);
    char buffer[4096];
    for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) ended.written.append(buffer, n);
    close(ends[0]);
    waitpid(child, &ended.status, 0);
    return ended;
}

}  // namespace

class AssertTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aBrokenInvariantEndsTheProgramWithOneLine() {
        const int line = __LINE__ + 1;
        const Ended ended = in_child([] { NORMSCOPE_ASSERT(1 + 1 == 3, "sums are right"); });
        QVERIFY(WIFSIGNALED(ended.status));
        QCOMPARE(WTERMSIG(ended.status), SIGABRT);
        QCOMPARE(ended.written,
                 __FILE__ ":" + std::to_string(line) + ": assertion failed: 1 + 1 == 3: sums are right\n");
    }
    void anInvariantThatHoldsIsEvaluatedOnce() {
        int evaluated = 0;
        NORMSCOPE_ASSERT(++evaluated == 1, "");
        QCOMPARE(evaluated, 1);
    }
    void theSwitchDoesNotDependOnNdebug() { QCOMPARE(NORMSCOPE_ASSERTIONS, 1); }
    void aReleaseBuildEvaluatesNothing() {
        int evaluated = 0;
        const Ended ended = in_child([] {
            int unused = 0;
            assert_in_release_build(unused);
        });
        QCOMPARE(ended.status, 0);
        assert_in_release_build(evaluated);
        QCOMPARE(evaluated, 0);
    }
};

NORMSCOPE_TEST(AssertTest)
#include "assert_test.moc"
