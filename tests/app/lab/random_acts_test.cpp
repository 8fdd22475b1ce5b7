// SPDX-License-Identifier: GPL-3.0-or-later
// Sequences of acts that are drawn from a table, on a small comparison: after each act the runs have their
// rows, the button states what it does, all panels show one step, and the files of others are as they were.
#include "lab_bench.h"
#include "post.h"
#include "sound_lab.h"
#include "tests/support/test_main.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <map>
#include <random>

using namespace normscope;
using namespace normscope::app;

namespace {

constexpr int kSequences = 500, kActs = 8, kSteps = 8;

/// A laboratory and what is known of its runs.
struct Play {
    test::LabBench b{kSteps};
    const test::Foreign& foreign;
    std::mt19937 random;
    std::map<std::string, std::size_t> rows;  ///< of each run, at the last check
    QString trace;

    Play(const test::Foreign& files, unsigned seed) : foreign(files), random(seed) { small(); }
    int draw(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }
    Lab& lab() const { return *b.lab; }
    const Comparison& now() const { return lab().comparison(); }
    /// Nothing of a large stack is measured.
    void small() {
        lab().view().setVisibleProbes({"growth"});
        for (const LabRun& run : now().runs)
            if (run.recipe.stack.depth > 2) return b.makeSmallKeepingUndo(kSteps);
    }
    void forget() { rows.clear(); }
};

struct Act {
    const char* name;
    void (*run)(Play&);
    bool replaces = false;  ///< the comparison, or the rows of its runs: nothing is compared with before
};

void open(Play& p, const QString& path) {
    QSignalSpy opened(&p.lab().session(), &LabSession::opened);
    p.lab().session().open(path);
    if (p.draw(2) == 0) return;  // the next act comes before the reply
    if (QTest::qWaitFor([&] { return opened.count() > 0; }, 5000)) p.small();
}

const std::vector<Act>& acts() {
    static const std::vector<Act> all{
        {"train", [](Play& p) { p.lab().training().play(); }, true},
        {"pause", [](Play& p) { p.lab().training().pause(); }},
        {"single step", [](Play& p) { p.lab().training().singleStep(); }, true},
        {"stop", [](Play& p) { p.lab().training().stop(); }},
        {"scrub", [](Play& p) { p.lab().view().setStep(p.draw(kSteps + 3)); }},
        {"select", [](Play& p) { p.lab().runs().select(p.draw(static_cast<int>(p.now().runs.size()))); }},
        {"fork", [](Play& p) { p.lab().forks().forkSelected(1 + p.draw(4)); }},
        {"measure", [](Play& p) { p.lab().measurement().measureHere(); }},
        {"pin", [](Play& p) { p.lab().runs().pinSelected(); }},
        {"seeds",
         [](Play& p) {
             if (p.now().runs.size() < 6) p.lab().runs().addSeeds(1);
         }},
        {"remove", [](Play& p) { p.lab().runs().remove(p.draw(static_cast<int>(p.now().runs.size()))); }},
        {"hot knob",
         [](Play& p) { p.lab().knobs().commitKey("stack.residual_step", p.draw(2) ? 1.0 : 0.3); }},
        {"depth", [](Play& p) { p.lab().knobs().commitKey("stack.depth", 1 + p.draw(2)); }},
        {"replace", [](Play& p) { p.lab().training().replaceRuns(); }, true},
        {"start new",
         [](Play& p) {
             if (p.now().runs.size() < 6) p.lab().training().startNewRuns();
         }},
        {"undo", [](Play& p) { p.lab().runs().undoStack()->undo(); }, true},
        {"redo", [](Play& p) { p.lab().runs().undoStack()->redo(); }, true},
        {"remedy",
         [](Play& p) {
             if (const RemedyTrials* trials = p.lab().remedies().trials(); trials && !trials->shown().empty())
                 p.lab().remedies().tryOut({trials->shown().front()});
         }},
        {"save", [](Play& p) { p.lab().session().save(p.b.folder.filePath("own.h5"), "{}"); }},
        {"save into another's", [](Play& p) { p.lab().session().save(p.foreign.live, "{}"); }},
        {"new",
         [](Play& p) {
             p.lab().view().setVisibleProbes({});
             p.lab().session().startOver();
             p.small();
         },
         true},
        {"open", [](Play& p) { open(p, p.foreign.session); }, true},
        {"open stopped", [](Play& p) { open(p, p.foreign.stopped); }, true},
        {"open live", [](Play& p) { open(p, p.foreign.live); }, true},
        {"quit and start",
         [](Play& p) {
             const QString companion = p.b.folder.filePath("companion.h5");
             SavedComparison kept = p.lab().session().savedComparison(companion, true);
             p.lab().session().saveWindowNow(
                 {p.b.folder.filePath("state.json"), "{}", std::move(kept.companion)});
             p.b.lab = std::make_unique<Lab>(Lab::Options{1, p.b.folder.path(), {}});
             p.lab().view().setVisibleProbes({});
             QSignalSpy restored(&p.lab().session(), &LabSession::restored);
             p.lab().session().restore(kept.runs, companion);
             if (QTest::qWaitFor([&] { return restored.count() > 0; }, 5000)) p.small();
         },
         true},
    };
    return all;
}

}  // namespace

class RandomActsTest : public QObject {
    Q_OBJECT
    std::unique_ptr<test::Foreign> foreign_;

  private Q_SLOTS:
    void initTestCase() {
        foreign_ = std::make_unique<test::Foreign>();
        foreign_->make(kSteps);
    }
    void cleanupTestCase() { foreign_.reset(); }

    void sequences_data() {
        QTest::addColumn<int>("seed");
        constexpr int kRows = 20;
        for (int row = 0; row < kRows; ++row) QTest::addRow("%d", row) << row * (kSequences / kRows);
    }
    void sequences() {
        QFETCH(int, seed);
        for (int i = 0; i < kSequences / 20; ++i) {
            Play p(*foreign_, static_cast<unsigned>(seed + i));
            for (int n = 0; n < kActs; ++n) {
                const Act& act = acts()[static_cast<std::size_t>(p.draw(static_cast<int>(acts().size())))];
                p.trace += QStringLiteral(" · ") + QLatin1String(act.name);
                if (act.replaces) p.forget();
                act.run(p);
                if (act.replaces) p.forget();
                QTest::qWait(p.draw(4));
                const QString failure = test::wrong(p.lab(), p.rows, *foreign_);
                QVERIFY2(failure.isEmpty(),
                         qPrintable(QString("sequence %1:%2: %3").arg(seed + i).arg(p.trace, failure)));
                // Replies that replace the comparison come later.
                if (act.replaces) p.forget();
            }
            const QString waits = test::unsettled(p.lab());
            QVERIFY2(waits.isEmpty(),
                     qPrintable(QString("sequence %1:%2: %3").arg(seed + i).arg(p.trace, waits)));
            p.forget();
            const QString failure = test::wrong(p.lab(), p.rows, *foreign_);
            QVERIFY2(
                failure.isEmpty(),
                qPrintable(QString("sequence %1:%2: at the end %3").arg(seed + i).arg(p.trace, failure)));
        }
        QCOMPARE(foreign_->writer.state(), QProcess::Running);
    }

    /// The other process has every row of its file.
    void theLiveFileIsWhole() {
        foreign_->writer.kill();
        foreign_->writer.waitForFinished();
        const RunData run = open_session(foreign_->live.toStdString()).runs.at(0);
        QVERIFY(run.steps.rows() > 0);
        QVERIFY(test::sound(run));
    }
};

NORMSCOPE_TEST(RandomActsTest)
#include "random_acts_test.moc"
