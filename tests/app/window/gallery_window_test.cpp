// SPDX-License-Identifier: GPL-3.0-or-later
// The papers' figures in the real window: trained from their drawer, shown while they are, stopped, resumed,
// found again.
#include "app/lab/gallery_runs.h"
#include "app/lab/state/pending.h"
#include "app/window/appearance_controller.h"
#include "app/window/commands.h"
#include "app/window/files/recordings_controller.h"
#include "app/window/search_controller.h"
#include "app/window/studies/claims_controller.h"
#include "app/window/studies/gallery_controller.h"
#include "app/window/studies/sweep_controller.h"
#include "core/backend/devices/devices.h"
#include "core/sweep/sweep_folder.h"
#include "legibility.h"
#include "program_font.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/claims/claims_drawer.h"
#include "widgets/common/banner.h"
#include "widgets/dialogs/command_search.h"
#include "widgets/dialogs/export_dialog.h"
#include "widgets/drawers/runs_drawer.h"
#include "widgets/gallery/gallery_details.h"
#include "widgets/gallery/gallery_drawer.h"
#include "widgets/gallery/gallery_list.h"
#include "widgets/gallery/gallery_measures.h"
#include "widgets/gallery/gallery_texts.h"
#include "widgets/plots/plot_view.h"
#include "widgets/sweep/sweep_view.h"
#include "window_bench.h"

#include <nlohmann/json.hpp>

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <set>

using namespace normscope;
using namespace normscope::app;
using namespace normscope::widgets;
using normscope::test::WindowBench;

namespace {

constexpr int kWait = 30000;  // ms, at most
using Kind = GalleryState::Kind;

/// Two schemes and three seeds of a stack that trains in milliseconds; a measure for each verdict that three
/// seeds can have. The first letter of an id is its paper.
std::string smallEntryText(const std::string& title, int steps = 60) {
    using nlohmann::json;
    const json pre = {{"stack.scheme", "pre"}}, post = {{"stack.scheme", "post"}};
    const json probes = {{{"id", "growth"}, {"steps", "0"}}};
    json entry = {{"format", "normscope-gallery"},
                  {"version", 1},
                  {"title", title},
                  {"place", "Figure 1"},
                  {"statement", "Losses are above zero."}};
    entry["sweep"] = {{"preset", "pre-ln"},
                      {"set",
                       {"stack.depth=2", "stack.d_model=16", "stack.heads=2", "stack.context=16", "batch=2",
                        "steps=" + std::to_string(steps), "probes=" + probes.dump()}},
                      {"grid", json::array({"stack.scheme=pre,post"})},
                      {"seeds", "42:44"}};
    const auto measure = [&](const char* name, const char* effect, const json& quantity, const json& of,
                             const char* is, double than) {
        json& added = entry["measures"].emplace_back();
        added = {{"name", name}, {"effect", effect}, {"quantity", quantity}, {"of", of},
                 {"is", is},     {"than", than},     {"arms", "may fail"}};  // the runs are too short
        return &added;
    };
    (*measure("final loss, Pre-LN", "value", "loss", pre, ">", 0))["paper"] = 3.2;
    measure("final loss, Post-LN", "value", "loss", post, "<", 0);
    json& difference = *measure("final loss, Post-LN − Pre-LN", "difference", "loss", post, ">", 0);
    difference["against"] = pre;
    difference["paper"] = 0.6;
    measure("diverged, Pre-LN", "value", {{"outcome", json::array({"diverged"})}}, pre, "<", 0.5);
    return entry.dump();
}
GalleryEntry smallEntry(const std::string& id, const std::string& title, int steps = 60) {
    return read_gallery_entry(id, smallEntryText(title, steps));
}

GalleryRuns& runsOf(const WindowBench& b) {
    return b.lab().gallery();
}
GalleryDrawer& drawer(const WindowBench& b) {
    return *b.window->gallery()->drawer();
}
GalleryList& list(const WindowBench& b) {
    return *drawer(b).list();
}

void openDrawer(WindowBench& b) {
    QTest::keyClick(b.window.get(), Qt::Key_G, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(drawer(b).isVisible());
}

/// With these entries, their folders read.
void openWith(WindowBench& b, const std::vector<GalleryEntry>& entries) {
    runsOf(b).setEntries(entries);
    openDrawer(b);
    for (const GalleryEntry& entry : entries)
        QTRY_VERIFY_WITH_TIMEOUT(runsOf(b).state(QString::fromStdString(entry.id)).kind != Kind::Unread,
                                 kWait);
}

QString row(const WindowBench& b, const QString& id) {
    const int at = static_cast<int>(list(b).ids().indexOf(id));
    return at < 0 ? QString() : list(b).item(at)->data(Qt::AccessibleTextRole).toString();
}

QString cell(const WindowBench& b, int row, GalleryMeasures::Column column) {
    const QTableWidgetItem* item = drawer(b).details()->measures()->item(row, column);
    return item ? item->text() : QString();
}

/// Every text of the findings, for comparisons.
QStringList textsOf(const GalleryEntry& entry, const std::vector<GalleryFinding>& findings) {
    QStringList all;
    for (std::size_t i = 0; i < findings.size(); ++i)
        all << gallery_verdict_text(findings[i].verdict)
            << QString::fromStdString(gallery_effect_text(entry.measures.at(i), findings[i]))
            << QString::fromStdString(findings[i].order);
    return all;
}

QStringList shownTexts(const WindowBench& b) {
    QStringList all;
    for (int i = 0; i < drawer(b).details()->measures()->rowCount(); ++i)
        all << cell(b, i, GalleryMeasures::Verdict) << cell(b, i, GalleryMeasures::Ours)
            << cell(b, i, GalleryMeasures::Size);
    return all;
}

/// What the core reads in a folder.
QStringList measuredIn(const GalleryEntry& entry, const QString& folder) {
    const GalleryResult result =
        read_gallery_result(entry, folder.toStdString(), [](const auto& work) { work(); });
    return textsOf(entry, result.findings);
}

/// Trained by the core alone.
void train(const SweepSpec& spec, const QString& folder) {
    SweepOptions options;
    options.folder = folder.toStdString();
    options.threads = 1;
    SweepWatcher watcher;
    run_sweep(spec, device_named("cpu"), options, watcher);
}

void click(WindowBench& b, const char* button, const QString& text) {
    auto* found = b.find<QPushButton>(button);
    QVERIFY2(found->isVisible() && found->isEnabled(), button);
    QCOMPARE(found->text(), text);
    QTest::mouseClick(found, Qt::LeftButton);
}

/// Texts of the table that are higher than their cell, or wider in one word.
QStringList cutCells(const GalleryMeasures& table) {
    QStringList cut;
    for (int row = 0; row < table.rowCount(); ++row)
        for (int column = 0; column < table.columnCount(); ++column) {
            const QRect at = table.visualItemRect(table.item(row, column));
            const int icon = column == GalleryMeasures::Verdict ? 12 + 6 : 0;
            const QRect needed = table.fontMetrics().boundingRect(
                QRect(0, 0, at.width() - 6 - icon, 10000), Qt::TextWordWrap, table.item(row, column)->text());
            if (needed.height() > at.height() || needed.width() > at.width() - icon)
                cut << QStringLiteral("'%1' needs %2 × %3 px and has %4 × %5")
                           .arg(table.item(row, column)->text())
                           .arg(needed.width())
                           .arg(needed.height())
                           .arg(at.width() - icon)
                           .arg(at.height());
        }
    for (int column = 0; column < table.columnCount(); ++column)
        if (const QString title = table.horizontalHeaderItem(column)->text();
            table.horizontalHeader()->fontMetrics().horizontalAdvance(title) > table.columnWidth(column))
            cut << title;
    return cut;
}

}  // namespace

class GalleryWindowTest : public QObject {
    Q_OBJECT
    std::unique_ptr<test::WarningsFail> warnings_;

  private Q_SLOTS:
    void initTestCase() { test::useProgramFont(); }
    void init() { warnings_ = std::make_unique<test::WarningsFail>(); }
    void cleanup() {
        warnings_->check();
        warnings_.reset();
    }

    /// Run from the drawer: the findings grow while it runs, and are those of the folder; another window
    /// shows them without training.
    void anEntryIsRunAndFoundAgain() {
        WindowBench b;
        const GalleryEntry entry = smallEntry("e-small", "Small losses", 200);
        openWith(b, {entry, smallEntry("g-other", "Other losses")});
        QCOMPARE(list(b).ids(), QStringList({"e-small", "g-other"}));
        QVERIFY2(
            row(b, "e-small").contains("6 runs, not run") && row(b, "e-small").contains("4 not measured"),
            qPrintable(row(b, "e-small")));
        QCOMPARE(runsOf(b).state("e-small").kind, Kind::NotRun);
        QVERIFY(b.find<QLabel>("galleryStatement")->text().contains("Losses are above zero."));
        const QString sweep = b.find<QLabel>("gallerySweep")->text();
        for (const char* part : {"2 layers", "Pre-LN, Post-LN", "6 runs of 200 steps", "3 seeds (42 to 44)"})
            QVERIFY2(sweep.contains(part), qPrintable(sweep));
        QCOMPARE(cell(b, 0, GalleryMeasures::Paper), QString("> 0, 3.2 nat"));
        QCOMPARE(cell(b, 0, GalleryMeasures::Verdict), QString("not measured"));
        QVERIFY(!drawer(b).details()->figure()->isVisible());
        QVERIFY(!b.find<QPushButton>("galleryMap")->isVisible());

        std::set<std::size_t> partial;
        QStringList states;
        connect(&runsOf(b), &GalleryRuns::changed, &drawer(b), [&] {
            if (runsOf(b).running() != "e-small") return;
            partial.insert(runsOf(b).state("e-small").result.ended);
            states << row(b, "e-small");
        });
        click(b, "galleryRun", "Run (6 runs)");
        QCOMPARE(runsOf(b).running(), QString("e-small"));
        QCOMPARE(b.find<QPushButton>("galleryRun")->text(), QString("Stop"));
        QTRY_VERIFY_WITH_TIMEOUT(b.window->sweeps()->shown(), kWait);
        QVERIFY(drawer(b).isVisible() && drawer(b).isAncestorOf(QApplication::focusWidget()));
        QTRY_COMPARE_WITH_TIMEOUT(runsOf(b).state("e-small").kind, Kind::Ended, kWait);
        QVERIFY(runsOf(b).running().isEmpty());
        partial.erase(0);
        QVERIFY2(!partial.empty(), "no finding was read before the last run had ended");
        QVERIFY(!states.filter("running, 1 of 6 runs").isEmpty());
        const QStringList whole = measuredIn(entry, runsOf(b).folder("e-small"));
        QCOMPARE(shownTexts(b), whole);
        QCOMPARE(cell(b, 0, GalleryMeasures::Verdict), QString("as the paper"));
        QCOMPARE(cell(b, 1, GalleryMeasures::Verdict), QString("opposite"));
        QCOMPARE(cell(b, 3, GalleryMeasures::Verdict), QString("not seen"));
        QVERIFY2(row(b, "e-small").contains("6 runs, measured") && row(b, "e-small").contains("as the paper"),
                 qPrintable(row(b, "e-small")));
        // The figure of the measure that is selected, and its export.
        const PlotView* figure = drawer(b).details()->figure();
        QVERIFY(figure->isVisible());
        QCOMPARE(figure->figure()->subtitle, QString("final loss, Pre-LN"));
        drawer(b).details()->measures()->setCurrentCell(2, 0);
        QCOMPARE(figure->figure()->subtitle, QString("final loss, Post-LN − Pre-LN"));
        QCOMPARE(figure->figure()->plots.front().curves.size(), 3u);
        click(b, "galleryExport", "Export this figure …");
        auto* dialog = b.window->findChild<ExportDialog*>();
        QVERIFY(dialog && dialog->isVisible());
        dialog->close();
        QVERIFY(!b.find<QPushButton>("galleryRun")->isVisible());
        QVERIFY(QDir(b.folder.filePath("gallery/e-small/runs")).exists());

        click(b, "galleryMap", "Show the sweep");
        QVERIFY(!drawer(b).isVisible());
        QTRY_VERIFY(b.window->sweeps()->shown() && b.window->sweeps()->map()->map()->hasFocus());
        QCOMPARE(b.lab().sweeps().sweep()->folder, runsOf(b).folder("e-small"));

        b.window.reset();
        b.open();
        QSignalSpy trained(&b.lab().sweeps(), &SweepRunner::changed);
        openWith(b, {entry});
        QCOMPARE(runsOf(b).state("e-small").kind, Kind::Ended);
        QCOMPARE(shownTexts(b), whole);
        QCOMPARE(trained.size(), 0);
        // A folder that has not changed is not read again; one that has is.
        QSignalSpy changes(&runsOf(b), &GalleryRuns::changed);
        QTest::keyClick(b.window.get(), Qt::Key_G, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(!drawer(b).isVisible());
        openDrawer(b);
        QTRY_VERIFY(!changes.isEmpty());
        QCOMPARE(shownTexts(b), whole);
    }

    /// Stopped in the middle and resumed: the findings are those of a sweep without a stop.
    void anEntryIsStoppedAndResumed() {
        WindowBench b;
        const GalleryEntry entry = smallEntry("e-small", "Small losses", 400);
        openWith(b, {entry});
        click(b, "galleryRun", "Run (6 runs)");
        QTRY_VERIFY_WITH_TIMEOUT(runsOf(b).ended() >= 1, kWait);
        click(b, "galleryRun", "Stop");
        QVERIFY(!b.find<QPushButton>("galleryRun")->isEnabled());
        QTRY_VERIFY_WITH_TIMEOUT(runsOf(b).running().isEmpty(), kWait);
        // What was read while it was trained may lack a run that ended before the stop.
        QTRY_VERIFY_WITH_TIMEOUT(b.lab().waitingRequests().empty(), kWait);
        QCOMPARE(runsOf(b).state("e-small").kind, Kind::Partial);
        const std::size_t ended = runsOf(b).state("e-small").result.ended;
        QVERIFY(ended >= 1 && ended < 6);
        QTRY_COMPARE(b.find<QLabel>("galleryReason")->text(), QString("%1 of 6 runs have ended").arg(ended));
        QVERIFY2(row(b, "e-small").contains(QString("%1 of 6 runs").arg(ended)),
                 qPrintable(row(b, "e-small")));
        b.window.reset();
        b.open();
        openWith(b, {entry});
        QCOMPARE(runsOf(b).state("e-small").result.ended, ended);
        click(b, "galleryRun", "Resume");
        QTRY_COMPARE_WITH_TIMEOUT(runsOf(b).state("e-small").kind, Kind::Ended, kWait);
        const QString alone = b.folder.filePath("alone");
        train(entry.sweep, alone);
        QCOMPARE(shownTexts(b), measuredIn(entry, alone));
    }

    /// A folder of another sweep is not read and not touched; measured again, it is kept under another name.
    void anotherSweepInTheFolderIsALine() {
        WindowBench b;
        const GalleryEntry entry = smallEntry("e-small", "Small losses");
        SweepSpec other = entry.sweep;
        other.seeds = {7};
        const QString folder = runsOf(b).folder("e-small");
        QDir().mkpath(folder);
        train(other, folder);
        openWith(b, {entry});
        QCOMPARE(runsOf(b).state("e-small").kind, Kind::Other);
        const QString line = b.find<QLabel>("galleryProblem")->text();
        QVERIFY2(line.startsWith("Its folder holds another sweep") && line.contains("seeds"),
                 qPrintable(line));
        QVERIFY(!line.contains('\n'));
        QVERIFY(!b.find<QPushButton>("galleryRun")->isVisible());
        QVERIFY2(row(b, "e-small").contains("another sweep's folder"), qPrintable(row(b, "e-small")));
        QCOMPARE(cell(b, 0, GalleryMeasures::Ours), QString());
        b.keepScreenshot("gallery-other");
        {
            // While another process trains in it, it keeps its name.
            const SweepFolder held(folder.toStdString(), other);
            click(b, "galleryAgain", "Measure again in a new folder");
            QTRY_VERIFY2(b.window->views().banner->message().contains("in use by another sweep"),
                         qPrintable(b.window->views().banner->message()));
            QVERIFY(!QFile::exists(folder + "-old-1") && runsOf(b).running().isEmpty());
        }
        QDir().mkpath(folder + "-old-1");  // taken
        QTRY_VERIFY(b.find<QPushButton>("galleryAgain")->isEnabled());
        click(b, "galleryAgain", "Measure again in a new folder");
        QTRY_COMPARE_WITH_TIMEOUT(runsOf(b).state("e-small").kind, Kind::Ended, kWait);
        const QString kept = folder + "-old-2";
        QVERIFY2(b.window->views().banner->message().contains(kept),
                 qPrintable(b.window->views().banner->message()));
        const SweepResults old = read_sweep(kept.toStdString());
        QVERIFY(sweep_difference(old.spec, other).empty() && old.rows.size() == 2);
        for (const SweepRow& run : old.rows)
            QVERIFY(QFile::exists(kept + '/' + QString::fromStdString(run.recording)));
        QCOMPARE(shownTexts(b), measuredIn(entry, folder));
        QVERIFY(!b.find<QLabel>("galleryProblem")->isVisible());

        // A recording that is gone is a line, and resuming trains it again.
        QTest::keyClick(b.window.get(), Qt::Key_Escape);
        const QStringList whole = measuredIn(entry, folder);
        const SweepResults now = read_sweep(folder.toStdString());
        QVERIFY(QFile::remove(folder + '/' + QString::fromStdString(now.rows[0].recording)));
        openDrawer(b);
        QTRY_COMPARE_WITH_TIMEOUT(runsOf(b).state("e-small").kind, Kind::Damaged, kWait);
        QVERIFY2(b.find<QLabel>("galleryProblem")->text().contains(".h5"),
                 qPrintable(b.find<QLabel>("galleryProblem")->text()));
        QVERIFY(b.find<QPushButton>("galleryAgain")->isVisible());
        click(b, "galleryRun", "Resume");
        QTRY_COMPARE_WITH_TIMEOUT(runsOf(b).state("e-small").kind, Kind::Ended, kWait);
        QCOMPARE(shownTexts(b), whole);
    }

    void oneSweepAtATime() {
        WindowBench b;
        const GalleryEntry first = smallEntry("e-small", "Small losses", 100000),
                           second = smallEntry("g-other", "Other losses");
        openWith(b, {first, second});
        click(b, "galleryRun", "Run (6 runs)");
        list(b).select("g-other");
        QVERIFY(!b.find<QPushButton>("galleryRun")->isEnabled());
        QCOMPARE(b.find<QLabel>("galleryReason")->text(),
                 QString("Another entry is being trained: Small losses"));
        b.lab().sweeps().stop();
        QTRY_VERIFY_WITH_TIMEOUT(!b.lab().sweeps().running(), kWait);
        QTRY_VERIFY(b.find<QPushButton>("galleryRun")->isEnabled());
        b.lab().sweeps().start(first.sweep, b.folder.filePath("somewhere"), "cpu", 1);
        QVERIFY(!b.find<QPushButton>("galleryRun")->isEnabled());
        QTRY_COMPARE_WITH_TIMEOUT(b.find<QLabel>("galleryReason")->text(),
                                  QString("Another sweep is being trained: somewhere"), kWait);
        QVERIFY(runsOf(b).running().isEmpty());
        b.lab().sweeps().stop();
        QTRY_VERIFY_WITH_TIMEOUT(b.find<QPushButton>("galleryRun")->isEnabled(), kWait);
    }

    /// Replies that arrive late are of folders and entries that are not shown any more.
    void lateRepliesAreDropped() {
        QTemporaryDir folder;
        Lab lab({1, folder.filePath("recordings")});
        std::vector<std::function<void()>> replies;
        bool late = true;
        const auto deliver = [&](std::function<void()> reply) {
            if (late)
                replies.push_back(std::move(reply));
            else
                reply();
        };
        PendingRequests requests;
        const auto runs = std::make_unique<GalleryRuns>(
            lab.sweeps(), lab.devices(), requests, folder.filePath("gallery"),
            [](const auto& work) { work(); }, deliver);
        runs->setEntries({smallEntry("e-small", "Small losses")});
        runs->read();
        QTRY_COMPARE(replies.size(), std::size_t(1));
        QCOMPARE(runs->state("e-small").kind, Kind::Unread);
        runs->setEntries({smallEntry("e-small", "Small losses", 7)});
        replies[0]();
        QCOMPARE(runs->state("e-small").kind, Kind::Unread);
        late = false;
        runs->read();
        QTRY_COMPARE(runs->state("e-small").kind, Kind::NotRun);
        QCOMPARE(runs->state("e-small").result.total, std::size_t(6));
    }

    /// A file of the user is an entry like the others, also after the next start; a damaged one is a line.
    void ownEntriesAreKept() {
        WindowBench b;
        openWith(b, {smallEntry("e-small", "Small losses")});
        const QString path = b.folder.filePath("my-losses.json");
        const auto write = [&](const std::string& text) {
            QFile file(path);
            QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text.c_str()) > 0);
        };
        write("{");
        b.window->gallery()->addFile(path);
        QCOMPARE(list(b).ids(), QStringList({"e-small"}));
        QTRY_VERIFY(b.find<widgets::Banner>("banner")->isVisible());
        write(smallEntryText("My losses"));
        b.window->gallery()->addFile(path);
        QCOMPARE(list(b).ids(), QStringList({"e-small", "my-losses"}));
        QCOMPARE(list(b).selected(), QString("my-losses"));
        QVERIFY(b.find<QPushButton>("galleryRemove")->isVisible());
        write(smallEntryText("My losses again"));
        b.window->gallery()->addFile(path);  // read again, not twice there
        QCOMPARE(list(b).ids(), QStringList({"e-small", "my-losses"}));
        QVERIFY(b.find<QLabel>("galleryEntry")->text() == "My losses again");
        QTRY_COMPARE_WITH_TIMEOUT(runsOf(b).state("my-losses").kind, Kind::NotRun, kWait);
        click(b, "galleryRun", "Run (6 runs)");
        QTRY_COMPARE_WITH_TIMEOUT(runsOf(b).state("my-losses").kind, Kind::Ended, kWait);
        QVERIFY(b.find<QLabel>("galleryArms")->text().contains("stack.scheme=post: median final loss"));

        b.window.reset();
        b.open();
        openDrawer(b);
        QVERIFY(list(b).ids().contains("my-losses"));
        QVERIFY(list(b).ids().contains("e-fig2"));
        QTRY_COMPARE_WITH_TIMEOUT(runsOf(b).state("my-losses").kind, Kind::Ended, kWait);
        list(b).select("my-losses");
        click(b, "galleryRemove", "Remove from the list");
        QVERIFY(!list(b).ids().contains("my-losses"));
        QVERIFY(QFile::exists(path) && QFile::exists(b.folder.filePath("gallery/my-losses/sweep.json")));
        b.window.reset();
        b.open();
        openDrawer(b);
        QVERIFY(!list(b).ids().contains("my-losses"));
    }

    void theRecipesDistanceIsThere() {
        WindowBench b;
        openDrawer(b);
        list(b).select("k-table1");
        const QString table = b.find<QLabel>("galleryRecipe")->text();
        for (const char* part : {"weight decay", "0.1; 0 in one half of Table 1", "OpenWebText", "markov"})
            QVERIFY2(table.contains(part), qPrintable(table));
        list(b).select("n-table1");  // the note has no experiments
        QVERIFY(!b.find<QLabel>("galleryRecipe")->isVisible());
    }

    void filtersSearchAndCommands() {
        WindowBench b;
        openWith(b, {smallEntry("e-small", "Small losses"), smallEntry("g-other", "Other losses"),
                     smallEntry("k-third", "A third")});
        auto* paper = b.find<QComboBox>("galleryPaper");
        auto* search = b.find<QLineEdit>("gallerySearch");
        QCOMPARE(paper->count(), 4);
        paper->setCurrentIndex(paper->findText("GPAS"));
        QCOMPARE(list(b).ids(), QStringList{"g-other"});
        QCOMPARE(drawer(b).details()->id(), QString("g-other"));
        paper->setCurrentIndex(0);
        QTest::keyClicks(search, "third");
        QCOMPARE(list(b).ids(), QStringList{"k-third"});
        QTest::keyClicks(search, " nowhere");
        QVERIFY(list(b).ids().isEmpty() && !drawer(b).details()->isVisible());
        QCOMPARE(b.find<QLabel>("galleryEmpty")->text(), QString("No entry matches"));
        QVERIFY(b.find<QLabel>("galleryEmpty")->isVisible());
        // Esc closes, also from the field; one drawer at a time.
        QTest::keyClick(search, Qt::Key_Escape);
        QVERIFY(!drawer(b).isVisible());
        openDrawer(b);
        b.window->recordings()->toggle();
        QVERIFY(!drawer(b).isVisible() && b.window->recordings()->drawer()->isVisible());
        openDrawer(b);
        QVERIFY(!b.window->recordings()->drawer()->isVisible());
        b.window->claims()->toggle();
        QVERIFY(!drawer(b).isVisible() && b.window->claims()->drawer()->isVisible());
        // Ctrl+K finds the entry, whatever the filters are.
        b.window->search()->open();
        auto* commands = b.find<widgets::CommandSearch>("commandSearch");
        QTest::keyClicks(commands->findChild<QLineEdit*>("commandInput"), "gallery: other losses");
        QTest::keyClick(commands->findChild<QLineEdit*>("commandInput"), Qt::Key_Return);
        QTRY_VERIFY(drawer(b).isVisible());
        QCOMPARE(list(b).selected(), QString("g-other"));
        QCOMPARE(list(b).ids().size(), 3);
        QVERIFY(!b.window->claims()->drawer()->isVisible());
        // In the menu of sweeps too.
        QVERIFY(b.window->commands()[Command::Gallery]->associatedObjects().size() >= 2);
        runsOf(b).setEntries({});
        QCOMPARE(b.find<QLabel>("galleryEmpty")->text(), QString("The gallery has no entries"));
    }

    /// Arrows choose an entry, Tab reaches its buttons and its table.
    void everythingByKeyboard() {
        WindowBench b;
        openWith(b, {smallEntry("e-small", "Small losses"), smallEntry("g-other", "Other losses")});
        QVERIFY(list(b).hasFocus());
        QTest::keyClick(&list(b), Qt::Key_Down);
        QCOMPARE(drawer(b).details()->id(), QString("g-other"));
        QTest::keyClick(&list(b), Qt::Key_Up);
        QTest::keyClick(&list(b), Qt::Key_Tab);
        QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(b.find<QPushButton>("galleryRun")));
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
        QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(drawer(b).details()->measures()));
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Backtab, Qt::ShiftModifier);
        QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(b.find<QPushButton>("galleryRun")));
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Space);
        QTRY_COMPARE_WITH_TIMEOUT(runsOf(b).state("e-small").kind, Kind::Ended, kWait);
        QVERIFY(!b.lab().training().playing());
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
        QVERIFY(!drawer(b).isVisible());
    }

    /// Every entry of the gallery, and one with results, at two sizes in both themes.
    void itCanBeRead() {
        WindowBench b;
        std::vector<GalleryEntry> entries = gallery();
        QVERIFY(entries.size() >= 20);
        entries.insert(entries.begin(), smallEntry("e-small", "Small losses", 200));
        openWith(b, entries);
        click(b, "galleryRun", "Run (6 runs)");
        QTRY_VERIFY_WITH_TIMEOUT(runsOf(b).ended() >= 1 && b.window->sweeps()->shown(), kWait);
        b.keepScreenshot("gallery-running-light");
        QTRY_COMPARE_WITH_TIMEOUT(runsOf(b).state("e-small").kind, Kind::Ended, kWait);
        QStringList all;
        for (const QSize size : {QSize(1440, 900), QSize(1920, 1080)})
            for (const bool dark : {false, true}) {
                b.window->appearance()->setDark(dark);
                b.window->resize(size);
                test::settle();
                for (const QString& id : list(b).ids()) {
                    list(b).select(id);
                    QCoreApplication::processEvents();
                    for (const QString& fault : test::illegible(*b.window))
                        if (fault.startsWith('Q') || fault.startsWith("elided")) all << id + ": " + fault;
                    for (const QString& fault : cutCells(*drawer(b).details()->measures()))
                        all << id + ": " + fault;
                    const QFont small = [&] {
                        QFont font = list(b).font();
                        font.setPixelSize(11);
                        return font;
                    }();
                    const QString state = stateText(*list(b).find(id));
                    if (QFontMetrics(small).horizontalAdvance(state) > 170) all << id + ": " + state;
                }
                for (const char* id : {"e-small", "e-fig1-loss", "g-fig6"}) {
                    list(b).select(QLatin1String(id));
                    b.keepScreenshot(QStringLiteral("%1-%2-%3")
                                         .arg(QLatin1String(id))
                                         .arg(size.width())
                                         .arg(dark ? "dark" : "light"));
                }
            }
        b.window->appearance()->setDark(false);
        all.removeDuplicates();
        QVERIFY2(all.isEmpty(), qPrintable('\n' + all.join('\n')));
    }
};

NORMSCOPE_WIDGET_TEST(GalleryWindowTest)
#include "gallery_window_test.moc"
