// SPDX-License-Identifier: GPL-3.0-or-later
// The trapping device traps: a host read of its memory, a host write, and an operation that is given host
// memory.
#include "tests/backend/trapping_device.h"

#include "core/backend/pass_ops.h"
#include "tests/support/test_main.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>
#include <csignal>
#include <functional>

using namespace normscope;

namespace {

/// The signal that ends `body` in a process of its own; 0 where it returns.
int signal_of(const std::function<void()>& body) {
    const pid_t child = fork();
    if (child == 0) {
        const rlimit none{0, 0};
        setrlimit(RLIMIT_CORE, &none);
        std::signal(SIGSEGV, SIG_DFL);
        std::signal(SIGABRT, SIG_DFL);
        if (!std::freopen("/dev/null", "w", stderr)) _exit(1);
        body();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

}  // namespace

class TrappingDeviceTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void copiesArriveAndViewsReadThem() {
        TrappingDevice device;
        Buffer<float> a;
        a.upload(device, {1.0f, 2.0f, 3.0f});
        const Buffer<float> b = a;
        QVERIFY(b.data() != a.data());
        QCOMPARE(b.values(), (std::vector<float>{1, 2, 3}));
        QCOMPARE(HostView<float>(b)[2], 3.0f);
        HostEdit<float> edit(device, a.data(), 3);
        for (int i = 0; i < 3; ++i) edit.data()[i] = 7;
        QCOMPARE(a.values(), (std::vector<float>{1, 2, 3}));
        edit.commit();
        QCOMPARE(a.values(), (std::vector<float>{7, 7, 7}));
    }

    void hostReadsAndWritesEndTheProcess() {
        TrappingDevice device;
        Buffer<float> a;
        a.upload(device, {1.0f, 2.0f});
        volatile float* address = a.data();
        QCOMPARE(signal_of([&] { (void)address[1]; }), SIGSEGV);
        QCOMPARE(signal_of([&] { address[0] = 3; }), SIGSEGV);
        QCOMPARE(signal_of([&] { (void)a.values(); }), 0);
    }

    void operationsTakeDeviceMemoryAlone() {
        TrappingDevice device;
        Buffer<float> x;
        x.upload(device, {1.0f, 2.0f});
        Buffer<float> twice(device, 2), factor;
        factor.upload(device, {2.0f});
        ElementwiseOps<float>& ops = device.pass_ops<float>().elementwise;
        ops.scale(2, factor.data(), x.data(), twice.data());
        QCOMPARE(twice.values(), (std::vector<float>{2, 4}));
        QCOMPARE(device.operations(), std::size_t{1});
        const float on_host = 2;
        std::vector<float> host(2);
        QCOMPARE(signal_of([&] { ops.scale(2, &on_host, x.data(), twice.data()); }), SIGABRT);
        QCOMPARE(signal_of([&] { ops.scale(2, factor.data(), x.data(), host.data()); }), SIGABRT);
        QCOMPARE(signal_of([&] { device.upload(host.data(), host.data(), 8); }), SIGABRT);
    }

    void memoryComesBack() {
        TrappingDevice device;
        {
            Buffer<double> a(device, 100), b(device, 1000), c(device, 10);
            b = Buffer<double>();
            Buffer<double> again(device, 500);
            QVERIFY(device.in_use() > 600 * sizeof(double));
        }
        QCOMPARE(device.in_use(), std::size_t{0});
        QVERIFY_EXCEPTION_THROWN(Buffer<double>(device, device.memory().total), std::exception);
    }
};

NORMSCOPE_TEST(TrappingDeviceTest)
#include "trapping_device_test.moc"
