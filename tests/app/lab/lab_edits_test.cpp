// SPDX-License-Identifier: GPL-3.0-or-later
// What an edit leaves on screen: colours, the old curve, the time that a training will take.
#include "app/lab/state/training_time.h"
#include "core/run/complete.h"
#include "core/run/probe_steps.h"
#include "core/run/probes_preset.h"
#include "core/session/session.h"
#include "lab_bench.h"
#include "tests/support/test_main.h"

#include <QFile>
#include <QRegularExpression>
#include <set>

using namespace normscope;
using namespace normscope::app;
using Bench = normscope::test::LabBench;

namespace {

void writeText(const QString& path) {
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    for (int i = 0; i < 200; ++i) file.write("the quick brown fox jumps over the lazy dog. ");
}

std::vector<std::string> ids(const Bench& b) {
    std::vector<std::string> all;
    for (const LabRun& run : b.lab->comparison().runs) all.push_back(run.id);
    return all;
}

/// The number of seconds that the hint names; −1 if it names none.
double hinted(const QString& hint) {
    static const QRegularExpression about(QStringLiteral("about ([0-9]+) (s|min|h)"));
    const auto match = about.match(hint);
    if (!match.hasMatch()) return -1;
    const QString unit = match.captured(2);
    return match.captured(1).toDouble() * (unit == u"s" ? 1 : unit == u"min" ? 60 : 3600);
}

}  // namespace

class LabEditsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// Two runs of one recipe and seed share the runs of its other seeds: each is there once.
    void seedsOfTwoEqualRunsAreThereOnce() {
        Bench b;
        b.lab->runs().addSeeds(1);
        b.lab->runs().add(b.lab->comparison().runs[0].recipe);
        b.lab->runs().addSeeds(1);
        std::set<std::string> ids;
        for (const LabRun& run : b.lab->comparison().runs)
            QVERIFY2(ids.insert(run.id).second, run.id.c_str());
    }

    /// Colour and dash are by the place of a run: those that exist keep theirs.
    void aReferenceTakesNoOtherRunsColour() {
        Bench b;
        QTRY_VERIFY(b.measured());
        const auto before = ids(b);
        b.lab->runs().pinSelected();
        QCOMPARE(b.lab->comparison().runs.size(), 3u);
        for (std::size_t i = 0; i < before.size(); ++i) QCOMPARE(b.lab->comparison().runs[i].id, before[i]);
        QVERIFY(b.lab->comparison().runs[2].pinned);
        QCOMPARE(b.rms(2), b.rms(0));
    }

    void aRunIsRenamedAndItsNameStays() {
        Bench b;
        QTRY_VERIFY(b.measured());
        b.lab->runs().rename(0, "  my   run ");
        QCOMPARE(b.run(0).name, std::string("my run"));
        b.lab->runs().rename(1, "my run");
        QCOMPARE(b.run(1).name, std::string("my run · 2"));
        b.lab->runs().undoStack()->undo();
        QCOMPARE(b.run(1).name, std::string("Post-LN"));
        b.lab->knobs().commitKey("stack.residual_step", 0.5);
        QTRY_VERIFY(b.measured());
        QCOMPARE(b.run(0).name, std::string("my run"));
        b.lab->training().play();
        QTRY_VERIFY(b.ended() && b.run(0).steps.rows() == 6);
        QCOMPARE(b.run(0).name, std::string("my run"));
        b.lab->runs().rename(1, "other");  // a trained one
        QCOMPARE(b.run(1).name, std::string("other"));
        b.lab->runs().undoStack()->undo();
        QCOMPARE(b.run(1).name, std::string("Post-LN"));
        QCOMPARE(b.run(1).steps.rows(), 6u);
        b.lab->runs().rename(0, "");
        QCOMPARE(b.problems, QStringList());
    }

    /// The curve of the old value stays, with its name, until the next edit.
    void theGhostStaysUntilTheNextEdit() {
        Bench b;
        QTRY_VERIFY(b.measured());
        const auto old = b.rms(0);
        b.lab->knobs().beginDrag();
        b.lab->knobs().dragKey("stack.residual_step", 0.5);
        b.lab->knobs().commitKey("stack.residual_step", 0.2);
        QTRY_VERIFY(b.measured() && b.rms(0) != old);
        const auto ghosts = [&] { return b.lab->view().panelInput("growth", {}).ghosts; };
        QVERIFY(ghosts()[0] && ghosts()[1]);
        QCOMPARE(ghosts()[0]->probes.at("growth").back().find("rms")->data, old);
        QStringList named;
        const widgets::Figure growth = b.figure("growth");  // outlives the loop over its curves
        for (const auto& curve : growth.plots[0].curves)
            if (curve.kind == widgets::LineKind::Ghost && curve.label_at_end) named << curve.name;
        QCOMPARE(named, QStringList("Δt 1"));
        b.lab->view().selectLayer(1);
        QVERIFY(ghosts()[0]);  // no edit
        b.lab->knobs().setNorm(0, Sublayer::Attention, widgets::NormPlace::Out, true, false);
        QVERIFY(!ghosts()[0] && !ghosts()[1]);
        b.lab->knobs().beginDrag();
        b.lab->knobs().commitKey("stack.residual_step", 0.2);  // back at the old value: no edit, no ghost
        QVERIFY(!ghosts()[0] && !ghosts()[1]);
    }

    /// The same comparison takes about the same time, whatever the machine did while a probe was measured.
    void theHintOfTheTimeDoesNotJump() {
        Bench b(200);
        QTRY_VERIFY(b.measured());
        const auto hint = [&] { return b.lab->view().panelInput("training", {}).hint; };
        std::vector<double> all{hinted(hint())};
        for (int i = 0; i < 6; ++i) {
            // A slow measurement, as where another program has the cores.
            b.lab->knobs().commitKey("stack.residual_step", i % 2 ? 1.0 : 0.9);
            QTRY_VERIFY(b.measured());
            for (int run : {0, 1})
                for (const char* probe : {"growth", "gradients"})
                    const_cast<RunData&>(b.run(run)).probes.at(probe).back().cost_ms *= i % 2 ? 3.6 : 1;
            all.push_back(hinted(hint()));
        }
        const auto [low, high] = std::minmax_element(all.begin(), all.end());
        QVERIFY2(*low > 0 && *high <= all.front(), qPrintable(QString("%1 to %2").arg(*low).arg(*high)));
    }

    /// Of several measurements of the same sizes the fastest counts; a training that ran counts more.
    void theFastestMeasurementCounts() {
        const auto measured = [](double ms) {
            LabRun run = makeRun("a", load_recipe("pre-ln"));
            for (const char* probe : {"growth", "gradients"}) {
                ProbeResult sample;
                sample.probe = probe;
                sample.cost_ms = ms;
                run.data->probes[probe] = {sample};
            }
            return run;
        };
        TrainingTime time;
        QCOMPARE(time.seconds(measured(40).recipe), 0.0);
        time.note(measured(310));
        const double first = time.seconds(measured(1).recipe);
        time.note(measured(85));
        const double second = time.seconds(measured(1).recipe);
        QVERIFY(std::abs(first / second - 310.0 / 85) < 1e-9);
        time.note(measured(310));
        QCOMPARE(time.seconds(measured(1).recipe), second);
        // As many operations as the two probes with their passes; the probes of the training come on top.
        Recipe recipe = measured(1).recipe;
        complete_without_data(recipe);
        const ProbeShape shape = probe_shape(recipe);
        const double operations = sample_operations({"growth", 0}, shape) +
                                  sample_operations({"gradients", 0}, shape) +
                                  shared_operations(shape, ProbeNeeds::Backward);
        const ProbesShare share = predicted_share(recipe);
        const double expected = 2 * 0.085 / operations * step_operations(shape) *
                                (50 * (1 + share.first) + 150 * (1 + share.later));  // 200 steps
        QVERIFY2(std::abs(second / expected - 1) < 1e-9,
                 qPrintable(QString("%1 %2").arg(second).arg(expected)));
        QCOMPARE(durationText(3479), QString("58 min"));
        QCOMPARE(durationText(0.2), QString("1 s"));
        QCOMPARE(durationText(20000), QString("6 h"));
        QCOMPARE(durationText(0), QString());
        LabRun ran = measured(310);
        ran.data->outcome.state = RunState::Finished;
        ran.data->steps.names = {"tokens_per_s"};
        ran.data->steps.step = {0, 1, 2};
        ran.data->steps.columns = {{51200, 51200, 51200}};
        time.note(ran);
        const double steps = 50 * (1 + share.first) + 150 * (1 + share.later);
        QVERIFY(std::abs(time.seconds(ran.recipe) - 0.01 * steps) < 1e-9);  // 512 tokens a step
    }

    void longTimesAreInMinutes() {
        Bench b(2000000);
        QTRY_VERIFY(b.measured());
        const QString hint = b.lab->view().panelInput("training", {}).hint;
        QVERIFY2(!hint.contains(QRegularExpression("about [0-9]{3,} s")), qPrintable(hint));
        QVERIFY2(hint.contains(QRegularExpression("about [0-9]+ (min|h)")), qPrintable(hint));
    }

    /// The text of a session's run was moved away: the fork ends at once, with one line.
    void aForkWithoutItsTextEnds() {
        Bench b(100000);
        const QString text = b.folder.filePath("text.txt"), saved = b.folder.filePath("s.h5");
        writeText(text);
        b.lab->runs().remove(1);
        Recipe recipe = b.lab->comparison().runs[0].recipe;
        recipe.train.data.source = DataSource::Text;
        recipe.train.data.path = text.toStdString();
        recipe.stack.vocab = 0;
        b.lab->runs().useRecipe(recipe, "text");
        QTRY_VERIFY(b.measured());
        b.lab->training().play();
        QTRY_VERIFY(b.run(0).steps.rows() > 3);
        b.lab->training().stop();
        QTRY_VERIFY(b.ended() && !b.lab->comparison().runs[0].checkpoints.empty());
        QSignalSpy done(&b.lab->session(), &LabSession::saved);
        b.lab->session().save(saved, "");
        QTRY_COMPARE_WITH_TIMEOUT(done.count(), 1, 20000);
        QVERIFY(QFile::remove(text));
        b.open(6);  // another process has no copy of the text
        QSignalSpy opened(&b.lab->session(), &LabSession::opened);
        b.lab->session().open(saved);
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
        b.problems.clear();
        b.lab->forks().forkSelected();
        QTRY_COMPARE_WITH_TIMEOUT(b.lab->comparison().runs.size(), 2u, 20000);
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
        QVERIFY(b.run(1).outcome.state != RunState::Running);
        QCOMPARE(b.problems.size(), 1);
        QVERIFY2(b.problems[0].contains("text.txt") && !b.problems[0].contains('\n'),
                 qPrintable(b.problems[0]));
    }

    /// "Text file" without a file asks for one; no run fails.
    void aSourceWithoutAFileAsksForOne() {
        Bench b;
        QTRY_VERIFY(b.measured());
        b.problems.clear();
        b.lab->knobs().commitKey("data.source", "text");
        QTest::qWait(300);  // in which no run may be rejected
        for (const LabRun& run : b.lab->comparison().runs)
            QVERIFY2(run.rejection.empty(), run.rejection.c_str());
        QCOMPARE(b.problems, QStringList());
        const QString text = b.folder.filePath("text.txt");
        writeText(text);
        b.lab->knobs().commitKey("data.path", text.toStdString());
        QTRY_VERIFY(b.measured() && b.lab->comparison().runs[1].recipe.stack.vocab == 256);
        for (const LabRun& run : b.lab->comparison().runs)
            QVERIFY2(run.rejection.empty(), run.rejection.c_str());
    }

    /// Between two edits only names and ghosts differ where a panel waits for its measurement; not so where
    /// another run stopped waiting, or was measured.
    void aPanelThatAwaitsItsMeasurementIsTheSameForEveryName() {
        Bench b;
        QTRY_VERIFY(b.measured());
        const auto key = [&](const char* panel) { return b.lab->view().figureKey(panel, {}); };
        const widgets::FigureKey exact = key("jacobian");
        b.lab->knobs().commitKey("stack.scheme", "peri");
        const widgets::FigureKey first = key("jacobian");
        QVERIFY(!first.pendingAs(exact));
        b.lab->knobs().commitKey("stack.scheme", "mix");
        const widgets::FigureKey second = key("jacobian");
        QVERIFY(!(second == first));
        QVERIFY(second.pendingAs(first));
        QTRY_VERIFY(b.measured());
        QVERIFY(!key("jacobian").pendingAs(second));
    }
};

NORMSCOPE_WIDGET_TEST(LabEditsTest)
#include "lab_edits_test.moc"
