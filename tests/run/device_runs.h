// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/experiment.h"

#include <cstring>
#include <map>
#include <string>
#include <vector>

// Short runs that every device must train: schemes, blocks, gate sites and precisions.

namespace normscope::device_runs {

/// name -> stack and other keys; the options meet in other pairs than in the presets.
inline const std::map<std::string, std::vector<std::string>> kRows = {
    {"none", {"stack.scheme=none"}},
    {"post", {"stack.scheme=post", "stack.residual_step=0.4", "stack.embedding_norm=true", "accumulate=2"}},
    {"pre", {"stack.scheme=pre", "optimizer.kind=muon"}},
    {"peri", {"stack.scheme=peri", "stack.branch_scale=channel", "stack.qk_norm=full"}},
    {"sandwich",
     {"stack.scheme=sandwich", "stack.logit_soft_cap=5", "stack.z_loss=0.01", "optimizer.kind=adam"}},
    {"deepnorm", {"stack.scheme=deepnorm", "stack.tied_head=true", "stack.temperature=1.5"}},
    {"mix",
     {"stack.scheme=mix", "stack.mix_post_fraction=0.5", "stack.activation=relu",
      "stack.branch_scale=scalar"}},
    {"lns", {"stack.scheme=lns", "stack.norm.kind=rmsnorm", "stack.bias=false", "optimizer.kind=sgd"}},
    {"output", {"stack.scheme=output", "stack.causal=false", "stack.activation=gelu_erf"}},
    {"custom",
     {"stack.scheme=custom",
      "stack.layers=[{\"index\":1,\"attn\":{\"in\":true,\"post\":true},"
      "\"ffn\":{\"out\":true,\"a\":0.8,\"b\":1.1}}]"}},
    {"llama", {"stack.block=llama", "stack.kv_heads=1", "stack.qk_norm=head"}},
    {"wide heads",
     {"stack.block=llama", "stack.head_width=6", "stack.activation=geglu", "stack.embedding_scale=4",
      "stack.rope_global_every=2", "stack.kv_heads=2", "stack.scheme=peri"}},
    {"capped scores, fixed gains, a bias at the head",
     {"stack.attention_soft_cap=0.5", "stack.norm.affine=false", "stack.head_bias=true"}},
    {"windows", {"stack.rope_global_every=2", "stack.window=3", "stack.block=llama"}},
    {"bf16 autocast, windows",
     {"precision=bf16", "precision_policy=autocast", "stack.rope_global_every=2", "stack.window=2"}},
    {"bf16, capped scores", {"precision=bf16", "stack.attention_soft_cap=0.5"}},
    {"one norm in a parallel layer, bf16 autocast",
     {"precision=bf16", "precision_policy=autocast", "stack.layout=parallel", "stack.shared_norm=true",
      "stack.attention_soft_cap=2"}},
    {"bf16 autocast, wide heads",
     {"precision=bf16", "precision_policy=autocast", "stack.head_width=8", "stack.activation=geglu"}},
    {"parallel", {"stack.layout=parallel", "stack.scheme=pre", "stack.branch_scale=channel"}},
    {"parallel gated", {"stack.layout=parallel", "stack.scheme=post", "stack.gpas.enabled=true"}},
    {"gate at the output", {"stack.gpas.enabled=true", "stack.gpas.site=output", "stack.gpas.clip=0.01"}},
    {"gate at the shortcut",
     {"stack.gpas.enabled=true", "stack.gpas.site=shortcut", "stack.scheme=deepnorm"}},
    {"gate at the input",
     {"stack.gpas.enabled=true", "stack.gpas.site=input", "stack.gpas.stop_gradient=false"}},
    {"gate at the norm", {"stack.gpas.enabled=true", "stack.gpas.site=norm", "stack.gpas.activation=tanh"}},
    {"gate at the branch",
     {"stack.gpas.enabled=true", "stack.gpas.site=branch", "stack.gpas.stop_gradient=false",
      "stack.branch_scale=scalar", "stack.scheme=peri"}},
    {"frozen gate", {"stack.gpas.enabled=true", "stack.gpas.learnable=false"}},
    {"float64", {"precision=fp64", "stack.scheme=peri", "stack.gpas.enabled=true"}},
    {"tf32", {"precision=tf32", "stack.block=llama", "accumulate=2"}},
    {"bf16", {"precision=bf16", "stack.gpas.enabled=true"}},
    {"bf16 llama", {"precision=bf16", "stack.block=llama", "stack.scheme=post", "stack.kv_heads=2"}},
    {"bf16 autocast", {"precision=bf16", "precision_policy=autocast", "stack.qk_norm=head"}},
    {"fp16", {"precision=fp16", "stack.scheme=sandwich", "stack.layout=parallel"}},
    {"images",
     {"data.source=images", "stack.image.size=12", "stack.image.patch=6", "accumulate=2",
      "validate.every=0"}},
    {"images, bf16",
     {"data.source=images", "stack.image.size=12", "stack.image.patch=6", "precision=bf16",
      "validate.every=0"}},
    {"raised eps",
     {"precision=bf16", "stack.norm.eps=0.1",
      "interventions=[{\"kind\":\"norm_eps\",\"rho\":0.3,\"cap\":1,\"every\":2,\"samples\":2}]"}},
    {"fp16 autocast", {"precision=fp16", "precision_policy=autocast", "stack.block=llama"}},
};

inline Recipe recipe_of(const std::string& row) {
    std::vector<std::string> settings{"stack.depth=2",     "stack.d_model=16", "stack.heads=4",
                                      "stack.context=9",   "batch=5",          "steps=4",
                                      "optimizer.lr=0.01", "validate.every=2"};
    const auto& own = kRows.at(row);
    settings.insert(settings.end(), own.begin(), own.end());
    Recipe recipe = load_recipe("pre-ln", settings);
    recipe.probes.clear();
    return recipe;
}

inline std::vector<std::string> all_probes() {
    std::vector<std::string> ids;
    for (const ProbeInfo& probe : probe_registry()) ids.emplace_back(probe.id);
    return ids;
}

/// A tensor of a checkpoint, in float64.
inline std::vector<double> stored_values(const StoredTensor& tensor) {
    const auto read = [&]<class T>(T) {
        std::vector<T> stored(tensor.bytes.size() / sizeof(T));
        std::memcpy(stored.data(), tensor.bytes.data(), tensor.bytes.size());
        return std::vector<double>(stored.begin(), stored.end());
    };
    return tensor.type == StoredType::Float64 ? read(double()) : read(float());
}

inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

/// The first array that is not the same; empty where all are.
inline std::string difference(const std::vector<ProbeResult>& a, const std::vector<ProbeResult>& b) {
    if (a.size() != b.size()) return "number of probes";
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i].arrays.size() != b[i].arrays.size() || a[i].labels != b[i].labels) return a[i].probe;
        for (std::size_t k = 0; k < a[i].arrays.size(); ++k)
            if (!same_bits(a[i].arrays[k].data, b[i].arrays[k].data))
                return a[i].probe + " " + a[i].arrays[k].name;
    }
    return "";
}

/// What a run gave.
struct Ran {
    std::vector<ProbeResult> before, after;
    std::vector<std::pair<std::string, std::vector<double>>> columns;
    Checkpoint middle, last;
};

/// Every probe, four steps with a checkpoint that another experiment continues from, the probes `at_end`.
inline Ran train(const Recipe& recipe, Device& device,
                 const std::vector<std::string>& at_end = all_probes()) {
    ThreadPool pool(2);
    Ran ran;
    Experiment experiment(recipe, "a", "test", nullptr, device);
    const auto measure = [&](Experiment& of, const std::vector<std::string>& ids,
                             std::vector<ProbeResult>& to) {
        of.measure(ids, pool, nullptr, [&](ProbeResult result) { to.push_back(std::move(result)); });
    };
    measure(experiment, all_probes(), ran.before);
    RunData run = experiment.header();
    for (int i = 0; i < 2; ++i) append(run, experiment.advance(pool));
    ran.middle = experiment.checkpoint();
    // The rest in an experiment that continues from there.
    Experiment restored(recipe, "a", "test", nullptr, device);
    restored.restore(ran.middle);
    HotKnobs knobs = restored.knobs();
    knobs.temperature *= 1.25;
    knobs.lr *= 0.5;
    append(run, restored.set_knobs(knobs));
    while (!restored.ended()) append(run, restored.advance(pool));
    measure(restored, at_end, ran.after);
    for (const char* name : {"loss", "val_loss", "grad_norm", "grad_ratio", "lr", "temperature"})
        ran.columns.emplace_back(name, *run.steps.find(name));
    ran.last = restored.checkpoint();
    return ran;
}

}  // namespace normscope::device_runs
