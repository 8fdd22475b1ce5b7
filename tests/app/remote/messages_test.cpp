// SPDX-License-Identifier: GPL-3.0-or-later
// What is sent arrives; what no engine sends is an error and nothing else.
#include "app/lab/remote/messages.h"

#include "core/base/error.h"
#include "core/recipe/presets.h"
#include "tests/app/window/small_recipe.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <random>

using namespace normscope;
using namespace normscope::app;
using normscope::test::smallRecipe;

namespace {

ProbeResult sample(std::int64_t step) {
    ProbeResult result{"growth", step, {}, {{"sites", {"emb", "blocks.0"}}}, 1.5};
    result.arrays.push_back({"rms", {3}, {1, std::nan(""), 3}, {"depth"}, "1"});
    return result;
}

CheckpointPtr checkpoint(std::int64_t step) {
    Checkpoint made;
    made.step = step;
    made.recipe = smallRecipe();
    made.params = {{"head", {2, 3}, StoredType::Float32, std::vector<std::byte>(24, std::byte{7})}};
    made.moment1 = made.moment2 = made.params;
    made.scalars = {{"loss_scale", 2.5}};
    made.integers = {{"seed", -3}};
    return std::make_shared<const Checkpoint>(made);
}

std::shared_ptr<const RunData> header() {
    RunData run;
    run.ln_vocab = 1, run.unigram_entropy = 2, run.bigram_entropy = 3, run.trigram_entropy = 4,
    run.entropy_rate = 5;
    run.id = "a", run.name = "Pre-LN Δt 0.2", run.backend = "cpu", run.device = "a processor", run.seed = 7;
    run.recipe = smallRecipe();
    run.outcome = {RunState::Diverged, 12, "step 12", 1};
    run.steps.append({0, {{"loss", 1.25}, {"grad_norm", 2}}});
    run.probes["growth"] = {sample(0)};
    run.events = {{3, "spike", "spike at step 3"}};
    return std::make_shared<const RunData>(run);
}

Frame frame() {
    Frame made;
    made.generation = 9, made.kind = Frame::Kind::Train, made.complete = true, made.ms = 2.5;
    made.probe_overhead = 0.25, made.device = {"cuda", {10, 4}, 99}, made.number = 5;
    made.times.prepared = made.times.taken + std::chrono::milliseconds(3);
    made.times.measured = made.times.taken + std::chrono::milliseconds(8);
    RunFrame run{"a"};
    run.header = header();
    run.delta.steps = {{1, {{"loss", 0.5}}}};
    run.delta.probes = {sample(1)};
    run.delta.events = {{1, "knob", "Δt 1 → 0.2"}};
    run.delta.outcome = Outcome{RunState::Finished, 1, "done", -1};
    run.draft = true, run.checkpoints = {checkpoint(2)}, run.gate_warnings = {"a gate"};
    run.rejected = "why", run.training = 11;
    made.runs = {run, RunFrame{"b"}};
    return made;
}

RunPlan plan() {
    RunPlan made{"a", "A", smallRecipe(), header(), checkpoint(4), HotKnobs{1, 2, 3, 4, 5, 6}};
    made.training = 3, made.recording = "file", made.backend = "cuda:1";
    return made;
}

SweepRequest sweep() {
    SweepSpec spec;
    spec.recipe = recipe_json(smallRecipe());
    spec.grid = {{"optimizer.lr", {"0.001", "0.01"}}};
    spec.seeds = {1, 2};
    return {15, "map", spec, "cuda:1", {{3, RunState::Diverged, 7, 1.5, 2.5, 3.5, 6, 0.25, "runs/3.h5"}}};
}

SweepReply ended() {
    return {16, SweepReply::Ended{sweep().known[0], {1, 4, 2.5}, std::string("\0bytes", 6)}};
}

std::vector<std::string> allMessages() {
    DraftControl control;
    control.first = {{1, 2}, {3, 4}, 5};
    control.ln_vocab = 6, control.kind = DraftControl::Kind::Slow, control.unigram_entropy = 7;
    const ReplayPlan replay{*header(), checkpoint(1), 5, {"growth"}, 8};
    DraftResult result;
    result.first = control.first, result.why_not = "slow", result.enough = true;
    return {
        to_bytes(ask::FindDevices{}),
        to_bytes(ask::Weights{3, {"name", "source", checkpoint(1)->params}}),
        to_bytes(ask::Explore{{5, {plan()}, {"growth"}, true}, {3}}),
        to_bytes(ask::Train{6, {plan(), plan()}, {0, 3}}),
        to_bytes(ask::SetKnobs{"a", {1, 2, 3, 4, 5, 6}}),
        to_bytes(ask::SetWatch{"a", {{WatchQuantity::Entropy, WatchComparator::Below, 0.5}}}),
        to_bytes(ask::SetInterventions{"a", {{}}}),
        to_bytes(ask::SetPaused{true}),
        to_bytes(ask::Stop{}),
        to_bytes(ask::Stop{std::vector<std::string>{"a", "b"}}),
        to_bytes(ask::Measure{{7, {{replay}}}}),
        to_bytes(ask::Branch{{8, replay}}),
        to_bytes(ask::Draft{{9, "cuda", control, {{2, smallRecipe()}}}}),
        to_bytes(ask::Follow{{12, {{"a", "/x", {{true, 1, 2, 3, 4, 5}, 6, 7, {{"growth", 8}}}}}}}),
        to_bytes(ask::Sweep{sweep()}),
        to_bytes(ask::StopSweep{17}),
        to_bytes(ask::Finish{}),
        to_bytes(reply::Devices{{{"cpu", "a processor", {2, 1}, "missing"}}}),
        to_bytes(reply::Framed{frame()}),
        to_bytes(reply::Rejected{4, "why"}),
        to_bytes(reply::Measured{5, "a", std::make_shared<const std::vector<ProbeResult>>(2, sample(3)), ""}),
        to_bytes(reply::Branched{6, checkpoint(9), "remark"}),
        to_bytes(reply::Drafted{7, 1, result}),
        to_bytes(reply::Followed{
            {13, {{"a", "/x", RecordingGrowth{*header(), true, "process 8", {{}, 1, 2, {}}}, ""}}, 2.5}}),
        to_bytes(reply::Swept{ended()}),
        to_bytes(reply::Swept{{18, SweepReply::Over{"not valid", "failed"}}}),
        to_bytes(reply::RecordedThere{"a", "path", "failed"})};
}

/// Empty, or what reading throws for bytes that are no message; anything else propagates.
template <class Read>
QString problemOf(Read&& read, const std::string& bytes) {
    try {
        read(bytes);
    } catch (const InputError& error) {
        return QString::fromUtf8(error.what());
    }
    return {};
}

}  // namespace

class MessagesTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aFrameArrivesWhole() {
        const Frame sent = frame();
        const Frame got = std::get<reply::Framed>(reply_of(to_bytes(reply::Framed{sent}))).frame;
        QCOMPARE(got.generation, 9u);
        QCOMPARE(got.kind, Frame::Kind::Train);
        QVERIFY(got.complete && got.ms == 2.5 && got.probe_overhead == 0.25 && got.number == 5);
        QVERIFY(got.device.backend == "cuda" && got.device.memory.total == 10 &&
                got.device.memory.free == 4 && got.device.resident == 99);
        QCOMPARE((got.times.prepared - got.times.taken).count(), 3000000);
        QCOMPARE((got.times.measured - got.times.taken).count(), 8000000);
        QCOMPARE(got.runs.size(), 2u);
        const RunFrame &run = got.runs[0], &from = sent.runs[0];
        QVERIFY(run.id == "a" && run.draft && run.training == 11 && run.rejected == "why");
        QCOMPARE(run.gate_warnings, from.gate_warnings);
        QVERIFY(*run.checkpoints.at(0) == *from.checkpoints[0]);
        QVERIFY(run.delta.steps.at(0).values == from.delta.steps[0].values);
        QCOMPARE(run.delta.events.at(0).text, from.delta.events[0].text);
        QVERIFY(run.delta.outcome->state == RunState::Finished && run.delta.outcome->text == "done");
        const ProbeResult& probe = run.delta.probes.at(0);
        QVERIFY(probe.probe == "growth" && probe.step == 1 && probe.cost_ms == 1.5);
        QCOMPARE(probe.labels, from.delta.probes[0].labels);
        QVERIFY(probe.arrays.at(0).name == "rms" && std::isnan(probe.arrays[0].data.at(1)));
        QVERIFY(probe.arrays[0].axes == from.delta.probes[0].arrays[0].axes && probe.arrays[0].unit == "1");
        const RunData& data = *run.header;
        QVERIFY(data.ln_vocab == 1 && data.unigram_entropy == 2 && data.bigram_entropy == 3 &&
                data.trigram_entropy == 4 && data.entropy_rate == 5);
        QVERIFY(data.name == "Pre-LN Δt 0.2" && data.backend == "cpu" && data.device == "a processor" &&
                data.seed == 7);
        QVERIFY(data.recipe == header()->recipe && data.outcome.layer == 1 &&
                data.steps.columns == header()->steps.columns);
        QCOMPARE(data.probes.at("growth").size(), 1u);
        QCOMPARE(data.events.at(0).kind, std::string("spike"));
        QVERIFY(!got.runs[1].header && got.runs[1].delta.empty());
    }

    void aPlanArrivesWhole() {
        const auto got = std::get<ask::Train>(ask_of(to_bytes(ask::Train{6, {plan()}, {3}})));
        const RunPlan& run = got.runs.at(0);
        QVERIFY(got.token == 6 && got.weights.at(0) == 3);
        QVERIFY(run.id == "a" && run.name == "A" && run.training == 3 && run.recording == "file" &&
                run.backend == "cuda:1");
        QVERIFY(run.recipe == smallRecipe() && run.knobs == plan().knobs && *run.start == *checkpoint(4));
        QCOMPARE(run.history->events.at(0).text, header()->events[0].text);
        const ask::SetInterventions change{"a", {{InterventionKind::NormEpsRisk}}};
        QVERIFY(std::get<ask::SetInterventions>(ask_of(to_bytes(change))).list == change.list);
    }

    void aSweepArrivesWhole() {
        const SweepRequest got = std::get<ask::Sweep>(ask_of(to_bytes(ask::Sweep{sweep()}))).request;
        QVERIFY(got.token == 15 && got.name == "map" && got.backend == "cuda:1" &&
                got.known == sweep().known);
        QCOMPARE(sweep_difference(got.spec, sweep().spec), std::string());
        const SweepReply reply = std::get<reply::Swept>(reply_of(to_bytes(reply::Swept{ended()}))).reply;
        const auto& row = std::get<SweepReply::Ended>(reply.what);
        QVERIFY(reply.token == 16 && row.row == sweep().known[0] &&
                row.recording == std::string("\0bytes", 6));
        QVERIFY(row.count.ended == 1 && row.count.total == 4 && row.count.remaining_seconds == 2.5);
        const SweepReply over{18, SweepReply::Over{"not valid", "failed"}};
        const auto last = std::get<SweepReply::Over>(
            std::get<reply::Swept>(reply_of(to_bytes(reply::Swept{over}))).reply.what);
        QVERIFY(last.not_valid == "not valid" && last.failed == "failed");
    }

    /// Every preset, as the window sends it: its text gives the same recipe.
    void everyPresetArrives() {
        for (const Preset& preset : presets()) {
            RunPlan sent = plan();
            sent.recipe = load_recipe(preset.name);
            const auto got = std::get<ask::Train>(ask_of(to_bytes(ask::Train{1, {sent}, {0}})));
            QVERIFY2(got.runs.at(0).recipe == sent.recipe, preset.name);
        }
    }

    void whatIsCutOffIsAnError() {
        for (const std::string& message : allMessages())
            for (std::size_t size = 0; size < message.size(); ++size) {
                const std::string part = message.substr(0, size);
                QVERIFY(!problemOf(ask_of, part).isEmpty() || !problemOf(reply_of, part).isEmpty());
            }
    }

    void damagedBytesEndNoProgram() {
        std::mt19937 random(3);
        int rejected = 0, all = 0;
        for (const std::string& message : allMessages())
            for (int i = 0; i < 1500; ++i, ++all) {
                std::string damaged = message;
                for (int n = 0; n <= i % 3; ++n)
                    damaged[random() % damaged.size()] = static_cast<char>(random());
                rejected += !problemOf(ask_of, damaged).isEmpty() && !problemOf(reply_of, damaged).isEmpty();
            }
        QVERIFY2(rejected > all / 10, qPrintable(QString::number(rejected)));
    }
};

NORMSCOPE_TEST(MessagesTest)
#include "messages_test.moc"
