// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/remote/messages.h"

#include "app/lab/remote/archives.h"
#include "core/base/error.h"

// One function a type, in its namespace: the members that are sent.

namespace normscope {

using app::wire::limited;

constexpr InterventionKind kLastIntervention{-1
#define NORMSCOPE_INTERVENTION(kind, word) +1
#include "core/recipe/interventions.inc"
#undef NORMSCOPE_INTERVENTION
};

template <class A>
void save(A& archive, const Recipe& recipe) {
    archive(recipe_json(recipe, -1));
}
template <class A>
void load(A& archive, Recipe& recipe) {
    std::string text;
    archive(text);
    recipe = parse_recipe(text, "the recipe of a run");
}
template <class A>
void save(A& archive, const RunRecipe& recipe) {
    archive(recipe.get() != nullptr, recipe.text());
}
template <class A>
void load(A& archive, RunRecipe& recipe) {
    bool read = false;
    std::string text;
    archive(read, text);
    recipe = text.empty() ? RunRecipe() : RunRecipe::read(text);
    if (read && !recipe.get()) throw InputError("the recipe of a run: " + recipe.problem());
}
template <class A>
void save(A& archive, const StoredTensor& tensor) {
    archive(tensor.name, tensor.shape, static_cast<std::int32_t>(tensor.type),
            static_cast<std::uint64_t>(tensor.bytes.size()));
    archive(cereal::binary_data(tensor.bytes.data(), tensor.bytes.size()));
}
template <class A>
void load(A& archive, StoredTensor& tensor) {
    cereal::size_type size = 0;
    archive(tensor.name, tensor.shape, limited(tensor.type, StoredType::Other), cereal::make_size_tag(size));
    tensor.bytes.resize(static_cast<std::size_t>(size));
    archive(cereal::binary_data(tensor.bytes.data(), tensor.bytes.size()));
}
template <class A>
void serialize(A& archive, HotKnobs& knobs) {
    archive(knobs.residual_step, knobs.temperature, knobs.eps, knobs.lr, knobs.weight_decay, knobs.clip);
}
template <class A>
void serialize(A& archive, WatchSpec& watch) {
    archive(limited(watch.quantity, WatchQuantity::Entropy), limited(watch.is, WatchComparator::Below),
            watch.value);
}
template <class A>
void serialize(A& archive, InterventionSpec& spec) {
    archive(limited(spec.kind, kLastIntervention), spec.rho, spec.cap, spec.floor, spec.every, spec.samples);
}
template <class A>
void serialize(A& archive, DeviceMemory& memory) {
    archive(memory.total, memory.free);
}
template <class A>
void serialize(A& archive, KnownDevice& device) {
    archive(device.backend, device.name, device.memory, device.missing);
}
template <class A>
void serialize(A& archive, NamedArray& array) {
    archive(array.name, array.shape, array.data, array.axes, array.unit);
}
template <class A>
void serialize(A& archive, ProbeResult& result) {
    archive(result.probe, result.step, result.arrays, result.labels, result.cost_ms);
}
template <class A>
void serialize(A& archive, StepRecord& record) {
    archive(record.step, record.values);
}
template <class A>
void serialize(A& archive, StepTable& table) {
    archive(table.step, table.names, table.columns);
}
template <class A>
void serialize(A& archive, RunEvent& event) {
    archive(event.step, event.kind, event.text);
}
template <class A>
void serialize(A& archive, Outcome& outcome) {
    archive(limited(outcome.state, RunState::Failed), outcome.step, outcome.text, outcome.layer);
}
template <class A>
void serialize(A& archive, RunData& run) {
    archive(run.ln_vocab, run.unigram_entropy, run.bigram_entropy, run.trigram_entropy, run.entropy_rate);
    archive(run.id, run.name, run.recipe, run.backend, run.device, run.seed, run.outcome);
    archive(run.steps, run.probes, run.events);
}
template <class A>
void serialize(A& archive, RunDelta& delta) {
    archive(delta.steps, delta.probes, delta.events, delta.outcome);
}
template <class A>
void serialize(A& archive, FileIdentity& file) {
    archive(file.exists, file.device, file.inode, file.bytes, file.seconds, file.nanoseconds);
}
template <class A>
void serialize(A& archive, RecordingMark& mark) {
    archive(mark.file, mark.rows, mark.events, mark.samples);
}
template <class A>
void serialize(A& archive, RecordingGrowth& growth) {
    archive(growth.run, growth.whole, growth.writer, growth.mark);
}
template <class A>
void serialize(A& archive, Checkpoint& checkpoint) {
    archive(checkpoint.step, checkpoint.recipe, checkpoint.params, checkpoint.moment1, checkpoint.moment2,
            checkpoint.scalars, checkpoint.integers);
}
template <class A>
void serialize(A& archive, ReplayPlan& plan) {
    archive(plan.header, plan.checkpoint, plan.step, plan.probes, plan.last);
}
template <class A>
void serialize(A& archive, FirstSteps& first) {
    archive(first.loss, first.gradient, first.overflows);
}
template <class A>
void serialize(A& archive, DraftControl& control) {
    archive(control.first, control.ln_vocab, limited(control.kind, DraftControl::Kind::Later),
            control.unigram_entropy);
}
template <class A>
void save(A& archive, const SweepSpec& spec) {
    archive(sweep_json(spec));
}
template <class A>
void load(A& archive, SweepSpec& spec) {
    std::string text;
    archive(text);
    spec = parse_sweep(text, "a sweep");
}
template <class A>
void serialize(A& archive, SweepRow& row) {
    archive(row.run, limited(row.state, RunState::Failed), row.steps, row.final_loss, row.best_loss,
            row.held_out_loss, row.diverged_at, row.seconds, row.recording);
}
template <class A>
void serialize(A& archive, SweepCount& count) {
    archive(count.ended, count.total, count.remaining_seconds);
}
template <class A>
void serialize(A& archive, DraftResult& result) {
    archive(result.first, result.loss, result.gradient, result.gain, result.error, result.by_gradient,
            result.enough, result.why_not);
}

}  // namespace normscope

namespace normscope::app {

template <class A>
void serialize(A& archive, StartWeights& weights) {
    archive(weights.name, weights.source, weights.tensors);
}
template <class A>
void serialize(A& archive, RunFrame& run) {
    archive(run.id, run.header, run.delta, run.draft, run.checkpoints, run.gate_warnings, run.rejected,
            run.training);
}
template <class A>
void serialize(A& archive, DeviceUse& use) {
    archive(use.backend, use.memory, use.resident);
}
/// Clocks differ between machines: how long after the request was taken.
template <class A>
void save(A& archive, const FrameTimes& times) {
    const std::int64_t prepared = (times.prepared - times.taken).count();
    const std::int64_t measured = (times.measured - times.taken).count();
    archive(prepared, measured);
}
template <class A>
void load(A& archive, FrameTimes& times) {
    std::int64_t prepared = 0, measured = 0;
    archive(prepared, measured);
    times.prepared = times.taken + FrameTimes::Time::duration(prepared);
    times.measured = times.taken + FrameTimes::Time::duration(measured);
}
template <class A>
void serialize(A& archive, Frame& frame) {
    archive(frame.generation, wire::limited(frame.kind, Frame::Kind::Train), frame.runs, frame.complete,
            frame.ms, frame.probe_overhead, frame.device, frame.number, frame.times);
}
template <class A>
void serialize(A& archive, RunPlan& plan) {
    archive(plan.id, plan.name, plan.recipe, plan.history, plan.start, plan.knobs, plan.training,
            plan.recording, plan.backend);
}
template <class A>
void serialize(A& archive, ExploreRequest& request) {
    archive(request.generation, request.runs, request.probes, request.dragging);
}
template <class A>
void serialize(A& archive, MeasurePlan& plan) {
    archive(plan.replay);
}
template <class A>
void serialize(A& archive, MeasureRequest& request) {
    archive(request.token, request.runs);
}
template <class A>
void serialize(A& archive, BranchRequest& request) {
    archive(request.token, request.replay);
}
template <class A>
void serialize(A& archive, DraftRequest::Item& item) {
    archive(item.index, item.recipe);
}
template <class A>
void serialize(A& archive, DraftRequest& request) {
    archive(request.token, request.backend, request.control, request.items);
}

template <class A>
void serialize(A& archive, FollowRequest::Run& run) {
    archive(run.id, run.path, run.known);
}
template <class A>
void serialize(A& archive, FollowRequest& request) {
    archive(request.token, request.runs);
}
template <class A>
void serialize(A& archive, FollowReply::Run& run) {
    archive(run.id, run.path, run.growth, run.problem);
}
template <class A>
void serialize(A& archive, FollowReply& reply) {
    archive(reply.token, reply.runs, reply.ms);
}

template <class A>
void serialize(A& archive, SweepRequest& request) {
    archive(request.token, request.name, request.spec, request.backend, request.known);
}
template <class A>
void serialize(A& archive, SweepReply::Begun& reply) {
    archive(reply.count);
}
template <class A>
void serialize(A& archive, SweepReply::Started& reply) {
    archive(reply.run);
}
template <class A>
void serialize(A& archive, SweepReply::Ended& reply) {
    archive(reply.row, reply.count, reply.recording);
}
template <class A>
void serialize(A& archive, SweepReply::Noted& reply) {
    archive(reply.line);
}
template <class A>
void serialize(A& archive, SweepReply::Over& reply) {
    archive(reply.not_valid, reply.failed);
}
template <class A>
void serialize(A& archive, SweepReply& reply) {
    archive(reply.token, reply.what);
}

namespace ask {

template <class A>
void serialize(A&, FindDevices&) {}
template <class A>
void serialize(A& archive, Weights& message) {
    archive(message.number, message.weights);
}
template <class A>
void serialize(A& archive, Explore& message) {
    archive(message.request, message.weights);
}
template <class A>
void serialize(A& archive, Train& message) {
    archive(message.token, message.runs, message.weights);
}
template <class A>
void serialize(A& archive, SetKnobs& message) {
    archive(message.id, message.knobs);
}
template <class A>
void serialize(A& archive, SetWatch& message) {
    archive(message.id, message.watch);
}
template <class A>
void serialize(A& archive, SetInterventions& message) {
    archive(message.id, message.list);
}
template <class A>
void serialize(A& archive, SetPaused& message) {
    archive(message.paused);
}
template <class A>
void serialize(A&, SingleStep&) {}
template <class A>
void serialize(A& archive, Stop& message) {
    archive(message.ids);
}
template <class A>
void serialize(A& archive, Measure& message) {
    archive(message.request);
}
template <class A>
void serialize(A& archive, Branch& message) {
    archive(message.request);
}
template <class A>
void serialize(A&, CancelBranches&) {}
template <class A>
void serialize(A& archive, Draft& message) {
    archive(message.request);
}
template <class A>
void serialize(A& archive, Follow& message) {
    archive(message.request);
}
template <class A>
void serialize(A& archive, Sweep& message) {
    archive(message.request);
}
template <class A>
void serialize(A& archive, StopSweep& message) {
    archive(message.token);
}
template <class A>
void serialize(A&, FrameShown&) {}
template <class A>
void serialize(A&, Finish&) {}

}  // namespace ask

namespace reply {

template <class A>
void serialize(A& archive, Devices& message) {
    archive(message.devices);
}
template <class A>
void serialize(A& archive, Framed& message) {
    archive(message.frame);
}
template <class A>
void serialize(A& archive, Rejected& message) {
    archive(message.generation, message.message);
}
template <class A>
void serialize(A& archive, StartRejected& message) {
    archive(message.token, message.id, message.message);
}
template <class A>
void serialize(A& archive, Replayed& message) {
    archive(message.token, message.id, message.steps_done);
}
template <class A>
void serialize(A& archive, Measured& message) {
    archive(message.token, message.id, message.results, message.failed);
}
template <class A>
void serialize(A& archive, Branching& message) {
    archive(message.token, message.steps_done);
}
template <class A>
void serialize(A& archive, Branched& message) {
    archive(message.token, message.checkpoint, message.failed);
}
template <class A>
void serialize(A& archive, Drafted& message) {
    archive(message.token, message.index, message.result);
}
template <class A>
void serialize(A& archive, Followed& message) {
    archive(message.reply);
}
template <class A>
void serialize(A& archive, Swept& message) {
    archive(message.reply);
}
template <class A>
void serialize(A& archive, RecordedThere& message) {
    archive(message.id, message.path, message.failed);
}
template <class A>
void serialize(A& archive, NotUnderstood& message) {
    archive(message.why);
}
template <class A>
void serialize(A&, Finished&) {}

}  // namespace reply

namespace {

template <class Message>
std::string written(const Message& message) {
    wire::Writer writer;
    writer(message);
    return std::move(writer.bytes);
}

template <class Message>
Message readMessage(const std::string& bytes) {
    Message message;
    try {
        wire::Reader reader(bytes);
        reader(message);
        if (reader.left() > 0) throw InputError("a message is longer than it should be");
    } catch (const cereal::Exception& error) {
        throw InputError(error.what());
    }
    return message;
}

}  // namespace

std::string to_bytes(const ask::Any& message) {
    return written(message);
}
std::string to_bytes(const reply::Any& message) {
    return written(message);
}
ask::Any ask_of(const std::string& bytes) {
    return readMessage<ask::Any>(bytes);
}
reply::Any reply_of(const std::string& bytes) {
    return readMessage<reply::Any>(bytes);
}

}  // namespace normscope::app
