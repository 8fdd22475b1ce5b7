// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stack/stack_spec.h"

#include "core/base/error.h"
#include "core/stack/json_fields.h"
#include "tests/support/test_main.h"

#include <QRegularExpression>
#include <QtTest>

using namespace normscope;

namespace {

StackSpec read(const char* text) {
    const auto object = nlohmann::json::parse(text);
    StackSpec spec;
    JsonReader reader(object, "stack");
    list_fields(reader, spec);
    reader.reject_unknown_keys();
    return spec;
}

}  // namespace

class StackSpecTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void blockSetsDefaultsThatLaterKeysOverride() {
        const StackSpec llama = read(R"({"activation": "silu", "block": "llama"})");
        QCOMPARE(llama.activation, Activation::Silu);
        QVERIFY(!llama.bias);
        QCOMPARE(llama.position, Position::Rope);
        QCOMPARE(llama.norm.kind, NormKind::RmsNorm);
        QCOMPARE(llama.norm.eps, 1e-6);
        const StackSpec gpt2 = read(R"({"block": "gpt2"})");
        QCOMPARE(gpt2.activation, Activation::GeluTanh);
        QCOMPARE(gpt2.norm.eps, 1e-5);
    }

    void completionFillsWhatIsAuto() {
        StackSpec spec = read(R"({"d_model": 10, "heads": 5, "d_ff": "auto"})");
        complete(spec, 31);
        QCOMPARE(spec.kv_heads, 5);
        QCOMPARE(spec.d_ff, 40);
        QCOMPARE(spec.vocab, 31);
        QCOMPARE(spec.d_head(), 2);
        StackSpec given = read(R"({"d_model": 10, "heads": 5, "kv_heads": 1, "d_ff": 7, "vocab": 99})");
        complete(given, 31);
        QCOMPARE(given.kv_heads, 1);
        QCOMPARE(given.d_ff, 7);
        QCOMPARE(given.vocab, 99);
    }

    void smallestStackIsValid() {
        const auto with = [](const QString& key, int value) {
            QString text =
                QStringLiteral(R"({"depth": 1, "d_model": 1, "heads": 1, "context": 1, "vocab": 2})");
            text.replace(QRegularExpression("\"" + key + "\": \\d"),
                         QString("\"%1\": %2").arg(key).arg(value));
            StackSpec spec = read(text.toUtf8().constData());
            complete(spec, 2);
            validate(spec);
            return spec;
        };
        QCOMPARE(with("depth", 1).d_model, 1);
        // Each of its sizes is the smallest.
        for (const char* key : {"depth", "d_model", "heads", "context"})
            QVERIFY_THROWS_EXCEPTION(InputError, with(key, 0));
        QVERIFY_THROWS_EXCEPTION(InputError, with("vocab", 1));
    }

    void divisibility_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("key");
        QTest::newRow("heads") << R"({"d_model": 10, "heads": 4})"
                               << "stack.heads: 4 does not divide d_model 10";
        QTest::newRow("kv_heads") << R"({"d_model": 8, "heads": 4, "kv_heads": 3})"
                                  << "stack.kv_heads: 3 does not divide heads 4";
        QTest::newRow("rope") << R"({"d_model": 9, "heads": 3, "position": "rope"})"
                              << "stack.position: rope";
    }
    void divisibility() {
        QFETCH(QString, text);
        QFETCH(QString, key);
        StackSpec spec = read(text.toUtf8().constData());
        complete(spec, 2);
        try {
            validate(spec);
            QFAIL("no error");
        } catch (const InputError& error) {
            QVERIFY2(QString(error.what()).startsWith(key), error.what());
        }
    }

    void finalNormOfAuto() {
        StackSpec spec;
        for (Scheme scheme : {Scheme::Post, Scheme::DeepNorm}) {
            spec.scheme = scheme;
            spec.block = Block::Gpt2;
            QVERIFY(!has_final_norm(spec));
            spec.block = Block::Llama;
            QVERIFY(has_final_norm(spec));
            spec.block = Block::Gpt2;
            spec.final_norm = FinalNorm::On;
            QVERIFY(has_final_norm(spec));
            spec.final_norm = FinalNorm::Auto;
        }
        for (Scheme scheme : {Scheme::None, Scheme::Pre, Scheme::Peri, Scheme::Mix, Scheme::Lns,
                              Scheme::Output, Scheme::Custom}) {
            spec.scheme = scheme;
            QVERIFY(has_final_norm(spec));
            spec.final_norm = FinalNorm::Off;
            QVERIFY(!has_final_norm(spec));
            spec.final_norm = FinalNorm::Auto;
        }
    }

    void everyWordOfEveryChoiceIsRead() {
        for (const char* word : words_of<Scheme>()) {
            const StackSpec spec = read((std::string(R"({"scheme": ")") + word + "\"}").c_str());
            QCOMPARE(std::string(word_of(spec.scheme)), std::string(word));
        }
        for (const char* word : words_of<GateSite>())
            QCOMPARE(word_of(read((std::string(R"({"gpas": {"site": ")") + word + "\"}}").c_str()).gpas.site),
                     word);
    }
};

NORMSCOPE_TEST(StackSpecTest)
#include "stack_spec_test.moc"
