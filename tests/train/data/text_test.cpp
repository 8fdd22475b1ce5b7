// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/data/text.h"

#include "core/base/error.h"
#include "tests/support/test_main.h"

#include <sys/resource.h>

#include <QTemporaryDir>
#include <QtTest>
#include <cmath>
#include <fstream>

using namespace normscope;

class TextTest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;

    std::string write(const QString& name, const std::string& bytes) {
        const std::string path = folder_.filePath(name).toStdString();
        std::ofstream(path, std::ios::binary) << bytes;
        return path;
    }

    /// The message that the constructor throws; empty when it does not.
    static QString rejection(const std::string& path, double held_out = 0.1, int context = 8) {
        try {
            TextCorpus corpus(path, held_out, context);
        } catch (const InputError& error) {
            return QString::fromStdString(error.what());
        }
        return {};
    }

  private Q_SLOTS:
    void entropyOfTheWholeFile() {
        // a: 1/2, b: 1/4, c and the byte 255: 1/8
        std::string bytes;
        for (int i = 0; i < 100; ++i) bytes += "aabacab\xff";
        const TextCorpus corpus(write("dyadic", bytes), 0.1, 8);
        QCOMPARE(corpus.unigram_entropy(), 1.75 * std::log(2.0));
        QVERIFY(std::isnan(corpus.entropy_rate()));
        QCOMPARE(corpus.vocab(), 256);
    }

    void entropyGivenTheBytesBefore() {
        // aab aab …: after an a follow a and b alike; two bytes determine the next.
        std::string bytes = "a";
        for (int i = 0; i < 1000; ++i) bytes += "aba";
        const TextCorpus corpus(write("periodic", bytes), 0.1, 8);
        QVERIFY(std::abs(corpus.entropy_given(1) - 2 * std::log(2.0) / 3) < 1e-3);
        QCOMPARE(corpus.entropy_given(2), 0.0);
        const LossLevels levels = corpus.levels();
        QCOMPARE(levels.bigram_entropy, corpus.entropy_given(1));
        QCOMPARE(levels.trigram_entropy, corpus.entropy_given(2));
        QCOMPARE(levels.ln_vocab, std::log(256.0));
    }

    // A file whose bytes encode their offset: windows are true windows, of the front or of the tail, up to
    // their ends.
    void windowsStayInTheirPart() {
        std::string bytes;
        for (int i = 0; i < 250; ++i) bytes += static_cast<char>(i);
        const TextCorpus corpus(write("ramp", bytes), 0.1, 8);
        QCOMPARE(corpus.train_size(), std::size_t{225});
        int least = 1000, greatest = -1, least_held = 1000, greatest_held = -1;
        for (int step = 0; step < 500; ++step) {
            for (const bool held : {false, true}) {
                const Batch batch =
                    held ? corpus.held_out_batch(1, step, 4, 8) : corpus.train_batch(1, step, 0, 4, 8);
                for (std::size_t i = 0; i < batch.tokens.size(); ++i) {
                    QCOMPARE(batch.targets[i], batch.tokens[i] + 1);
                    int& low = held ? least_held : least;
                    int& high = held ? greatest_held : greatest;
                    low = std::min(low, batch.tokens[i]);
                    high = std::max(high, batch.targets[i]);
                }
            }
        }
        QCOMPARE(least, 0);
        QCOMPARE(greatest, 224);
        QCOMPARE(least_held, 225);
        QCOMPARE(greatest_held, 249);
        QVERIFY_EXCEPTION_THROWN(corpus.held_out_batch(1, 0, 1, 25), InputError);  // 25 bytes hold 24 tokens
        QCOMPARE(corpus.held_out_batch(1, 0, 1, 24).tokens.front(), 225);
    }

    void smallestFile() {
        QCOMPARE(rejection(write("smallest", std::string(18, 'x')), 0.5), QString());
        const QString short_by_one = rejection(write("short", std::string(17, 'x')), 0.5);
        for (const char* part : {"short", "17 bytes", "8 are for training", "9 held out", "context + 1 = 9"})
            QVERIFY2(short_by_one.contains(part), qPrintable(short_by_one));
        QVERIFY(rejection(write("tail", std::string(80, 'x')), 0.1).contains("8 held out"));
    }

    void unusableFiles() {
        const std::string missing = folder_.filePath("missing").toStdString();
        QCOMPARE(rejection(missing), QString::fromStdString(missing) + ": no such file");
        QVERIFY(rejection(folder_.path().toStdString()).contains("is a directory"));
        QVERIFY(rejection(write("empty", "")).contains("is empty"));
        QVERIFY(rejection("").contains("data.path"));
        QVERIFY(rejection("/dev/null").contains("not a regular file"));
        QVERIFY(rejection(write("file", "x") + "/below").contains("file/below"));
    }

    void unreadableFile() {
        // Permissions would not stop root; a process that may open no more files can open none, whoever runs
        // it.
        const std::string path = write("secret", std::string(100, 'x'));
        rlimit before{};
        QCOMPARE(getrlimit(RLIMIT_NOFILE, &before), 0);
        const rlimit none{0, before.rlim_max};
        QCOMPARE(setrlimit(RLIMIT_NOFILE, &none), 0);
        const QString message = rejection(path);
        QCOMPARE(setrlimit(RLIMIT_NOFILE, &before), 0);
        QVERIFY2(message.contains("cannot be opened"), qPrintable(message));
    }

    void heldOutShareOutOfRange() {
        const std::string path = write("fine", std::string(1000, 'x'));
        for (const double share : {0.0, 1.0, -0.1, 1.5, std::nan("")})
            QVERIFY(rejection(path, share).startsWith("data.held_out: "));
        QVERIFY(rejection(path, 0.5).isEmpty());
    }
};

NORMSCOPE_TEST(TextTest)
#include "text_test.moc"
