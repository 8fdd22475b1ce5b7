// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/claims/claim_input.h"

#include "core/model/initial_weights.h"
#include "core/probe/interface/probe_input.h"
#include "core/train/schedule.h"

#include <algorithm>
#include <utility>

namespace normscope {

namespace {

const Quantities& engine_quantities() {
    static const Quantities quantities;
    return quantities;
}

}  // namespace

Batch first_tokens(const Batch& batch, int tokens) {
    Batch first = batch.part(0, 1, tokens);
    first.targets.clear();
    return first;
}

void require_all_places(const ProbeResult& sample, const NamedArray& array) {
    if (lacks_entries(sample, array))
        throw NotMeasured("needs a recorded run with the whole array " + array.name + " of the probe " +
                          sample.probe + ", and this one measured only " + sample.only());
}

Numerics initial_numerics(const Recipe& recipe) {
    const StackSpec& s = recipe.stack;
    return {s.residual_step, temperature(recipe.train.schedule, s.temperature, 0), s.norm.eps};
}

ClaimInput::ClaimInput(Recipe recipe, Transformer<double> model, Batch batch, ThreadPool& pool,
                       std::int64_t step, const RunData* run, const Quantities* quantities,
                       const std::atomic<bool>* cancel)
    : recipe_(std::move(recipe)),
      model_(std::move(model)),
      batch_(std::move(batch)),
      pool_(pool),
      step_(step),
      run_(run),
      quantities_(quantities ? quantities : &engine_quantities()),
      cancel_(cancel) {}

std::string ClaimInput::where() const {
    return "step " + std::to_string(step_) + (run_ ? " of the run" : "");
}

const Tape<double>& ClaimInput::tape() {
    if (!tape_) {
        check_cancelled();
        model_.forward(batch_, tape_.emplace(), pool_);
    }
    return *tape_;
}

const ProbeResult& ClaimInput::probe(const std::string& id) {
    auto found = probes_.find(id);
    if (found == probes_.end()) {
        check_cancelled();
        found = probes_.emplace(id, quantities_->probe(id.c_str(), model_, batch_, pool_, step_)).first;
    }
    return found->second;
}

const std::vector<double>& ClaimInput::values(const std::string& id, const std::string& array) {
    const NamedArray* found = probe(id).find(array);
    if (!found) throw NotMeasured("needs the array " + array + " of the probe " + id);
    return found->data;
}

void ClaimInput::give(ProbeResult result) {
    const std::string id = result.probe;
    probes_[id] = std::move(result);
}

const ClaimInput::Maps& ClaimInput::maps() {
    if (maps_) return *maps_;
    const int d = spec().d_model;
    if (d > kWidest)
        throw NotMeasured("needs dense maps, of a width up to " + std::to_string(kWidest) + ", and d is " +
                          std::to_string(d));
    Maps maps;
    maps.tokens = std::clamp(kDense / d, 1, batch_.length);
    model_.forward(first_tokens(batch_, maps.tokens), maps.tape, pool_);
    for (int k = 0; k < 2 * spec().depth; ++k) {
        check_cancelled();
        maps.sublayers.push_back(quantities_->jacobian(model_, maps.tape, k, k + 1, Jacobian::Backprop));
    }
    return maps_.emplace(std::move(maps));
}

const std::vector<double>& ClaimInput::map_values(std::size_t sublayer) {
    auto found = map_values_.find(sublayer);
    if (found == map_values_.end())
        found = map_values_.emplace(sublayer, quantities_->singular_values(maps().sublayers[sublayer])).first;
    return found->second;
}

double ClaimInput::branch_norm(std::size_t sublayer) {
    auto found = branch_norms_.find(sublayer);
    if (found == branch_norms_.end()) {
        const Matrix& map = maps().sublayers[sublayer];
        const Matrix branch = map - Matrix::Identity(map.rows(), map.cols());
        found = branch_norms_.emplace(sublayer, quantities_->singular_values(branch).front()).first;
    }
    return found->second;
}

ClaimInput& ClaimInput::variant(const std::string& name, const std::function<void(StackSpec&)>& edit) {
    auto& kept = variants_[name];
    if (kept) return *kept;
    check_cancelled();
    Recipe recipe = recipe_;
    edit(recipe.stack);
    validate(recipe.stack);
    const std::size_t weights = ParameterTable(recipe.stack).size();
    if (weights > kMaxWeights)
        throw NotMeasured("needs the same stack " + name + ", of up to " + std::to_string(kMaxWeights) +
                          " weights, and it has " + std::to_string(weights));
    Transformer<double> model(recipe.stack, recipe.train.seed);
    model.numerics = initial_numerics(recipe);
    kept = std::make_unique<ClaimInput>(std::move(recipe), std::move(model), batch_, pool_, 0, nullptr,
                                        quantities_, cancel_);
    kept->name_ = "the same stack " + name + " at step 0: ";
    return *kept;
}

ClaimInput& ClaimInput::with_scheme(Scheme scheme) {
    if (spec().scheme == scheme && spec().layers.empty() && spec().layout == Layout::Serial) return *this;
    return variant(std::string("with scheme ") + scheme_row(scheme).word, [&](StackSpec& s) {
        s.scheme = scheme;
        s.layers.clear();
        s.layout = Layout::Serial;
    });
}

ClaimInput& ClaimInput::with_layer_norm(Scheme scheme) {
    if (spec().norm.kind == NormKind::LayerNorm) return with_scheme(scheme);
    return variant(std::string("with LayerNorm and scheme ") + scheme_row(scheme).word, [&](StackSpec& s) {
        s.scheme = scheme;
        s.layers.clear();
        s.layout = Layout::Serial;
        s.norm.kind = NormKind::LayerNorm;
    });
}

void ClaimInput::check_cancelled() const {
    if (cancel_ && cancel_->load(std::memory_order_relaxed)) throw Cancelled{};
}

}  // namespace normscope
