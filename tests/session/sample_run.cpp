// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/session/sample_run.h"

#include "core/base/error.h"

#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace normscope::sample {
namespace {

constexpr int depth = 3;

NamedArray array(const std::string& name, std::vector<std::size_t> shape, std::vector<std::string> axes,
                 double seed) {
    NamedArray result{name, std::move(shape), {}, std::move(axes), "1"};
    std::size_t count = 1;
    for (const auto extent : result.shape) count *= extent;
    for (std::size_t i = 0; i < count; ++i) result.data.push_back(seed + 0.25 * static_cast<double>(i));
    return result;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

bool same(const ProbeResult& a, const ProbeResult& b) {
    if (a.probe != b.probe || a.step != b.step || a.labels != b.labels || a.cost_ms != b.cost_ms ||
        a.arrays.size() != b.arrays.size())
        return false;
    for (std::size_t i = 0; i < a.arrays.size(); ++i) {
        const auto &x = a.arrays[i], &y = b.arrays[i];
        if (x.name != y.name || x.shape != y.shape || x.axes != y.axes || x.unit != y.unit ||
            !same_bits(x.data, y.data))
            return false;
    }
    return true;
}

bool same(const RunEvent& a, const RunEvent& b) {
    return a.step == b.step && a.kind == b.kind && a.text == b.text;
}

RunEvent event(std::int64_t step) {
    return {step, "knob", "Δt 1 → 0.2, step " + std::to_string(step)};
}

}  // namespace

StepRecord step(std::int64_t step) {
    const double s = static_cast<double>(step);
    const double quiet = std::bit_cast<double>(std::uint64_t{0x7ff8'0000'dead'beef});  // a NaN with a payload
    return {step,
            {{"loss", 3 + 1 / (s + 1)},
             {"val_loss", step % 5 ? quiet : s},
             {"grad_norm", s / 3},
             {"lr", 1e-3},
             {"temperature", 1},
             {"tokens_per_s", 1e5 + s}}};
}

ProbeResult growth(std::int64_t step) {
    ProbeResult result{"growth", step, {}, {}, 0.5 * static_cast<double>(step)};
    for (const char* name : {"ma", "var", "rms", "block_rms"})
        result.arrays.push_back(array(name, {2 * depth + 1}, {"depth"}, static_cast<double>(step)));
    for (const char* name : {"bound_ma", "bound_var"})
        result.arrays.push_back(
            {name, {2 * depth + 1}, std::vector<double>(2 * depth + 1, std::nan("")), {"depth"}, "1"});
    return result;
}

ProbeResult theta(std::int64_t step) {
    ProbeResult result{"theta", step, {}, {}, 1};
    for (const char* name : {"max", "mean", "below_099"})
        result.arrays.push_back(
            array(name, {depth, 300}, {"layer", "head"}, static_cast<double>(step)));  // 7 KiB
    result.arrays.push_back(array("width", {}, {}, static_cast<double>(step)));
    return result;
}

ProbeResult null_space(std::int64_t step) {
    ProbeResult result{"null_space", step, {}, {{"sites", {"blocks.0.attn.norm_post", "final_norm"}}}, 2};
    for (const char* name : {"gain", "erased_backward", "erased_forward", "bf16_rho_ln", "fp16_rho_ln"})
        result.arrays.push_back(array(name, {2}, {"site"}, static_cast<double>(step)));
    return result;
}

RunData run(const std::string& id, int steps) {
    RunData data;
    data.id = id;
    data.name = "Post-LN, Δt = 0.2";
    Recipe recipe;
    recipe.stack.depth = 3;
    recipe.stack.heads = recipe.stack.d_model = 300;  // as theta() above
    data.recipe = recipe;
    data.backend = "cpu";
    data.device = "a processor";
    data.seed = std::numeric_limits<std::uint64_t>::max();
    data.outcome = {RunState::Diverged, steps - 1, "step 212 · L7 ffn.w2 · inf", 7};
    data.ln_vocab = std::log(27.0);
    data.unigram_entropy = 3.09;
    data.bigram_entropy = 2.4;
    data.trigram_entropy = 1.6;
    data.entropy_rate = std::nan("");
    for (int s = 0; s < steps; ++s) {
        data.steps.append(step(s));
        if (s % 10 == 0) {
            data.probes["growth"].push_back(growth(s));
            data.probes["theta"].push_back(theta(s));
            data.probes["null_space"].push_back(null_space(s));
        }
        if (s % 7 == 0) data.events.push_back(event(s));
    }
    return data;
}

RecordingSchema schema(const std::string& id) {
    const RunData data = run(id, 1);
    RecordingSchema result{header_of(data), data.steps.names, {}};
    for (const auto& [probe, samples] : data.probes) result.probes.push_back(schema_of(samples.front()));
    return result;
}

std::string difference(const RunData& a, const RunData& b) {
    if (a.id != b.id) return "id";
    if (a.name != b.name) return "name";
    if (!(a.recipe == b.recipe)) return "recipe";
    if (a.backend != b.backend || a.device != b.device) return "backend";
    if (a.seed != b.seed) return "seed";
    if (a.outcome.state != b.outcome.state || a.outcome.step != b.outcome.step ||
        a.outcome.text != b.outcome.text || a.outcome.layer != b.outcome.layer)
        return "outcome";
    if (!same_bits({a.ln_vocab, a.unigram_entropy, a.bigram_entropy, a.trigram_entropy, a.entropy_rate},
                   {b.ln_vocab, b.unigram_entropy, b.bigram_entropy, b.trigram_entropy, b.entropy_rate}))
        return "floors";
    if (a.steps.step != b.steps.step || a.steps.names != b.steps.names) return "steps";
    for (std::size_t c = 0; c < a.steps.names.size(); ++c)
        if (!same_bits(a.steps.columns[c], b.steps.columns[c])) return "column " + a.steps.names[c];
    if (a.probes.size() != b.probes.size()) return "probes";
    for (const auto& [id, samples] : a.probes) {
        const auto other = b.probes.find(id);
        if (other == b.probes.end() || other->second.size() != samples.size()) return "samples of " + id;
        for (std::size_t i = 0; i < samples.size(); ++i)
            if (!same(samples[i], other->second[i])) return id + " sample " + std::to_string(i);
    }
    if (a.events.size() != b.events.size()) return "events";
    for (std::size_t i = 0; i < a.events.size(); ++i)
        if (!same(a.events[i], b.events[i])) return "event " + std::to_string(i);
    return "";
}

std::string broken_prefix(const RunData& read) {
    for (std::size_t row = 0; row < read.steps.rows(); ++row) {
        const StepRecord wanted = step(static_cast<std::int64_t>(row));
        if (read.steps.step[row] != wanted.step) return "step of row " + std::to_string(row);
        for (std::size_t c = 0; c < read.steps.names.size(); ++c)
            if (!same_bits({read.steps.columns[c][row]}, {wanted.values[c].second}))
                return read.steps.names[c] + " of row " + std::to_string(row);
    }
    const std::map<std::string, ProbeResult (*)(std::int64_t)> makers{
        {"growth", growth}, {"theta", theta}, {"null_space", null_space}};
    for (const auto& [id, samples] : read.probes)
        for (std::size_t i = 0; i < samples.size(); ++i)
            if (!same(samples[i], makers.at(id)(static_cast<std::int64_t>(10 * i))))
                return id + " sample " + std::to_string(i);
    for (std::size_t i = 0; i < read.events.size(); ++i)
        if (!same(read.events[i], event(static_cast<std::int64_t>(7 * i))))
            return "event " + std::to_string(i);
    return "";
}

int with_child(const std::function<int()>& child, const std::function<void(int)>& parent) {
    const pid_t pid = ::fork();
    if (pid < 0) throw SystemError("fork failed");
    if (pid == 0) {
        int code = 99;
        try {
            code = child();
        } catch (const std::exception& error) {
            ::dprintf(2, "child: %s\n", error.what());
        }
        ::_exit(code);
    }
    parent(pid);
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

std::string input_error(const std::function<void()>& action) {
    try {
        action();
    } catch (const InputError& error) {
        return error.what();
    }
    return "nothing thrown";
}

}  // namespace normscope::sample
