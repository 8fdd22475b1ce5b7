// SPDX-License-Identifier: GPL-3.0-or-later
// Files of token ids: every format gives the same windows; what is wrong is named with its position.
#include "core/train/data/tokens.h"

#include "core/base/error.h"
#include "core/train/data/text.h"
#include "tests/support/test_main.h"

#include <QDir>
#include <QTemporaryDir>
#include <QtTest>
#include <cmath>
#include <fstream>
#include <set>

using namespace normscope;

namespace {

constexpr int kTokenContext = 8;

/// 0, 1, 2, …: a window shows where it was taken.
std::vector<std::int64_t> counting(std::size_t count, std::int64_t from = 0) {
    std::vector<std::int64_t> ids(count);
    for (std::size_t i = 0; i < count; ++i) ids[i] = from + static_cast<std::int64_t>(i);
    return ids;
}

template <class T>
std::string packed(const std::vector<std::int64_t>& ids) {
    const std::vector<T> narrow(ids.begin(), ids.end());
    return {reinterpret_cast<const char*>(narrow.data()), narrow.size() * sizeof(T)};
}

std::string llm_c(std::int32_t magic, std::int32_t version, std::int32_t count, const std::string& data) {
    std::vector<std::int32_t> header(256);
    header[0] = magic, header[1] = version, header[2] = count;
    return std::string(reinterpret_cast<const char*>(header.data()), 1024) + data;
}

std::string npy(const std::string& type, const std::string& shape, const std::string& data) {
    std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
    header.resize(118, ' ');
    const auto length = static_cast<std::uint16_t>(header.size());
    return std::string("\x93NUMPY\1\0", 8) + std::string(reinterpret_cast<const char*>(&length), 2) + header +
           data;
}

}  // namespace

class TokensTest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;

    std::string put(const QString& name, const std::string& content) {
        const QString path = folder_.filePath(name);
        QDir().mkpath(QFileInfo(path).absolutePath());
        std::ofstream(path.toStdString(), std::ios::binary) << content;
        return path.toStdString();
    }
    static QString problem(const std::string& path, int vocab = 0) {
        try {
            TokensCorpus(path, 0.1, kTokenContext, vocab);
        } catch (const InputError& error) {
            return error.what();
        }
        return "accepted";
    }

  private Q_SLOTS:
    void everyFormatGivesTheSameWindows() {
        const auto ids = counting(1000);
        const std::string files[] = {put("a.bin", packed<std::uint16_t>(ids)),
                                     put("b.bin", llm_c(20240520, 1, 1000, packed<std::uint16_t>(ids))),
                                     put("c.bin", llm_c(20240801, 7, 1000, packed<std::uint32_t>(ids))),
                                     put("d.npy", npy("<u2", "1000,", packed<std::uint16_t>(ids))),
                                     put("e.npy", npy("<i4", "1000,", packed<std::int32_t>(ids))),
                                     put("f.npy", npy("<i8", "1000,", packed<std::int64_t>(ids)))};
        const Batch expected =
            TokensCorpus(files[0], 0.1, kTokenContext, 0).train_batch(42, 3, 0, 8, kTokenContext);
        for (const std::string& file : files) {
            const TokensCorpus corpus(file, 0.1, kTokenContext, 0);
            QCOMPARE(corpus.vocab(), 1000);
            QCOMPARE(corpus.train_size(), std::uint64_t{900});
            QVERIFY(std::abs(corpus.unigram_entropy() - std::log(1000.0)) < 1e-12);
            const Batch batch = corpus.train_batch(42, 3, 0, 8, kTokenContext);
            QCOMPARE(batch.tokens, expected.tokens);
            for (std::size_t i = 0; i < batch.tokens.size(); ++i) {
                QCOMPARE(batch.targets[i], batch.tokens[i] + 1);
                QVERIFY(batch.targets[i] < 900);
            }
            const Batch held = corpus.held_out_batch(42, 1, 8, kTokenContext);
            for (const std::int32_t token : held.tokens) QVERIFY(token >= 900);
        }
    }

    void shardsAreSplitByFile() {
        put("shards/data_train_000.bin", packed<std::uint16_t>(counting(100, 0)));
        put("shards/data_train_001.bin", packed<std::uint16_t>(counting(300, 1000)));
        put("shards/data_val_000.bin", packed<std::uint16_t>(counting(50, 5000)));
        const TokensCorpus corpus(folder_.filePath("shards").toStdString(), 0.1, kTokenContext, 6000);
        QCOMPARE(corpus.train_size(), std::uint64_t{400});
        QCOMPARE(corpus.vocab(), 6000);
        const Batch batch = corpus.train_batch(1, 0, 0, 200, kTokenContext);
        std::set<bool> files;
        for (int b = 0; b < 200; ++b) {
            const auto* row = batch.tokens.data() + b * kTokenContext;
            files.insert(row[0] >= 1000);
            for (int i = 1; i < kTokenContext; ++i) QCOMPARE(row[i], row[0] + i);  // no window crosses files
        }
        QCOMPARE(files.size(), std::size_t{2});
        for (const std::int32_t token : corpus.held_out_batch(1, 0, 8, kTokenContext).tokens)
            QVERIFY(token >= 5000);
    }

    void whatIsWrongIsNamedWithItsPosition_data() {
        QTest::addColumn<QString>("path");
        QTest::addColumn<int>("vocab");
        QTest::addColumn<QString>("words");
        const auto row = [](const char* name, const std::string& path, int vocab, const char* words) {
            QTest::newRow(name) << QString::fromStdString(path) << vocab << words;
        };
        auto wrapped = counting(200);
        wrapped[57] = 54010;
        row("id beyond the vocabulary", put("w.bin", packed<std::uint16_t>(wrapped)), 200,
            "token 57: is 54010, allowed: 0 … 199");
        auto negative = counting(200);
        negative[9] = -100;
        row("negative id", put("n.npy", npy("<i8", "200,", packed<std::int64_t>(negative))), 0,
            "token 9: is -100");
        row("odd length", put("odd.bin", packed<std::uint16_t>(counting(200)) + "x"), 0,
            "has 401 bytes, an odd number");
        row("32-bit ids", put("u4.bin", packed<std::uint32_t>(counting(200, 1))), 0,
            "ids of 32 bits without a header");
        row("short", put("short.bin", llm_c(20240520, 1, 300, packed<std::uint16_t>(counting(200)))), 0,
            "states 300 tokens");
        row("short npy", put("short.npy", npy("<u2", "300,", packed<std::uint16_t>(counting(200)))), 0,
            "states 300 tokens");
        row("floats", put("f.npy", npy("<f4", "200,", packed<float>(counting(200)))), 0, "holds \"'<f4'\"");
        row("two axes", put("2.npy", npy("<u2", "10, 20", packed<std::uint16_t>(counting(200)))), 0,
            "has the shape \"(10, 20)\"");
        row("no npy", put("t.npy", "some text that is long enough"), 0, "is no .npy file");
        row("text", put("t.txt", std::string(500, 'a')), 0, "no token file by its name");
        row("too few", put("few.bin", packed<std::uint16_t>(counting(20))), 0, "held out has 2 tokens");
        row("nowhere", "/nowhere/x.bin", 0, "No such file");
        QDir(folder_.path()).mkpath("empty");
        row("empty folder", folder_.filePath("empty").toStdString(), 0, "holds no token files");
    }
    void whatIsWrongIsNamedWithItsPosition() {
        QFETCH(QString, path);
        QFETCH(int, vocab);
        QFETCH(QString, words);
        const QString line = problem(path.toStdString(), vocab);
        QVERIFY2(line.contains(words) && !line.contains('\n'), qPrintable(line));
    }

    /// Before, these were trained on as text without a word.
    void tokensAndArchivesAreNoText_data() {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("words");
        const auto row = [&](const char* name, const std::string& content, const char* words) {
            QTest::newRow(words) << QString::fromStdString(put(name, content + std::string(2000, 'a')))
                                 << words;
        };
        row("a.txt", "PAR1", "Parquet");
        row("g.txt", std::string("\xff\xff\xff\xff\x38\0\0\0", 8), "Arrow stream");
        row("b.txt", "PK\3\4", "zip archive");
        row("c.txt", "\x1f\x8b", "gzip");
        row("d.txt", llm_c(20240520, 1, 3, {}), "token file of llm.c");
        row("e.txt", npy("<u2", "3,", {}), "array of NumPy");
        row("f.bin", packed<std::uint16_t>(counting(1000)), "bytes of value 0");
    }
    void tokensAndArchivesAreNoText() {
        QFETCH(QString, path);
        QFETCH(QString, words);
        try {
            TextCorpus(path.toStdString(), 0.1, kTokenContext);
            QFAIL("was accepted");
        } catch (const InputError& error) {
            QVERIFY2(QString(error.what()).contains(words), error.what());
        }
    }
};

NORMSCOPE_TEST(TokensTest)
#include "tokens_test.moc"
