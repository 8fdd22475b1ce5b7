// SPDX-License-Identifier: GPL-3.0-or-later
// The texts of tokens: of bytes, and of the tokenizer.json of each kind of tokenizer.
#include "core/train/data/token_texts.h"

#include "core/base/error.h"
#include "core/train/data/corpus.h"
#include "tests/support/test_main.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

using namespace normscope;

namespace {

TokenTexts of_json(const std::string& model, const std::string& more = "") {
    return TokenTexts::of_tokenizer("{\"model\":" + model + more + "}", "t.json");
}

QString problem_of(const std::string& json) {
    try {
        TokenTexts::of_tokenizer(json, "t.json");
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

}  // namespace

class TokenTextsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void bytesAreSeen() {
        DataSpec data;
        data.source = DataSource::Text;
        const TokenTexts texts = TokenTexts::of(data);
        QCOMPARE(texts.of('e'), std::string("e"));
        QCOMPARE(texts.of(' '), std::string(" "));
        QCOMPARE(texts.of('\n'), std::string("\\n"));
        QCOMPARE(texts.of(0), std::string("\\x00"));
        QCOMPARE(texts.of(0x7f), std::string("\\x7f"));
        QCOMPARE(texts.of(0xc3), std::string("\\xc3"));  // half of a character
        QCOMPARE(texts.of(256), std::string("#256"));
        data.source = DataSource::Markov;
        QVERIFY(TokenTexts::of(data).empty());
    }

    void whatIsNoCharacterIsWrittenOut_data() {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("text");
        const auto row = [](const char* name, const QByteArray& bytes, const char* text) {
            QTest::newRow(name) << bytes << QString::fromUtf8(text);
        };
        row("letters", "naïve", "naïve");
        row("four bytes", "\xf0\x9f\x99\x82", "🙂");
        row("cut off", "a\xe2\x96", "a\\xe2\\x96");
        row("a tail alone", "\x96z", "\\x96z");
        row("overlong", "\xc0\x80", "\\xc0\\x80");
        row("overlong, three", "\xe0\x80\x80", "\\xe0\\x80\\x80");
        row("surrogate", "\xed\xa0\x80", "\\xed\\xa0\\x80");
        row("beyond Unicode", "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
        row("controls", "\t\r\x1f", "\\t\\r\\x1f");
        row("C1 control", "\xc2\x85", "\\xc2\\x85");
        row("no-break space", "\xc2\xa0", "\u00a0");
        row("empty", "", "");
    }
    void whatIsNoCharacterIsWrittenOut() {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, text);
        QCOMPARE(QString::fromStdString(visible_text(bytes.toStdString())), text);
    }

    /// As GPT-2's encoder.py writes bytes: a space is Ġ, a line break Ċ, é the two bytes Ã ©.
    void byteLevel() {
        const char* const model = R"({"type":"BPE","vocab":{"the":0,"Ġthe":1,"Ċ":2,"cafÃ©":3,"Ã":4,"ł":5}})";
        for (
            const char* const pipeline :
            {R"(,"decoder":{"type":"ByteLevel"})", R"(,"pre_tokenizer":{"type":"ByteLevel"})",
             R"(,"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split"},{"type":"ByteLevel"}]})"}) {
            const TokenTexts texts = of_json(
                model, std::string(pipeline) + R"(,"added_tokens":[{"id":7,"content":"<|endoftext|>"}])");
            QCOMPARE(texts.of(0), std::string("the"));
            QCOMPARE(texts.of(1), std::string(" the"));
            QCOMPARE(texts.of(2), std::string("\\n"));
            QCOMPARE(texts.of(3), std::string("café"));
            QCOMPARE(texts.of(4), std::string("\\xc3"));
            QCOMPARE(texts.of(5), std::string("\\xa0"));
            QCOMPARE(texts.of(7), std::string("<|endoftext|>"));
            QCOMPARE(texts.of(6), std::string("#6"));
        }
    }

    void sentencePiece() {
        const TokenTexts bpe =
            of_json(R"({"type":"BPE","vocab":{"<s>":1,"▁the":2,"<0x0A>":3,"<0xE2>":4,"\n":5}})");
        QCOMPARE(bpe.of(1), std::string("<s>"));
        QCOMPARE(bpe.of(2), std::string(" the"));
        QCOMPARE(bpe.of(3), std::string("\\n"));
        QCOMPARE(bpe.of(4), std::string("\\xe2"));
        QCOMPARE(bpe.of(5), std::string("\\n"));
        const TokenTexts unigram =
            of_json(R"({"type":"Unigram","vocab":[["<pad>",0.0],["▁",-2.1],["e",-3]]})");
        QCOMPARE(unigram.of(0), std::string("<pad>"));
        QCOMPARE(unigram.of(1), std::string(" "));
        QCOMPARE(unigram.of(2), std::string("e"));
    }

    void otherFilesAreRejected_data() {
        QTest::addColumn<QString>("json");
        QTest::addColumn<QString>("line");
        const auto row = [](const char* json, const char* line) { QTest::newRow(json) << json << line; };
        row("", "not valid JSON");
        row("{\"model\":{\"vocab\":{\"a\":1,\"a\":2}}}", "appears twice");
        row("[1]", "has no model.vocab");
        row("{\"model\":3}", "has no model.vocab");
        row("{\"model\":{\"vocab\":\"a\"}}", "has no model.vocab");
        row("{\"model\":{\"vocab\":{\"a\":-1}}}", "numbers a token -1");
        row("{\"model\":{\"vocab\":{\"a\":1.5}}}", "numbers a token 1.5");
        row("{\"model\":{\"vocab\":{\"a\":99999999}}}", "numbers a token 99999999");
        row("{\"model\":{\"vocab\":[[1,2]]}}", "without a token");
        row("{\"model\":{\"vocab\":{}},\"added_tokens\":[{\"id\":\"x\",\"content\":\"y\"}]}",
            "numbers a token");
    }
    void otherFilesAreRejected() {
        QFETCH(QString, json);
        QFETCH(QString, line);
        const QString found = problem_of(json.toStdString());
        QVERIFY2(found.contains(line) && !found.contains('\n'), qPrintable(found));
    }

    void aMissingFileIsOneLine() {
        DataSpec data;
        data.source = DataSource::Tokens;
        data.tokenizer = "no/such/tokenizer.json";
        QVERIFY_THROWS_EXCEPTION(InputError, TokenTexts::of(data));
        data.tokenizer.clear();
        QVERIFY(TokenTexts::of(data).empty());
    }
};

NORMSCOPE_TEST(TokenTextsTest)
#include "token_texts_test.moc"
