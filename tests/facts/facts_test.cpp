// SPDX-License-Identifier: GPL-3.0-or-later
#include <QFile>
#include <QRegularExpression>
#include <QtTest>
#include <nlohmann/json.hpp>
#include <set>

#include "core/recipe/presets.h"

using namespace normscope;
using nlohmann::json;

namespace {

/// One space between words, and the quotes of C++ sources and JSON files that wrap a long text left out.
QString plain(QString text) {
    text.replace(QRegularExpression("\"\\s*\\n\\s*\""), "");
    return text.simplified();
}

QString content(const QString& path) {
    QFile file(QString(NORMSCOPE_SOURCE_DIR) + '/' + path);
    return file.open(QIODevice::ReadOnly) ? plain(QString::fromUtf8(file.readAll())) : QString();
}

json facts() {
    QFile file(QString(NORMSCOPE_SOURCE_DIR) + "/tests/facts/facts.json");
    if (!file.open(QIODevice::ReadOnly)) return {};
    return json::parse(file.readAll().toStdString()).at("facts");
}

bool listed(const json& all, const QString& sentence) {
    return std::any_of(all.begin(), all.end(), [&](const json& fact) {
        return plain(QString::fromStdString(fact.at("words"))).contains(sentence);
    });
}

/// Sentences end with a full stop, a colon or a question mark before a space or the end.
QStringList sentences(const QString& text) {
    return plain(text).split(QRegularExpression("(?<=[.?])\\s+"), Qt::SkipEmptyParts);
}

}  // namespace

class FactsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void eachSentenceIsWhereTheListSays() {
        const json all = facts();
        QVERIFY(all.size() >= 20);
        std::set<std::string> ids;
        for (const json& fact : all) {
            const std::string id = fact.at("id");
            QVERIFY2(ids.insert(id).second, id.c_str());
            const QString words = plain(QString::fromStdString(fact.at("words")));
            QVERIFY2(content(QString::fromStdString(fact.at("file"))).contains(words), id.c_str());
            // Either runs that tests/facts/run trains, or the command or test that shows it.
            QVERIFY2((fact.contains("runs") && !fact.at("holds").empty()) || !fact.value("shown_by", "").empty(), id.c_str());
        }
    }

    /// What a preset or a story states about training is in the list: every sentence with a number or a verb of outcome.
    void presetsAndStoriesStateNothingElse() {
        const json all = facts();
        const QRegularExpression states("\\d|learn|collapse|diverge|stall|vanish|explode|fall|grow|rise");
        QStringList missing;
        for (const Preset& preset : presets())
            for (const QString& sentence : sentences(QString::fromStdString(json::parse(preset.json).value("description", ""))))
                if (sentence.contains(states) && !listed(all, sentence)) missing << QString(preset.name) + ": " + sentence;
        for (const Preset& story : stories()) {
            const json object = json::parse(story.json);
            for (const json& step : object.at("steps"))
                for (const QString& sentence : sentences(QString::fromStdString(step.at("text"))))
                    if (sentence.contains(states) && !listed(all, sentence)) missing << QString(story.name) + ": " + sentence;
        }
        QVERIFY2(missing.isEmpty(), qPrintable(missing.join('\n')));
    }
};

QTEST_GUILESS_MAIN(FactsTest)
#include "facts_test.moc"
