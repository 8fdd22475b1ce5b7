// SPDX-License-Identifier: GPL-3.0-or-later
// The loader of the CUDA plug-in, with plug-ins made for it, with the real one where this machine has no
// driver, and through the command line.
#include "core/backend/plugin/load_cuda.h"

#include "core/backend/device.h"
#include "core/base/error.h"
#include "tests/cli/cli_process.h"
#include "tests/support/test_main.h"

#include <dlfcn.h>

#include <QTemporaryDir>
#include <QtTest>
#include <fstream>

using namespace normscope;

namespace {

QString missing(const std::vector<std::string>& paths) {
    const CudaCards cards = load_cuda(paths);
    if (cards.count != 0) return "there are cards";
    return QString::fromStdString(cards.missing);
}

}  // namespace

class LoadCudaTest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    QString path(const char* name) const { return folder_.filePath(name); }

  private Q_SLOTS:
    void whatIsMissing() {
        QCOMPARE(missing({"/nowhere/a.so", "/nowhere/b.so"}),
                 "no plug-in libnormscope_cuda.so, which a build with nvcc makes");
        QCOMPARE(missing({"/nowhere/a.so"}), "/nowhere/a.so does not exist");
        QCOMPARE(missing({""}), "NORMSCOPE_CUDA_PLUGIN is empty");
        QCOMPARE(missing({OLD_ABI}),
                 QString(OLD_ABI " is of another version of Normscope (its interface is not number %1)")
                     .arg(kCudaPluginAbi));
        QCOMPARE(missing({NO_CARD}), "no NVIDIA card");
        QCOMPARE(missing({"/nowhere/a.so", FAULTY}), "the fake card has a fault");
        const std::string text = path("text.so").toStdString();
        std::ofstream(text) << "no library\n";
        QVERIFY(missing({text}).startsWith(QString::fromStdString(text)));
        QVERIFY(!missing({text}).contains('\n'));
    }

    /// $NORMSCOPE_CUDA_PLUGIN, if set, is the only place.
    void places() {
        qputenv("NORMSCOPE_CUDA_PLUGIN", "/somewhere/plug-in.so");
        QCOMPARE(cuda_plugin_paths(), std::vector<std::string>{"/somewhere/plug-in.so"});
        qunsetenv("NORMSCOPE_CUDA_PLUGIN");
        const auto paths = cuda_plugin_paths();
        const QDir folder(QCoreApplication::applicationDirPath());
        const auto at = [&](const char* relative) {
            return QDir::cleanPath(folder.filePath(relative)).toStdString() + "/libnormscope_cuda.so";
        };
        QCOMPARE(paths, (std::vector<std::string>{at("."), at("../lib"), at("../../lib")}));
        qputenv("NORMSCOPE_CUDA_PLUGIN", "");
    }

    void cards() {
        const CudaCards cards = load_cuda({TWO_CARDS});
        QCOMPARE(cards.count, 2);
        QVERIFY(cards.missing.empty());
        QCOMPARE(QString::fromStdString(card_line(cards, 1)),
                 "Fake card, compute capability 9.0, 6.0 of 8.0 GiB free, driver CUDA 13.2");
        QVERIFY_THROWS_EXCEPTION(SystemError, card_line(cards, 2));
        QCOMPARE(QString::fromStdString(precision_line(formats_of_card(cards, 1))),
                 "precision fp32, fp64, tf32, bf16, fp16");
        QVERIFY_THROWS_EXCEPTION(SystemError, formats_of_card(cards, 2));
        QVERIFY_THROWS_EXCEPTION(SystemError, open_card(cards, 1));
    }

    /// The types of exceptions are the program's, though both sides hide their symbols.
    void exceptionsOfThePluginAreCaught() {
        Device& device = open_card(load_cuda({TWO_CARDS}), 0);
        QVERIFY_THROWS_EXCEPTION(SystemError, device.allocate(1));
        QVERIFY_THROWS_EXCEPTION(InputError, device.pass_ops<double>());
        QVERIFY_THROWS_EXCEPTION(std::bad_alloc, device.synchronize());
        bool other = false;
        try {
            device.allocate(1);
        } catch (const InputError&) {
            other = true;
        } catch (const std::runtime_error& error) {
            QCOMPARE(error.what(), "Fake card: out of memory: 3 MiB were requested");
        }
        QVERIFY(!other);
    }

    void realPluginWithoutDriver() {
#if !defined(REAL_PLUGIN)
        QSKIP("nvcc is not found: the plug-in is not built");
#else
        if (void* driver = dlopen("libcuda.so.1", RTLD_NOW)) {
            dlclose(driver);
            QSKIP("this machine has a driver");
        }
        QCOMPARE(missing({REAL_PLUGIN}), "no NVIDIA driver (libcuda.so.1 is not found)");
        qputenv("NORMSCOPE_CUDA_PLUGIN", REAL_PLUGIN);
        QVERIFY(run_cli({"devices"})
                    .out.contains("\ncuda  not available: no NVIDIA driver (libcuda.so.1 is not found)\n"));
        const CliResult result = run_cli({"train", "pre-ln", "--backend", "cuda", "--out", path("run.h5")});
        QCOMPARE(result.code, 2);
        QVERIFY(
            result.error.startsWith("normscope-cli: --backend: cuda is not available: no NVIDIA driver "
                                    "(libcuda.so.1 is not found), allowed: auto, cpu"));
        qputenv("NORMSCOPE_CUDA_PLUGIN", "");
#endif
    }

    void devicesCommand() {
        const auto lines = [](const char* plugin) {
            qputenv("NORMSCOPE_CUDA_PLUGIN", plugin);
            const CliResult result = run_cli({"devices"});
            return result.code == 0 ? result.out : result.error;
        };
        QVERIFY(lines(NO_CARD).contains("\ncuda  not available: no NVIDIA card\n"));
        QVERIFY(lines(NO_CARD).startsWith("cpu   "));
        const QString two = lines(TWO_CARDS);
        QVERIFY(two.contains("\ncuda  Fake card, compute capability 9.0, 6.0 of 8.0 GiB free"));
        QVERIFY(two.contains("\ncuda:1 Fake card, "));
        QVERIFY(two.contains("driver CUDA 13.2; precision fp32, fp64, tf32, bf16, fp16\n"));
        QVERIFY(two.contains("threads; precision fp32, fp64; tf32, bf16, fp16 emulated\n"));
        qputenv("NORMSCOPE_CUDA_PLUGIN", "");
    }

    void backendOption_data() {
        QTest::addColumn<QString>("command");
        QTest::addColumn<QString>("backend");
        QTest::addColumn<QString>("plugin");
        QTest::addColumn<int>("code");
        QTest::addColumn<QString>("line");
        const auto row = [](const char* name, const char* command, const char* backend, const char* plugin,
                            int code, const char* line) {
            QTest::newRow(name) << command << backend << plugin << code << line;
        };
        const char* its_own = "Fake card: no such arithmetic";  // an InputError that the card throws
        row("no card", "train", "cuda", NO_CARD, 2,
            "--backend: cuda is not available: no NVIDIA card, allowed: auto, cpu");
        row("no second card", "train", "cuda:2", TWO_CARDS, 2,
            "--backend: cuda:2 is not available, allowed: auto, cuda, cuda:1, cpu");
        row("no number", "train", "cuda:", TWO_CARDS, 2,
            "--backend: cuda: is not available, allowed: auto, cuda");
        row("of the CPU", "train", "cpu:1", TWO_CARDS, 2,
            "--backend: cpu:1 is not available, allowed: auto, cuda");
        row("unknown", "train", "tpu", NO_CARD, 2,
            "--backend: tpu is not available in this build, allowed: auto, cpu");
        row("that does not open", "train", "cuda:1", TWO_CARDS, 1, "cuda:1: the fake card has a fault");
        row("the card", "train", "cuda", TWO_CARDS, 2, its_own);
        row("the best", "train", "auto", TWO_CARDS, 2, its_own);
        row("bench", "bench", "cuda", TWO_CARDS, 2, its_own);
        row("probe", "probe", "cuda", TWO_CARDS, 2, its_own);
    }
    void backendOption() {
        QFETCH(QString, command);
        QFETCH(QString, backend);
        QFETCH(QString, plugin);
        QFETCH(int, code);
        QFETCH(QString, line);
        qputenv("NORMSCOPE_CUDA_PLUGIN", plugin.toUtf8());
        QStringList arguments{command};
        if (command != "bench") arguments << "pre-ln" << small_stack() << "--out" << path("run.h5");
        const CliResult result = run_cli(arguments << "--backend" << backend);
        qputenv("NORMSCOPE_CUDA_PLUGIN", "");
        QCOMPARE(result.code, code);
        QCOMPARE(result.error_lines().size(), 1);
        QVERIFY2(result.error.startsWith("normscope-cli: " + line), qPrintable(result.error));
    }
};

NORMSCOPE_TEST(LoadCudaTest)
#include "load_cuda_test.moc"
