// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/interventions/interventions.h"

#include "core/base/error.h"
#include "core/base/nan.h"
#include "core/base/number_text.h"
#include "core/base/statistics.h"
#include "core/probe/registry.h"
#include "core/theory/norm_precision.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace normscope {

namespace {

/// The event names so many norms; the others are counted.
constexpr std::size_t kNamed = 3;

double unit_round_off(Precision precision) {
    switch (precision) {
        case Precision::Bf16:
            return kUnitRoundOffBf16;
        case Precision::Fp16:
        case Precision::Tf32:  // as many significant bits
            return kUnitRoundOffFp16;
        case Precision::Fp32:
            return 0x1p-24;
        case Precision::Fp64:
            break;
    }
    return 0x1p-53;
}

bool has_eps(const NormSite& site) {
    return norm_kind_row(site.offsets.kind).nulls != NormNulls::None;
}

template <class T>
double median_variance(const NormSite& site, const Tape<T>& tape, std::size_t d) {
    if (!has_eps(site)) return kNaN;
    const bool centred = norm_kind_row(site.offsets.kind).nulls == NormNulls::MeanAndInput;
    const auto rows = static_cast<std::size_t>(tape.rows());
    const HostView<T> x = tape.view(norm_site_input(site, tape).x, rows * d);
    std::vector<double> variances;
    for (std::size_t r = 0; r < rows; ++r) {
        const T* token = x.data() + r * d;
        const double mean = centred ? std::accumulate(token, token + d, 0.0) / static_cast<double>(d) : 0;
        double squares = 0;
        for (std::size_t i = 0; i < d; ++i) {
            const double deviation = static_cast<double>(token[i]) - mean;
            squares += deviation * deviation;
        }
        variances.push_back(squares / static_cast<double>(d));
        if (!std::isfinite(squares)) return kNaN;
    }
    return median(std::move(variances));
}

std::string raised_text(const std::vector<NormSite>& sites, const std::vector<double>& before,
                        const std::vector<double>& after) {
    std::string text;
    std::size_t changed = 0;
    for (std::size_t i = 0; i < sites.size(); ++i) {
        if (before[i] == after[i]) continue;
        if (++changed <= kNamed)
            text += (text.empty() ? "" : ", ") + sites[i].name + " " + number_text(before[i]) + " → " +
                    number_text(after[i]);
    }
    if (changed == 0) return {};
    if (changed > kNamed) text += ", and " + std::to_string(changed - kNamed) + " more";
    return "ε raised: " + text;
}

}  // namespace

void Intervention::restore(const std::vector<double>& state) {
    if (!state.empty()) throw InputError("checkpoint: an intervention without a state has one");
}

std::unique_ptr<Intervention> make_intervention(const InterventionSpec& spec) {
    switch (spec.kind) {
#define NORMSCOPE_INTERVENTION(kind, word) \
    case InterventionKind::kind:           \
        return intervention_of<InterventionKind::kind>(spec);
#include "core/recipe/interventions.inc"
#undef NORMSCOPE_INTERVENTION
    }
    return nullptr;
}

void validate_interventions(const Recipe& recipe) {
    if (recipe.interventions.empty()) return;
    const std::vector<NormSite> sites = norm_sites(recipe.stack, ParameterTable(recipe.stack));
    for (std::size_t i = 0; i < recipe.interventions.size(); ++i) {
        const InterventionSpec& spec = recipe.interventions[i];
        const std::string where = "interventions[" + std::to_string(i) + "].";
        if (std::none_of(sites.begin(), sites.end(), has_eps))
            throw InputError(
                where + "kind",
                std::string(word_of(spec.kind)) + " raises ε, and this stack has no norm with one",
                "a stack with LayerNorm or RMSNorm");
        if (spec.cap < recipe.stack.norm.eps)
            throw InputError(where + "cap", plain_number(spec.cap) + " is below the present ε",
                             "at least stack.norm.eps, " + plain_number(recipe.stack.norm.eps));
        if (spec.floor > spec.cap)
            throw InputError(where + "floor", plain_number(spec.floor) + " is above the cap",
                             "0 … " + plain_number(spec.cap));
    }
}

Interventions::Interventions(const std::vector<InterventionSpec>& list) : list_(list) {
    for (const InterventionSpec& spec : list_) rules_.push_back(make_intervention(spec));
}

bool Interventions::due_at(std::int64_t step) const {
    return std::any_of(list_.begin(), list_.end(),
                       [&](const InterventionSpec& spec) { return step % spec.every == 0; });
}

template <class T>
std::string Interventions::apply(Trainer<T>& trainer, const Recipe& recipe, ThreadPool& pool,
                                 ProbeMemory<T>& memory) {
    const std::int64_t step = trainer.steps_done();
    if (!due_at(step)) return {};
    trainer.prepare_numerics();
    const Transformer<T>& model = trainer.model();
    const auto& sites = model.sites();
    const auto d = static_cast<std::size_t>(model.spec().d_model);
    InterventionInput input{step, unit_round_off(recipe.train.precision), model.numerics.eps, {}, {}, {}};
    for (const NormSite& site : sites)
        input.norms.push_back(
            {site.sublayer < 0 ? -1 : site.sublayer / 2, norm_eps(model, site), static_cast<double>(d)});
    input.variances = [&](int sequences) {
        const Batch batch = trainer.next_batch(sequences);
        ProbeInput<T> measured(model, batch, pool, step, nullptr, 1, &memory);
        std::vector<double> variances;
        for (const NormSite& site : sites) variances.push_back(median_variance(site, measured.tape(), d));
        return variances;
    };
    input.risks = [&](int sequences) {
        const Batch batch = trainer.next_batch(sequences);
        ProbeInput<T> measured(model, batch, pool, step, nullptr, 1, &memory);
        std::vector<double> risks;
        const ProbeInfo* const fragility[] = {find_probe("fragility")};
        run_probes<T>(fragility, measured,
                      [&](const ProbeResult& result) { risks = result.find("predictor_v2")->data; });
        for (double& risk : risks) risk *= input.unit_round_off;
        return risks;
    };

    std::vector<double> before;
    for (const NormState& norm : input.norms) before.push_back(norm.eps);
    for (std::size_t i = 0; i < list_.size(); ++i) {
        if (step % list_[i].every != 0) continue;
        const std::vector<double> eps = rules_[i]->eps(input);
        for (std::size_t site = 0; site < sites.size(); ++site)
            if (has_eps(sites[site])) input.norms[site].eps = eps[site];
    }
    std::vector<double> after;
    for (const NormState& norm : input.norms) after.push_back(norm.eps);
    const std::string text = raised_text(sites, before, after);
    if (!text.empty()) trainer.raise_eps(after);
    return text;
}

template <class T>
std::string Interventions::undo(Trainer<T>& trainer) {
    if (trainer.raised_eps().empty()) return {};
    trainer.raise_eps({});
    return "ε of every norm is " + number_text(trainer.model().numerics.eps) + " again";
}

std::vector<std::vector<double>> Interventions::state() const {
    std::vector<std::vector<double>> states;
    for (const auto& rule : rules_) states.push_back(rule->state());
    return states;
}

void Interventions::restore(std::size_t entry, const std::vector<double>& state) {
    rules_.at(entry)->restore(state);
}

#define NORMSCOPE_INSTANTIATE(T)                                                                         \
    template std::string Interventions::apply(Trainer<T>&, const Recipe&, ThreadPool&, ProbeMemory<T>&); \
    template std::string Interventions::undo(Trainer<T>&);
NORMSCOPE_INSTANTIATE(float)
NORMSCOPE_INSTANTIATE(double)
#undef NORMSCOPE_INSTANTIATE

}  // namespace normscope
