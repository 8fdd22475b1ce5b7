// SPDX-License-Identifier: GPL-3.0-or-later
// The band of healthy runs in the figures and in the findings: its values, and replies that come late,
// twice, failed, after another request, after New.
#include "app/lab/healthy_reference.h"

#include "core/run/experiment.h"
#include "core/session/session.h"
#include "tests/app/lab/lab_bench.h"
#include "tests/app/lab/post.h"
#include "tests/support/test_main.h"

#include <QDir>
#include <QtTest>

using namespace normscope;
using namespace normscope::app;

namespace {

constexpr int kRuns = 9, kSteps = 6;

RunData trained(std::uint64_t seed, const char* rate) {
    Recipe recipe =
        load_recipe("pre-ln", {"stack.depth=2", "stack.d_model=16", "stack.heads=2", "stack.context=16",
                               "batch=2", "steps=6", "schedule.lr=constant",
                               std::string("optimizer.lr=") + rate, "seed=" + std::to_string(seed)});
    recipe.probes = {{"growth", 1, "", "", ""}, {"gradients", 1, "", "", ""}};
    ThreadPool pool(1);
    Experiment experiment(recipe, "a", "seed " + std::to_string(seed));
    RunData run = experiment.header();
    while (!experiment.ended()) append(run, experiment.advance(pool));
    run.outcome = experiment.outcome();
    return run;
}

struct Bench : test::LabBench {
    std::shared_ptr<test::Post> post;
    QString few, many, failed;
    std::vector<RunData> healthy;

    explicit Bench(const std::shared_ptr<test::Post>& replies = std::make_shared<test::Post>())
        : LabBench(kSteps, test::Post::of(replies)), post(replies) {
        const QDir dir(folder.path());
        few = dir.filePath("few");
        many = dir.filePath("many");
        failed = dir.filePath("failed.h5");
        dir.mkpath(few);
        dir.mkpath(many);
        for (int i = 0; i < kRuns; ++i) {
            healthy.push_back(trained(static_cast<std::uint64_t>(i + 1), "0.001"));
            const QString name = QString("/%1.h5").arg(i);
            const std::vector<RunData> one{healthy.back()};
            save_session((many + name).toStdString(), one, "{}");
            if (i < 2) save_session((few + name).toStdString(), one, "{}");
        }
        std::vector<RunData> both{trained(77, "1"), trained(78, "0.001")};
        both.back().id = "b";
        save_session(failed.toStdString(), both, "{}");
        open(failed);
    }
    void open(const QString& path) {
        lab->session().open(path);
        if (!QTest::qWaitFor([&] { return lab->session().path() == path; }, 20000))
            throw std::runtime_error("the session did not open");
    }
    HealthyReference& reference() const { return lab->healthy(); }
    /// The band in the first plot of a figure; null without.
    static const widgets::Band* bandOf(const widgets::Figure& figure) {
        for (const widgets::Band& band : figure.plots.front().bands)
            if (band.is_reference) return &band;
        return nullptr;
    }
    bool answered() const {
        return QTest::qWaitFor([&] { return lab->waitingRequests().empty(); }, 20000);
    }
};

}  // namespace

class HealthyReferenceTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void theBandIsBelowTheRunsAndInTheFindings() {
        Bench b;
        QVERIFY(!Bench::bandOf(b.figure("growth")));
        QVERIFY(!b.reference().verdict(b.lab->comparison().runs[0]));
        const auto before = b.lab->view().figureKey("growth", {});
        b.reference().read(b.many);
        QTRY_VERIFY_WITH_TIMEOUT(b.reference().band(), 20000);
        QVERIFY(!(b.lab->view().figureKey("growth", {}) == before));
        QVERIFY(b.reference().description().startsWith("9 healthy runs in many, 6 steps; about 10 %"));

        // Between the lowest and the highest of the nine, at each hidden state of the last step.
        const widgets::Figure growth = b.figure("growth");
        const widgets::Band* const band = Bench::bandOf(growth);
        QVERIFY(band);
        QCOMPARE(band->x, growth.plots.front().curves.front().x);
        for (std::size_t k = 0; k < band->low.size(); ++k) {
            std::vector<double> values;
            for (const RunData& run : b.healthy)
                values.push_back(run.probes.at("growth").back().find("rms")->data[k]);
            std::sort(values.begin(), values.end());
            // 10 % of nine values in order: a fifth less than a whole place from the lowest.
            QVERIFY(std::abs(band->low[k] - (values[0] + 0.8 * (values[1] - values[0]))) < 1e-12);
            QVERIFY(std::abs(band->high[k] - (values[7] + 0.2 * (values[8] - values[7]))) < 1e-12);
        }
        const widgets::Band* const losses = Bench::bandOf(b.figure("training"));
        QVERIFY(losses);
        QVERIFY(!Bench::bandOf(widgets::buildPanel(
            "growth", b.lab->view().panelInput("growth", {{"normalise", "on"}}))));  // no quantile of a ratio
        QVERIFY(Bench::bandOf(b.figure("gradients")));

        const auto failed = b.reference().verdict(b.lab->comparison().runs[0]),
                   sound = b.reference().verdict(b.lab->comparison().runs[1]);
        QVERIFY(failed && failed->outside_since);
        QVERIFY2(failed->sentence.startsWith("Outside the band of 9 healthy runs since step"),
                 qPrintable(failed->sentence));
        QVERIFY2(sound && !sound->outside_since, qPrintable(sound->sentence));
        QCOMPARE(sound->sentence,
                 "Inside the band of 9 healthy runs. About 10 % of healthy runs would be outside.");

        b.reference().remove();
        QVERIFY(!b.reference().band() && !Bench::bandOf(b.figure("growth")));
    }

    void whatCannotBeReadLeavesTheBand() {
        Bench b;
        b.reference().read(b.many);
        QTRY_VERIFY_WITH_TIMEOUT(b.reference().band(), 20000);
        const HealthyBand* const known = b.reference().band();
        const QString empty = b.folder.filePath("empty");
        QDir().mkpath(empty);
        for (const auto& [path, line] :
             {std::pair{b.few, "2 are too few"}, std::pair{empty, "holds no recording"},
              std::pair{b.folder.filePath("none"), "none"}}) {
            b.problems.clear();
            b.reference().read(path);
            QVERIFY(b.answered());
            QCOMPARE(b.problems.size(), 1);
            QVERIFY2(
                b.problems[0].contains(line) && b.problems[0].contains(path) && !b.problems[0].contains('\n'),
                qPrintable(b.problems[0]));
            QCOMPARE(b.reference().band(), known);
        }
    }

    void repliesComeInAnyOrder() {
        Bench b;
        b.post->hold = true;
        b.reference().read(b.many);
        b.reference().read(b.few);
        QVERIFY(QTest::qWaitFor([&] { return b.post->held.size() >= 2; }, 20000));
        const auto twice = b.post->held;
        b.post->hold = false;
        b.post->deliver(true);
        // The newer request failed, and the older one was replaced.
        QVERIFY(!b.reference().band() && !b.reference().reading());
        for (const auto& reply : twice) reply();
        QVERIFY(!b.reference().band());

        b.post->hold = true;
        b.reference().read(b.many);
        QVERIFY(QTest::qWaitFor([&] { return !b.post->held.empty(); }, 20000));
        b.reference().remove();
        b.post->hold = false;
        b.post->deliver();
        QVERIFY(!b.reference().band());
    }

    /// It is of the window: a reply after New arrives, and a band stays when a session is opened.
    void itStaysWhenAnotherSessionIsOpened() {
        Bench b;
        b.post->hold = true;
        b.reference().read(b.many);
        QVERIFY(QTest::qWaitFor([&] { return !b.post->held.empty(); }, 20000));
        b.post->hold = false;
        b.lab->session().startOver();
        b.post->deliver();
        QVERIFY(b.reference().band());
        // The new runs have no sample of these steps.
        for (const LabRun& run : b.lab->comparison().runs) QVERIFY(!b.reference().verdict(run));
        b.open(b.failed);
        QVERIFY(b.reference().band() && Bench::bandOf(b.figure("growth")));
        QVERIFY(b.reference().verdict(b.lab->comparison().runs[0]));
    }
};

NORMSCOPE_TEST(HealthyReferenceTest)
#include "healthy_reference_test.moc"
