// SPDX-License-Identifier: GPL-3.0-or-later
// Damaged model files: whatever the bytes, a reader gives a model that holds together or one line of
// InputError. The damage is the same in every run (a counter seeds it). Under the asan preset every read
// outside the file is caught: the bytes are in a block of exactly their size.
#include "core/base/error.h"
#include "core/interchange/model_file.h"
#include "core/model/parameters.h"
#include "core/train/data/token_texts.h"
#include "core/train/data/tokens.h"
#include "tests/interchange/sample_models.h"
#include "tests/support/test_main.h"

#include <QDir>
#include <QTemporaryDir>
#include <QtTest>
#include <cstring>
#include <fstream>
#include <random>

using namespace normscope;
using sample::Bytes;
using sample::ModelFile;

namespace {

/// Of each seed; NORMSCOPE_FUZZ_CASES for long runs.
int cases() {
    const int given = qEnvironmentVariableIntValue("NORMSCOPE_FUZZ_CASES");
    return given > 0 ? given : 3000;
}

using Random = std::mt19937_64;  // its sequence is fixed by the standard

std::size_t below(Random& random, std::size_t n) {
    return n == 0 ? 0 : static_cast<std::size_t>(random() % n);
}

/// What breaks readers: extremes of every width, JSON's own signs, texts that mean something.
const std::vector<std::string>& tokens() {
    static const std::vector<std::string> all{std::string(8, '\xff'),
                                              std::string(4, '\xff'),
                                              std::string(8, '\0'),
                                              std::string("\0\0\0\x80", 4),
                                              std::string("\xff\xff\xff\x7f", 4),
                                              std::string("\1\0\0\0", 4),
                                              "18446744073709551615",
                                              "18446744073709551616",
                                              "-1",
                                              "1e999",
                                              "1e-5",
                                              "0",
                                              "4294967296",
                                              "null",
                                              "true",
                                              "{",
                                              "}",
                                              "[",
                                              "]",
                                              "\"",
                                              ",",
                                              ":",
                                              "\\u0000",
                                              "\"F16\"",
                                              "\"I64\"",
                                              "\"shape\"",
                                              "\"__metadata__\"",
                                              "\"dtype\":\"F32\",",
                                              "\n",
                                              "lm_head.weight",
                                              "\xc3\x28"};
    return all;
}

void overwrite(Bytes& bytes, std::size_t at, const std::string& text) {
    for (std::size_t i = 0; i < text.size() && at + i < bytes.size(); ++i)
        bytes[at + i] = static_cast<std::byte>(text[i]);
}

void insert(Bytes& bytes, std::size_t at, const std::string& text) {
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), begin, begin + text.size());
}

/// Half of all damage falls on the first bytes, where the sizes are.
std::size_t somewhere(Random& random, const Bytes& bytes) {
    return below(random, random() % 2 ? bytes.size() : std::min<std::size_t>(bytes.size(), 64));
}

void damage(Random& random, Bytes& bytes, const Bytes& other) {
    const auto offset = [&](std::size_t at) { return bytes.begin() + static_cast<std::ptrdiff_t>(at); };
    switch (below(random, 8)) {
        case 0:
        case 1:
            if (!bytes.empty())
                bytes[somewhere(random, bytes)] ^= static_cast<std::byte>(1u << below(random, 8));
            break;
        case 2:
            overwrite(bytes, somewhere(random, bytes), tokens()[below(random, tokens().size())]);
            break;
        case 3:
            insert(bytes, somewhere(random, bytes), tokens()[below(random, tokens().size())]);
            break;
        case 4:
            bytes.resize(below(random, bytes.size() + 1));
            break;
        case 5:
            bytes.resize(bytes.size() + 1 + below(random, 64), static_cast<std::byte>(random()));
            break;
        case 6: {  // a piece is gone
            const std::size_t at = somewhere(random, bytes),
                              count = below(random, std::min<std::size_t>(bytes.size() - at, 64) + 1);
            bytes.erase(offset(at), offset(at + count));
            break;
        }
        default: {  // a piece of another file
            const std::size_t from = below(random, other.size()),
                              count = below(random, std::min<std::size_t>(other.size() - from, 256) + 1);
            const std::string piece(reinterpret_cast<const char*>(other.data()) + from, count);
            if (random() % 2)
                insert(bytes, somewhere(random, bytes), piece);
            else
                overwrite(bytes, somewhere(random, bytes), piece);
        }
    }
}

/// Safetensors keep their header's length right in half the cases, so that the damage reaches the rest.
void fix_length(Bytes& bytes) {
    const auto end = std::find(bytes.rbegin(), bytes.rend(), static_cast<std::byte>('}'));
    const auto length = static_cast<std::uint64_t>(bytes.rend() - end);
    if (length <= 8) return;
    const std::uint64_t header = length - 8;
    std::memcpy(bytes.data(), &header, sizeof header);
}

Bytes bytes_of(const std::string& text) {
    Bytes bytes;
    insert(bytes, 0, text);
    return bytes;
}

struct Tally {
    int models = 0, rejections = 0;
};

/// One case. A model that is accepted must be whole.
void read(const ModelFile& file, Tally& tally) {
    const std::vector<std::byte> exact(file.bytes);
    try {
        const ImportedModel model = import_model({exact.data(), exact.size()}, file.config, file.path);
        const ParameterTable table(model.recipe.stack);
        QCOMPARE(model.weights.size(), table.tensors().size());
        for (std::size_t t = 0; t < model.weights.size(); ++t) {
            const StoredTensor& tensor = model.weights[t];
            QCOMPARE(tensor.name, table.tensors()[t].name);
            QCOMPARE(tensor.bytes.size(),
                     table.tensors()[t].count * (tensor.type == StoredType::Float64 ? 8 : 4));
        }
        ++tally.models;
    } catch (const InputError& error) {
        QVERIFY2(std::strchr(error.what(), '\n') == nullptr, error.what());
        QVERIFY(std::strlen(error.what()) > 10);
        ++tally.rejections;
    }
}

/// 400 tokens below 300 in every format.
std::vector<Bytes> token_files() {
    const auto packed = [](auto zero, std::vector<std::int32_t> header) {
        Bytes bytes;
        const auto append = [&](auto value) {
            bytes.resize(bytes.size() + sizeof value);
            std::memcpy(bytes.data() + bytes.size() - sizeof value, &value, sizeof value);
        };
        for (const std::int32_t value : header) append(value);
        for (int i = 0; i < 400; ++i) append(static_cast<decltype(zero)>(i * 7 % 300));
        return bytes;
    };
    const auto header = [](std::int32_t magic) {
        std::vector<std::int32_t> values(256);
        values[0] = magic, values[1] = 1, values[2] = 400;
        return values;
    };
    const auto npy = [](const std::string& type, const Bytes& data) {
        std::string text = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (400,), }";
        text.resize(118, ' ');
        Bytes bytes = bytes_of(std::string("\x93NUMPY\1\0\x76\0", 10) + text);
        bytes.insert(bytes.end(), data.begin(), data.end());
        return bytes;
    };
    const std::uint16_t narrow = 0;
    return {packed(narrow, {}), packed(narrow, header(20240520)), packed(std::uint32_t{}, header(20240801)),
            npy("<u2", packed(narrow, {})), npy("<i8", packed(std::int64_t{}, {}))};
}

}  // namespace

class FuzzInterchange : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;

  private Q_SLOTS:
    void damagedTokenFiles_data() {
        QTest::addColumn<int>("seed");
        const char* names[] = {"nanogpt", "llm.c", "llm.c Llama 3", "npy 16", "npy 64"};
        for (int i = 0; i < 5; ++i) QTest::newRow(names[i]) << i;
    }
    /// A corpus that is accepted serves every batch, or names the token that it does not know.
    void damagedTokenFiles() {
        QFETCH(int, seed);
        const std::vector<Bytes> whole = token_files();
        const char* ending = seed < 3 ? "x.bin" : "x.npy";
        const std::string path = folder_.filePath(ending).toStdString();
        Tally tally;
        for (int n = 0; n < cases(); ++n) {
            Random random(static_cast<std::uint64_t>(100 + seed) << 32 | static_cast<std::uint64_t>(n));
            Bytes bytes = whole[static_cast<std::size_t>(seed)];
            for (std::uint64_t i = below(random, 4); i > 0; --i)
                damage(random, bytes, whole[below(random, whole.size())]);
            std::ofstream(path, std::ios::binary)
                .write(reinterpret_cast<const char*>(bytes.data()),
                       static_cast<std::streamsize>(bytes.size()));
            try {
                const TokensCorpus corpus(path, 0.2, 8, random() % 2 ? 300 : 0);
                for (const Batch& batch :
                     {corpus.train_batch(1, n, 0, 2, 8), corpus.held_out_batch(1, n, 2, 8)})
                    for (const std::int32_t token : batch.targets)
                        QVERIFY(token >= 0 && token < corpus.vocab());
                ++tally.models;
            } catch (const InputError& error) {
                QVERIFY2(std::strchr(error.what(), '\n') == nullptr, error.what());
                ++tally.rejections;
            }
        }
        QVERIFY2(tally.models > cases() / 100, qPrintable(QString::number(tally.models)));
        QVERIFY2(tally.rejections > cases() / 10, qPrintable(QString::number(tally.rejections)));
        qInfo("%d corpora, %d rejections", tally.models, tally.rejections);
    }

    void damagedTokenizers() {
        const Bytes whole[] = {
            bytes_of(
                R"({"model":{"type":"BPE","vocab":{"a":0,"Ġthe":1,"Ċ":2,"Ã":3}},"decoder":{"type":"ByteLevel"},)"
                R"("added_tokens":[{"id":4,"content":"<|endoftext|>","special":true}]})"),
            bytes_of(
                R"({"model":{"type":"Unigram","vocab":[["<unk>",0.0],["▁the",-2.5],["<0x0A>",-3],["\n",-4]]},)"
                R"("pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Metaspace"}]}})")};
        Tally tally;
        for (int n = 0; n < cases(); ++n) {
            Random random(std::uint64_t{8} << 32 | static_cast<std::uint64_t>(n));
            Bytes bytes = whole[n % 2];
            for (std::uint64_t i = below(random, 4); i > 0; --i)
                damage(random, bytes, whole[below(random, 2)]);
            const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
            try {
                const TokenTexts texts = TokenTexts::of_tokenizer(text, "t.json");
                for (int token = -1; token < 8; ++token) {
                    const std::string of = texts.of(token);
                    QVERIFY(std::none_of(of.begin(), of.end(),
                                         [](char c) { return static_cast<unsigned char>(c) < 0x20; }));
                    QCOMPARE(visible_text(of), of);  // it is UTF-8 that can be seen
                }
                ++tally.models;
            } catch (const InputError& error) {
                QVERIFY2(std::strchr(error.what(), '\n') == nullptr, error.what());
                ++tally.rejections;
            }
        }
        QVERIFY(tally.models > cases() / 100 && tally.rejections > cases() / 10);
        qInfo("%d tokenizers, %d rejections", tally.models, tally.rejections);
    }

    void damagedIndexes() {
        const QDir folder(folder_.path());
        const sample::Bytes model = sample::llama(false).bytes;
        std::ofstream(folder.filePath("model-1.safetensors").toStdString(), std::ios::binary)
            .write(reinterpret_cast<const char*>(model.data()), static_cast<std::streamsize>(model.size()));
        std::ofstream(folder.filePath("config.json").toStdString()) << *sample::llama(false).config;
        std::string map;
        for (const auto& [name, shape] : sample::llama_tensors(false))
            map += (map.empty() ? "\"" : ",\"") + name + "\":\"model-1.safetensors\"";
        const Bytes whole = bytes_of(R"({"metadata":{"total_size":1},"weight_map":{)" + map + "}}");
        const std::string path = folder.filePath("model.safetensors.index.json").toStdString();
        Tally tally;
        for (int n = 0; n < cases() / 4; ++n) {
            Random random(std::uint64_t{7} << 32 | static_cast<std::uint64_t>(n));
            Bytes bytes = whole;
            for (std::uint64_t i = below(random, 3); i > 0; --i) damage(random, bytes, whole);
            std::ofstream(path, std::ios::binary)
                .write(reinterpret_cast<const char*>(bytes.data()),
                       static_cast<std::streamsize>(bytes.size()));
            try {
                import_model(path);
                ++tally.models;
            } catch (const InputError& error) {
                QVERIFY2(std::strchr(error.what(), '\n') == nullptr, error.what());
                ++tally.rejections;
            }
        }
        QVERIFY(tally.models > 0 && tally.rejections > cases() / 16);
        qInfo("%d models, %d rejections", tally.models, tally.rejections);
    }

    void damagedFiles_data() {
        QTest::addColumn<int>("seed");
        const char* names[] = {
            "gpt2",       "nanogpt",  "llama",  "llama tied", "llama2.c", "llama2.c untied", "llm.c",
            "llm.c bf16", "gpt_neox", "gemma3", "gpt_j",      "vit",      "timm_vit",        "gguf"};
        for (int i = 0; i < 14; ++i) QTest::newRow(names[i]) << i;
    }
    void damagedFiles() {
        QFETCH(int, seed);
        const ModelFile seeds[] = {sample::gpt2(true),  sample::gpt2(false),    sample::llama(false),
                                   sample::llama(true), sample::llama2_c(true), sample::llama2_c(false),
                                   sample::llm_c(3),    sample::llm_c(5),       sample::neox(),
                                   sample::gemma3(),    sample::gpt_j(),        sample::vit(false),
                                   sample::vit(true),   sample::gguf()};
        const ModelFile& whole = seeds[seed];
        Tally tally;
        read(whole, tally);
        QCOMPARE(tally.models, 1);
        for (int n = 0; n < cases(); ++n) {
            Random random(static_cast<std::uint64_t>(seed) << 32 | static_cast<std::uint64_t>(n));
            ModelFile file = whole;
            const ModelFile& other = seeds[below(random, std::size(seeds))];
            const int hits = 1 + static_cast<int>(below(random, 4));
            const bool config = file.config && random() % 4 == 0;
            Bytes text = config ? bytes_of(*file.config) : Bytes{};
            for (int i = 0; i < hits; ++i)
                damage(random, config ? text : file.bytes,
                       config && other.config ? bytes_of(*other.config) : other.bytes);
            if (config)
                file.config = std::string(reinterpret_cast<const char*>(text.data()), text.size());
            else if (file.config && random() % 2)
                fix_length(file.bytes);
            read(file, tally);
            if (QTest::currentTestFailed()) qFatal("case %d of seed %d", n, seed);
        }
        // Both ends are reached: damage to numbers alone leaves a model, most other damage none.
        QVERIFY2(tally.models > cases() / 100, qPrintable(QString::number(tally.models)));
        QVERIFY2(tally.rejections > cases() / 3, qPrintable(QString::number(tally.rejections)));
        qInfo("%d models, %d rejections", tally.models, tally.rejections);
    }
};

NORMSCOPE_TEST(FuzzInterchange)
#include "interchange_test.moc"
