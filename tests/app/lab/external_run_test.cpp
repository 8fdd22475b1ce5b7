// SPDX-License-Identifier: GPL-3.0-or-later
// A run that another program trained and recorded is shown: nothing of it is trained, measured, forked or
// changed, and what it lacks is named.
#include "core/run/checkpoints/replay.h"
#include "core/run/complete.h"
#include "core/run/complete_run.h"
#include "lab_bench.h"
#include "tests/support/test_main.h"

#include <QSignalSpy>

using namespace normscope;
using namespace normscope::app;
using Bench = normscope::test::LabBench;

namespace {

/// What the package for PyTorch writes: our arrays, its recipe.
RunData external_run() {
    Recipe recipe = load_recipe("pre-ln", {"stack.depth=2", "stack.d_model=16", "stack.heads=2",
                                           "stack.context=16", "batch=2", "steps=6"});
    recipe.probes = {{"growth", 2}, {"gradients", 2}};
    ThreadPool pool(1);
    RunData run = complete_run(recipe, "nanoGPT", pool);
    recipe.train.data.source = DataSource::External;
    run.recipe = recipe;
    run.backend = "pytorch";
    run.events.insert(run.events.begin(),
                      {0, kExternalEvent, "PyTorch 2.11, recorded by the package normscope"});
    run.outcome = {RunState::Interrupted, 5, "", -1};
    return run;
}

void open(Bench& b) {
    const std::string path = b.folder.filePath("external.h5").toStdString();
    save_session(path, std::vector{external_run()}, "");
    QSignalSpy opened(&b.lab->session(), &LabSession::opened);
    b.lab->session().open(QString::fromStdString(path));
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
}

}  // namespace

class ExternalRunTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void itIsShownAndNothingElse() {
        Bench b;
        open(b);
        const LabRun& run = b.lab->comparison().runs.at(0);
        QVERIFY(run.external() && run.fixed() && !run.resumable());
        QCOMPARE(run.data->steps.rows(), std::size_t{6});
        const std::vector<double> losses = *run.data->steps.find("loss");

        b.lab->view().setStep(3);
        QVERIFY2(b.lab->measurement().obstacle().contains("another program trained it (PyTorch 2.11"),
                 qPrintable(b.lab->measurement().obstacle()));
        QVERIFY(!b.lab->forks().obstacle().isEmpty());
        b.lab->measurement().measureHere();
        QVERIFY(!b.lab->measurement().running());

        const Recipe before = run.recipe;
        b.lab->knobs().commitKey("stack.residual_step", 0.5);
        b.lab->training().play();
        QTest::qWait(200);
        QVERIFY(b.ended());
        QCOMPARE(b.lab->comparison().runs.at(0).recipe, before);
        QCOMPARE(*b.run(0).steps.find("loss"), losses);
    }

    /// It was measured on its own training batch, which a caption must not call held out.
    void itsBatchAndWhatItLacksAreNamed() {
        Bench b;
        open(b);
        const widgets::Figure gradients = b.figure("gradients");
        QVERIFY2(gradients.subtitle.contains("training batch") && !gradients.subtitle.contains("held-out"),
                 qPrintable(gradients.subtitle));
        QVERIFY2(gradients.formula.contains("training batch"), qPrintable(gradients.formula));
        const widgets::Figure spectra = b.figure("jacobian");
        QVERIFY2(spectra.empty_text.contains("not recorded by the program that trained it"),
                 qPrintable(spectra.empty_text));
        QVERIFY(!spectra.unmeasured);
    }

    /// Next to it a run of our own is drafted and trained as always.
    void runsOfOurOwnAreTrainedNextToIt() {
        Bench b;
        open(b);
        b.lab->runs().add(load_recipe("post-ln", {"stack.depth=2", "stack.d_model=16", "stack.heads=2",
                                                  "stack.context=16", "batch=2", "steps=4"}));
        QTRY_VERIFY_WITH_TIMEOUT(b.run(1).probes.count("growth"), 20000);
        const widgets::Figure gradients = b.figure("gradients");
        QVERIFY2(gradients.subtitle.contains("held-out or training batch"), qPrintable(gradients.subtitle));
        b.lab->training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended() && b.run(1).steps.rows() == 4, 20000);
        QCOMPARE(b.run(0).steps.rows(), std::size_t{6});
        QCOMPARE(b.problems, QStringList());
    }
};

NORMSCOPE_TEST(ExternalRunTest)
#include "external_run_test.moc"
