// SPDX-License-Identifier: GPL-3.0-or-later
// The claims of the selected run: what is measured, at which weights, and what becomes of late replies.
#include "app/lab/claims_check.h"

#include "core/claims/initial_input.h"
#include "core/run/checkpoints/replay.h"
#include "lab_bench.h"
#include "tests/support/test_main.h"

#include <QUndoStack>
#include <algorithm>
#include <cmath>

using namespace normscope;
using namespace normscope::app;
using Bench = normscope::test::LabBench;

namespace {

constexpr int kWait = 60000;  // ms, at most
const std::vector<std::string> kFew = {"E05", "E16", "E30", "B14", "K01"};

bool equal(double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

bool equal(const ClaimResult& a, const ClaimResult& b) {
    return a.verdict == b.verdict && equal(a.value, b.value) && equal(a.bound, b.bound) &&
           equal(a.residual, b.residual) && a.samples == b.samples && a.detail == b.detail;
}

/// Whether these results are those of an input, of at least one claim that reads the weights.
bool areOf(const CheckedClaims& checked, ClaimInput& input) {
    for (const auto& [id, result] : checked.results)
        if (!equal(result, check_claim(*find_claim(id), input))) return false;
    return checked.results.count("E16") && std::isfinite(checked.results.at("E16").value);
}

/// Replies that a test applies later.
struct Post {
    std::vector<std::function<void()>> held;
    bool hold = false;
    std::function<void(std::function<void()>)> function() {
        return [this](std::function<void()> reply) {
            if (hold)
                held.push_back(std::move(reply));
            else
                reply();
        };
    }
};

void measure(Bench& b) {
    b.lab->claims().start();
    QTRY_VERIFY_WITH_TIMEOUT(!b.lab->claims().running(), kWait);
}

void train(Bench& b) {
    b.lab->training().play();
    QTRY_VERIFY_WITH_TIMEOUT(!b.lab->comparison().exploring() && b.ended(), kWait);
}

}  // namespace

class ClaimsCheckTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void anUntrainedRunIsMeasuredAtItsInitialWeights() {
        Bench b;
        ClaimsCheck& check = b.lab->claims();
        check.setOnly(kFew);
        QVERIFY(!check.shown());
        QSignalSpy arrived(&check, &ClaimsCheck::measured);
        measure(b);
        QCOMPARE(check.failure(), QString());
        QVERIFY(check.shown());
        QCOMPARE(check.shown()->measured_at, std::optional<std::int64_t>(0));
        QCOMPARE(check.shown()->results.size(), kFew.size());
        QCOMPARE(arrived.size(), qsizetype(kFew.size()));  // one by one
        ThreadPool pool(1);
        QVERIFY(areOf(*check.shown(), *initial_claim_input(b.lab->comparison().selectedRun().recipe, pool)));
        QCOMPARE(check.shown()->results.at("E30").verdict, ClaimVerdict::Unknown);
    }

    void aTrainedRunIsMeasuredAtItsNewestCheckpoint() {
        Bench b(6);
        train(b);
        ClaimsCheck& check = b.lab->claims();
        check.setOnly(kFew);
        measure(b);
        QVERIFY(check.shown());
        QCOMPARE(check.shown()->measured_at, std::optional<std::int64_t>(6));
        QVERIFY(check.shown()->remark.isEmpty() && check.outdated().isEmpty());
        const LabRun& run = b.lab->comparison().selectedRun();
        const auto newest =
            std::max_element(run.checkpoints.begin(), run.checkpoints.end(),
                             [](const auto& one, const auto& other) { return one.step < other.step; });
        const auto& checkpoint = std::get<std::shared_ptr<const Checkpoint>>(newest->source.from);
        ThreadPool pool(1);
        QVERIFY(areOf(*check.shown(),
                      *recorded_claim_input(at_checkpoint(*checkpoint, "run"), "run", pool, *run.data)));
        QCOMPARE(check.shown()->results.at("E30").verdict, ClaimVerdict::Toy);  // it reads the recording
    }

    void atAnEarlierStepItIsReplayed() {
        Bench b(6);
        train(b);
        ClaimsCheck& check = b.lab->claims();
        check.setOnly(kFew);
        b.lab->view().setStep(3);
        measure(b);
        QVERIFY(check.shown());
        QCOMPARE(check.shown()->measured_at, std::optional<std::int64_t>(3));
        QVERIFY(check.shown()->remark.isEmpty());
        const LabRun& run = b.lab->comparison().selectedRun();
        ThreadPool pool(1);
        Replay replay({*run.data, nullptr, 3, {}});
        while (!replay.arrived()) replay.advance(pool);
        QVERIFY(areOf(*check.shown(), *recorded_claim_input(at_checkpoint(replay.checkpoint(), "run"), "run",
                                                            pool, *run.data)));
        // The step is part of the state.
        b.lab->view().setStep(LabView::kNewest);
        QCOMPARE(check.outdated(), QString("the window shows step 5"));
        measure(b);
        QCOMPARE(check.shown()->measured_at, std::optional<std::int64_t>(6));
        b.lab->view().setStep(3);
        QCOMPARE(check.outdated(), QString());
        QCOMPARE(check.shown()->measured_at, std::optional<std::int64_t>(3));
    }

    void whereItCannotBeReplayedItsWeightsAreThoseOfStepZero() {
        Bench b(6);
        train(b);
        auto data = std::make_shared<RunData>(*b.lab->comparison().selectedRun().data);
        data->events.push_back({2, "knob", "optimizer.lr 0.003→0.001"});
        WorkerThread<ClaimsWorker> worker("claims", 1, FileCalls([](const auto& work) { work(); }));
        // Taken in this thread; QSignalSpy would write them in the worker's.
        QList<QVariantList> began, ended;
        QObject here;
        connect(worker.get(), &ClaimsWorker::began, &here,
                [&](quint64 token, qint64 step, const QString& why) {
                    began.append({token, step, why});
                });
        connect(worker.get(), &ClaimsWorker::ended, &here, [&](quint64 token, const QString& problem) {
            ended.append({token, problem});
        });
        ClaimsRequest request;
        request.token = 7;
        request.recipe = b.lab->comparison().selectedRun().live;
        request.run = data;
        request.step = 3;
        request.ids = {"E30"};
        worker->check(request);
        QTRY_COMPARE_WITH_TIMEOUT(ended.size(), 1, kWait);
        QCOMPARE(began.size(), 1);
        QCOMPARE(began[0][0].toULongLong(), 7ULL);
        QCOMPARE(began[0][1].toLongLong(), 0LL);
        QVERIFY2(began[0][2].toString().contains("a knob was moved at step 2"),
                 qPrintable(began[0][2].toString()));
        // Weights that no seed draws are not replaced by drawn ones.
        data->events.insert(data->events.begin(), RunEvent{0, "weights", "from tiny.safetensors"});
        worker->check(request);
        QTRY_COMPARE_WITH_TIMEOUT(ended.size(), 2, kWait);
        QCOMPARE(began.size(), 1);
        QVERIFY(ended[1][1].toString().contains("began with weights"));
    }

    void cancellingEndsItAndKeepsWhatArrived() {
        Bench b;
        ClaimsCheck& check = b.lab->claims();
        QSignalSpy arrived(&check, &ClaimsCheck::measured);
        check.start();
        QVERIFY(check.running());
        QTRY_VERIFY_WITH_TIMEOUT(arrived.size() >= 3, kWait);
        check.cancel();
        QVERIFY(!check.running());
        const qsizetype before = arrived.size();
        QTest::qWait(500);  // in which none may arrive
        QCOMPARE(arrived.size(), before);
        QVERIFY(std::size_t(before) < check.wanted());
        QCOMPARE(check.shown()->results.size(), std::size_t(before));
        // The rest alone is measured.
        std::vector<std::string> ids;
        for (const auto& [id, _] : check.shown()->results) ids.push_back(id);
        ids.push_back("B14");
        check.setOnly(ids);
        measure(b);
        QCOMPARE(arrived.size(), before + 1);
        QCOMPARE(arrived.last()[0].toString(), QString("B14"));
        QCOMPARE(check.shown()->results.size(), ids.size());
        // All of them again where none is missing.
        measure(b);
        QCOMPARE(arrived.size(), before + 1 + qsizetype(ids.size()));
    }

    void anotherRunEndsItAndIsMeasuredByItself() {
        Bench b;
        ClaimsCheck& check = b.lab->claims();
        check.setOnly(kFew);
        measure(b);
        const CheckedClaims first = *check.shown();
        b.lab->runs().select(1);
        QVERIFY(!check.shown());
        check.start();
        b.lab->runs().select(0);
        QVERIFY(!check.running());
        QVERIFY(check.shown());
        QCOMPARE(check.shown()->subject.run, first.subject.run);
        QCOMPARE(check.outdated(), QString());  // kept, not measured again
        b.lab->runs().select(1);
        measure(b);
        ThreadPool pool(1);
        QVERIFY(areOf(*check.shown(), *initial_claim_input(b.lab->comparison().runs[1].recipe, pool)));
        QVERIFY(!equal(check.shown()->results.at("E16"), first.results.at("E16")) ||
                !equal(check.shown()->results.at("K01"), first.results.at("K01")));
    }

    void aChangedRecipeEndsItAndMarksItsResults() {
        Bench b;
        ClaimsCheck& check = b.lab->claims();
        check.setOnly(kFew);
        measure(b);
        check.start();
        QVERIFY(check.running());
        b.lab->knobs().commitKey("stack.norm.eps", 1e-3);
        QVERIFY(!check.running());
        measure(b);
        QCOMPARE(check.outdated(), QString());
        b.lab->knobs().commitKey("stack.norm.eps", 1e-2);
        QCOMPARE(check.outdated(), QString("the recipe has changed since"));
        QVERIFY(check.shown());
        b.lab->runs().undoStack()->undo();
        QCOMPARE(check.outdated(), QString());
        QCOMPARE(check.shown()->subject.recipe.stack.norm.eps, 1e-3);
        check.setOnly({});
    }

    void repliesToAnEarlierRequestAreDropped() {
        Post post;  // before the laboratory, which it outlives
        Bench b(6, post.function());
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), kWait);
        ClaimsCheck& check = b.lab->claims();
        check.setOnly(kFew);
        post.hold = true;
        check.start();
        QTRY_VERIFY_WITH_TIMEOUT(post.held.size() >= kFew.size() + 2, kWait);  // began, …, ended
        QVERIFY(check.running());
        const auto stale = std::exchange(post.held, {});
        b.lab->runs().select(1);
        check.start();
        for (const auto& reply : stale) reply();
        QVERIFY(check.running());
        QVERIFY(check.shown()->results.empty() && !check.shown()->measured_at);
        QTRY_VERIFY_WITH_TIMEOUT(post.held.size() >= kFew.size() + 2, kWait);
        post.hold = false;
        const auto own = std::exchange(post.held, {});
        for (const auto& reply : own) reply();
        for (const auto& reply : own) reply();  // duplicates change nothing
        QTRY_VERIFY_WITH_TIMEOUT(!check.running(), kWait);
        QCOMPARE(check.shown()->results.size(), kFew.size());
        ThreadPool pool(1);
        QVERIFY(areOf(*check.shown(), *initial_claim_input(b.lab->comparison().runs[1].recipe, pool)));
    }

    void whatCannotBeMeasuredStatesTheReason() {
        Bench b;
        b.lab->knobs().commitKey("data.source", "text");
        QVERIFY(b.lab->comparison().selectedRun().needsFile());
        ClaimsCheck& check = b.lab->claims();
        QVERIFY(!check.obstacle().isEmpty());
        check.start();
        QVERIFY(!check.running() && !check.shown());
    }
};

NORMSCOPE_TEST(ClaimsCheckTest)
#include "claims_check_test.moc"
