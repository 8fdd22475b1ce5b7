// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/recipe/presets.h"
#include "tests/support/test_main.h"

#include <nlohmann/json.hpp>

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QtTest>
#include <set>

using namespace normscope;
using nlohmann::json;

namespace {

/// One space between words, without the quotes of C++ sources and JSON files that wrap a long text.
QString plain(QString text) {
    text.replace(QRegularExpression("\"\\s*\\n\\s*\""), "");
    return text.simplified();
}

QString content(const QString& path) {
    QFile file(QString(NORMSCOPE_SOURCE_DIR) + '/' + path);
    return file.open(QIODevice::ReadOnly) ? plain(QString::fromUtf8(file.readAll())) : QString();
}

json facts(const char* part = "facts") {
    QFile file(QString(NORMSCOPE_SOURCE_DIR) + "/tests/facts/facts.json");
    if (!file.open(QIODevice::ReadOnly)) return {};
    return json::parse(file.readAll().toStdString()).at(part);
}

bool listed(const json& all, const QString& sentence) {
    return std::any_of(all.begin(), all.end(), [&](const json& fact) {
        const QString words = plain(QString::fromStdString(fact.at("words")));
        return words.contains(sentence) || sentence.contains(words);
    });
}

/// The sources of user-visible texts: help of panels and knobs, findings, verdicts, warnings, messages.
QStringList sourcesWithTexts() {
    QStringList found;
    const QDir root(NORMSCOPE_SOURCE_DIR);
    for (const char* folder :
         {"widgets", "app", "core/findings", "core/train", "core/stack", "core/recipe", "core/probe"}) {
        QDirIterator files(root.filePath(folder), {"*.cpp"}, QDir::Files, QDirIterator::Subdirectories);
        while (files.hasNext()) found << root.relativeFilePath(files.next());
    }
    return found;
}

/// The string literals of a source without its comments, adjacent ones joined, \n as a space.
QStringList literals(const QString& path) {
    QFile file(QString(NORMSCOPE_SOURCE_DIR) + '/' + path);
    if (!file.open(QIODevice::ReadOnly)) return {};
    QString text = QString::fromUtf8(file.readAll());
    text.remove(QRegularExpression("^\\s*(//|#).*$", QRegularExpression::MultilineOption));
    text.remove(QRegularExpression("\"\\s*\\n\\s*\""));
    QStringList found;
    auto matches = QRegularExpression("\"((?:[^\"\\\\\\n]|\\\\.)*)\"").globalMatch(text);
    while (matches.hasNext()) found << matches.next().captured(1).replace("\\n", " ");
    return found;
}

/// Sentences end with a full stop, a colon or a question mark before a space or the end.
QStringList sentences(const QString& text) {
    return plain(text).split(QRegularExpression("(?<=[.?])\\s+"), Qt::SkipEmptyParts);
}

/// README and the pages of docs/.
QStringList pages() {
    QStringList found{"README.md"};
    const QDir root(NORMSCOPE_SOURCE_DIR);
    QDirIterator files(root.filePath("docs"), {"*.md"}, QDir::Files, QDirIterator::Subdirectories);
    while (files.hasNext()) found << root.relativeFilePath(files.next());
    found.removeIf([](const QString& page) { return page.startsWith("docs/reference/"); });  // generated
    return found;
}

}  // namespace

class FactsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void eachSentenceIsInItsFile() {
        const json all = facts();
        QVERIFY(all.size() >= 20);
        std::set<std::string> ids;
        for (const json& fact : all) {
            const std::string id = fact.at("id");
            QVERIFY2(ids.insert(id).second, id.c_str());
            const QString words = plain(QString::fromStdString(fact.at("words")));
            QVERIFY2(content(QString::fromStdString(fact.at("file"))).contains(words), id.c_str());
            // Either runs that tests/facts/run trains, or the command or test that shows it.
            QVERIFY2(
                (fact.contains("runs") && !fact.at("holds").empty()) || !fact.value("shown_by", "").empty(),
                id.c_str());
        }
    }

    /// Statements of help, findings, verdicts, warnings, README and docs/ about the outcome of training are
    /// in the list too.
    void helpStatesNothingElse() {
        json all = facts();
        for (const json& other : facts("no_statements"))
            all.push_back(other);  // each with the reason why it is none
        const QRegularExpression states(
            "\\blearns?\\b|\\blearned\\b|collapse[sd]?\\b|diverge|stall|vanish|explod|\\bf[ae]lls?\\b|"
            "\\brises?\\b|\\bgrows?\\b|"
            "\\bnever\\b|commits|\\bbetter\\b|\\bworse\\b|useless");
        QStringList missing;
        int read = 0;
        for (const QString& path : sourcesWithTexts())
            for (const QString& text : literals(path))
                for (const QString& sentence : sentences(text)) {
                    if (sentence.count(' ') < 3) continue;  // a word of an option or a key
                    ++read;
                    if (sentence.contains(states) && !listed(all, sentence))
                        missing << path + ": " + sentence;
                }
        QVERIFY2(read > 200, qPrintable(QString::number(read)));
        const QStringList prose = pages();
        QVERIFY2(prose.size() > 20, qPrintable(prose.join(' ')));
        for (const QString& page : prose) {
            QFile file(QString(NORMSCOPE_SOURCE_DIR) + '/' + page);
            QVERIFY(file.open(QIODevice::ReadOnly));
            QString text = QString::fromUtf8(file.readAll());
            // Commands, the tree and headings; a fenced block is a diff.
            text.remove(QRegularExpression(
                "^```.*?^```$",
                QRegularExpression::MultilineOption | QRegularExpression::DotMatchesEverythingOption));
            text.remove(QRegularExpression("^    .*$", QRegularExpression::MultilineOption));
            text.remove(QRegularExpression("^## .*$", QRegularExpression::MultilineOption));
            for (const QString& sentence : sentences(text))
                if (sentence.contains(states) && !listed(all, sentence)) missing << page + ": " + sentence;
        }
        QVERIFY2(missing.isEmpty(), qPrintable(missing.join('\n')));
    }

    /// Statements of a preset or a story about training are in the list: every sentence with a number or a
    /// verb of outcome.
    void presetsAndStoriesStateNothingElse() {
        const json all = facts();
        const QRegularExpression states("\\d|learn|collapse|diverge|stall|vanish|explode|fall|grow|rise");
        QStringList missing;
        for (const Preset& preset : presets())
            for (const QString& sentence :
                 sentences(QString::fromStdString(json::parse(preset.json).value("description", ""))))
                if (sentence.contains(states) && !listed(all, sentence))
                    missing << QString(preset.name) + ": " + sentence;
        for (const Preset& story : stories()) {
            const json object = json::parse(story.json);
            for (const json& step : object.at("steps"))
                for (const QString& sentence : sentences(QString::fromStdString(
                         step.at("text").get<std::string>() + " " + step.value("expect", ""))))
                    if (sentence.contains(states) && !listed(all, sentence))
                        missing << QString(story.name) + ": " + sentence;
        }
        QVERIFY2(missing.isEmpty(), qPrintable(missing.join('\n')));
    }
};

NORMSCOPE_TEST(FactsTest)
#include "facts_test.moc"
