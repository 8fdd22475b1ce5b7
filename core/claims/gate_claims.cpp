// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/claims/claim_rows.h"
#include "core/claims/claims.h"
#include "core/claims/measure.h"
#include "core/probe/interface/probe_input.h"
#include "core/run/evaluation.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace normscope {

namespace {

using Matrix = Quantities::Matrix;
using Vector = Eigen::VectorXd;

// α of the rows that need a gate that acts; the second where the gates of all layers multiply.
constexpr double kGate = 0.5, kSmallGate = 0.1;

double silu(double x) {
    return x / (1 + std::exp(-x));
}

/// The Pre-LN stack with or without gates after the sum.
ClaimInput& pre_stack(ClaimInput& input, bool gates) {
    return input.variant(std::string("with scheme pre, ") + (gates ? "with" : "without") + " gates",
                         [&](StackSpec& s) {
                             s.scheme = Scheme::Pre;
                             s.layers.clear();
                             s.layout = Layout::Serial;
                             s.gpas = GpasSpec{};
                             s.gpas.enabled = gates;
                         });
}

void set_gates(Transformer<double>& model, double alpha) {
    HostEdit<double> edit(model.device(), model.parameters().data(), model.parameters().size());
    // The other weights as they are, where the host edits a copy.
    const HostView<double> now = model.host_parameters();
    if (edit.data() != now.data()) std::copy(now.begin(), now.end(), edit.data());
    for (const TensorInfo& t : model.table().tensors())
        if (t.is_gate()) edit.data()[t.offset] = alpha;
    edit.commit();
}

/// Loss and parameter gradients of the batch, by tensor name.
struct Gradient {
    double loss = 0;
    std::map<std::string, std::vector<double>> gradients;
};
Gradient passes(ClaimInput& stack) {
    Gradient result;
    ProbeInput<double> input(stack.model(), stack.batch(), stack.pool(), 0);
    const HostView<double> all = input.parameter_gradients();
    result.loss = input.tape().mean_loss();
    for (const TensorInfo& t : stack.model().table().tensors())
        result.gradients[t.name].assign(all.begin() + t.offset, all.begin() + t.offset + t.count);
    return result;
}

ClaimResult gate_of_zero(ClaimInput& input) {
    ClaimInput &plain = pre_stack(input, false), &gated = pre_stack(input, true);
    set_gates(gated.model(), input.quantities().initial_gate());
    const Gradient a = passes(plain), b = passes(gated);
    bool same = std::bit_cast<std::uint64_t>(a.loss) == std::bit_cast<std::uint64_t>(b.loss);
    double off = std::abs(a.loss - b.loss);
    for (const auto& [name, gradient] : a.gradients) {
        const std::vector<double>& other = b.gradients.at(name);
        same = same && std::memcmp(gradient.data(), other.data(), gradient.size() * sizeof(double)) == 0;
        for (std::size_t i = 0; i < gradient.size(); ++i)
            off = std::max(off, std::abs(gradient[i] - other[i]));
    }
    return {holds_if(same),
            off,
            0,
            off,
            static_cast<std::int64_t>(a.gradients.size()),
            "scheme pre, loss and the gradients of " + std::to_string(a.gradients.size()) +
                " tensors at step 0, with gates of 0 and without"};
}

ClaimResult gradient_passes(ClaimInput& input) {
    ClaimInput& gated = pre_stack(input, true);
    ClaimInput& plain = pre_stack(input, false);
    set_gates(gated.model(), kGate);
    const int tokens = plain.maps().tokens;
    Tape<double> tape;
    gated.model().forward(first_tokens(gated.batch(), tokens), tape, gated.pool());
    // Sub-layer 1 reads the same input with and without a gate.
    const Matrix back = gated.quantities().jacobian(gated.model(), tape, 0, 1, Jacobian::Backprop),
                 forward = gated.quantities().jacobian(gated.model(), tape, 0, 1, Jacobian::Forward);
    const Matrix& baseline = plain.maps().sublayers.front();
    const double off = (back - baseline).norm() / baseline.norm(), scale = forward.norm() / baseline.norm();
    set_gates(gated.model(), 0);
    return {holds_if(off <= 1e-12),
            off,
            0,
            off,
            1,
            "α = " + text(kGate) +
                ": the back-propagated Jacobian of sub-layer 1 equals the baseline's within " + text(off) +
                "; that of the forward map is " + text(scale) +
                " of it, 1 − SiLU(α) = " + text(1 - silu(kGate))};
}

ClaimResult next_input(ClaimInput& input) {
    RandomNumbers random(4);
    const auto d = static_cast<std::size_t>(input.spec().d_model);
    Worst stated, exact;
    for (const double eps : {1e-5, 0.0})
        for (int i = 0; i < 20; ++i) {
            NormAtToken at{NormKind::LayerNorm, random.normals(d), {}, {}, eps};
            NormAtToken scaled = at;
            const double act = silu(random.uniform(-2, 1));
            for (double& x : scaled.x) x = input.quantities().gated(x, act);
            const std::vector<double> a = input.quantities().norm(at), b = input.quantities().norm(scaled);
            double off = 0;
            for (std::size_t k = 0; k < d; ++k) off = std::max(off, std::abs(a[k] - b[k]));
            (eps > 0 ? stated : exact).add(off, off, 0);
        }
    return stated.result(stated_or_corrected(stated.residual <= 1e-12, exact.residual <= 1e-10),
                         "only for ε = 0 (" + text(exact.residual) +
                             ") and 1 − act > 0: at ε = 1e-5 it changes by " + text(stated.residual));
}

ClaimResult gradients_unchanged(ClaimInput& input) {
    ClaimInput &plain = pre_stack(input, false), &gated = pre_stack(input, true);
    set_gates(gated.model(), kSmallGate);
    const Gradient a = passes(plain), b = passes(gated);
    set_gates(gated.model(), input.quantities().initial_gate());
    const Gradient zero = passes(gated);
    const auto ratio = [&](const Gradient& of) {
        const std::string name = "blocks.0.attn.wv";
        const auto norm = [](const std::vector<double>& v) {
            double squares = 0;
            for (const double x : v) squares += x * x;
            return std::sqrt(squares);
        };
        return norm(of.gradients.at(name)) / norm(a.gradients.at(name));
    };
    const double with = ratio(b), at_zero = ratio(zero);
    return {refuted_if(std::abs(with - 1) > 1e-6, std::abs(at_zero - 1) <= 1e-12),
            with,
            1,
            std::abs(with - 1),
            2,
            "scheme pre, gradient of layer 1's W^V: with α = " + text(kSmallGate) + " it is " + text(with) +
                " times the baseline's, as J_LN is that of the rescaled state; with α = 0 " + text(at_zero)};
}

ClaimResult variance_recursion(ClaimInput& input) {
    RandomNumbers random(16);
    const double act = silu(1.0);
    Worst paper, squared;
    for (int i = 0; i < 20; ++i) {
        const std::vector<double> x = random.normals(2000, random.uniform(0.1, 5));
        double before = 0, after = 0;
        for (const double v : x) {
            const double gated = input.quantities().gated(v, act);
            before += v * v;
            after += gated * gated;
        }
        paper.add_equal(after / before, 1 - act);
        squared.add_equal(after / before, (1 - act) * (1 - act));
    }
    double variance = 1;
    constexpr int kLayers = 20'000;
    for (int l = 0; l < kLayers; ++l) variance = gpas_variance_step(variance, 0);
    return paper.result(refuted_if(paper.residual > 1e-6),
                        "the variance scales with the factor's square (within " + text(squared.residual) +
                            "); without gates the recursion gives σ²/l² = " +
                            text(variance / kLayers / kLayers) + " at l = 20000");
}

/// The hidden state after the last layer, of the batch.
Vector last_state(ClaimInput& stack) {
    Tape<double> tape;
    stack.model().forward(stack.batch(), tape, stack.pool());
    const HostView<double> h =
        tape.view(tape.hidden.back(), static_cast<std::size_t>(tape.rows()) * stack.spec().d_model);
    return Eigen::Map<const Vector>(h.data(), static_cast<Eigen::Index>(h.size()));
}

ClaimResult lns_forms(ClaimInput& input) {
    std::vector<Vector> before, after;
    for (const LnsForm form : {LnsForm::Factor, LnsForm::Gamma}) {
        ClaimInput& lns = input.variant(
            form == LnsForm::Factor ? "with scheme lns" : "with scheme lns in its γ form", [&](StackSpec& s) {
                s.scheme = Scheme::Lns;
                s.layers.clear();
                s.layout = Layout::Serial;
                s.lns_form = form;
            });
        before.push_back(last_state(lns));
        ProbeInput<double> pass(lns.model(), lns.batch(), lns.pool(), 0);
        const HostView<double> gradients = pass.parameter_gradients();
        const std::vector<double> kept(lns.model().parameters().begin(), lns.model().parameters().end());
        const std::vector<double> stepped = stepped_parameters<double>(
            lns.recipe(), lns.model(), {gradients.begin(), gradients.end()}, lns.pool());
        lns.model().set_parameters(stepped);
        after.push_back(last_state(lns));
        lns.model().set_parameters(kept);
    }
    const double forward = (before[0] - before[1]).norm() / before[0].norm(),
                 step = (after[0] - after[1]).norm() / (after[0] - before[0]).norm();
    return {stated_or_corrected(forward <= 1e-9 && step <= 1e-6, forward <= 1e-9),
            step,
            0,
            forward,
            1,
            "at step 0 the two forms agree within " + text(forward) +
                "; one step of the optimizer later they are " + text(step) +
                " of that step apart, as its size does not follow γ's scale"};
}

/// Over gates from −6 to 6.
ClaimResult factor_below_one(ClaimInput& input) {
    ClaimInput& gated = pre_stack(input, true);
    Worst worst;
    double at = 0;
    for (double alpha = -6; alpha <= 6; alpha += 0.25) {
        set_gates(gated.model(), alpha);
        const ProbeResult gates =
            gated.quantities().probe("gates", gated.model(), gated.batch(), gated.pool(), 0);
        for (const double factor : gates.find("factor")->data) {
            if (factor - 1 > worst.residual) at = alpha;
            worst.add(factor - 1, factor, 1);
        }
    }
    set_gates(gated.model(), input.quantities().initial_gate());
    return worst.result(refuted_if(worst.residual > 0), "α from −6 to 6: the largest factor 1 − act(α) is " +
                                                            text(worst.value) + " at α = " + text(at));
}

/// Every layer's α over the samples of a recorded run.
std::vector<ProbeResult> recorded_gates(ClaimInput& input) {
    const char* wanted = "needs a recorded run with gates and the probe gates at two steps or more";
    if (!input.run()) throw NotMeasured(wanted);
    const auto found = input.run()->probes.find("gates");
    if (found == input.run()->probes.end() || found->second.size() < 2) throw NotMeasured(wanted);
    const NamedArray* alpha = found->second.back().find("alpha");
    if (!alpha || alpha->data.empty()) throw NotMeasured(wanted);
    require_all_places(found->second.back(), *alpha);
    if (!std::isfinite(alpha->data.front())) throw NotMeasured(wanted);
    return found->second;
}

ClaimResult signs(ClaimInput& input) {
    const auto samples = recorded_gates(input);
    const std::vector<double>& alpha = samples.back().find("alpha")->data;
    const auto negative = std::count_if(alpha.begin(), alpha.end(), [](double a) { return a < 0; });
    return {ClaimVerdict::Toy,
            static_cast<double>(negative),
            static_cast<double>(alpha.size()),
            ClaimResult::kNone,
            static_cast<std::int64_t>(alpha.size()),
            "one run: " + std::to_string(negative) + " of " + std::to_string(alpha.size()) +
                " gates are negative at step " + std::to_string(samples.back().step) + ", the first is " +
                text(alpha.front())};
}

ClaimResult early_path(ClaimInput& input) {
    const auto samples = recorded_gates(input);
    constexpr double kEarly = 0.2;
    const double until = kEarly * static_cast<double>(samples.back().step);
    double early = 0, all = 0;
    for (std::size_t s = 1; s < samples.size(); ++s) {
        const std::vector<double>&from = samples[s - 1].find("alpha")->data,
              &to = samples[s].find("alpha")->data;
        for (std::size_t l = 0; l < std::min(from.size(), to.size()); ++l) {
            all += std::abs(to[l] - from[l]);
            if (static_cast<double>(samples[s].step) <= until) early += std::abs(to[l] - from[l]);
        }
    }
    return {ClaimVerdict::Toy,
            early / all,
            kEarly,
            ClaimResult::kNone,
            static_cast<std::int64_t>(samples.size()),
            "one run: of the gates' path " + text(100 * early / all) + " % lies in the first " +
                text(100 * kEarly) + " % of the steps"};
}

const Claim kGateRows[] = {
    {"G01", "§3.1", "a gate of 0 is the baseline, bit for bit", ClaimVerdict::Holds, gate_of_zero,
     "stack.gpas.enabled"},
    {"G02", "eq 2", "gradients pass a gate unchanged", ClaimVerdict::Holds, gradient_passes,
     "stack.gpas.stop_gradient"},
    {"G03", "§3.1", "a gate's factor is below 1", ClaimVerdict::Fails, factor_below_one,
     "stack.gpas.activation"},
    {"G04", "§3.1", "the next sub-layer's input does not change with the gate", ClaimVerdict::Corrected,
     next_input, "stack.norm.eps"},
    {"G05", "§3.1", "GPAS has the gradients of the baseline", ClaimVerdict::Fails, gradients_unchanged,
     "stack.gpas.enabled"},
    {"G07", "Fig 3a", "gates: positive in Pre-LN and Sandwich-LN, negative in Post-LN and the first layer",
     ClaimVerdict::Toy, signs},
    {"G08", "Fig 3b", "gates move in the first 10 to 20 % of training only", ClaimVerdict::Toy, early_path},
    {"G16", "eq 16", "a gate scales the variance by 1 − SiLU(α)", ClaimVerdict::Fails, variance_recursion},
    {"G17", "Lemma 1", "the gradient's upper bound is O(L)", ClaimVerdict::NotApplicable,
     [](ClaimInput&) {
         return not_applicable("its constants are not defined: no number can be held against it");
     }},
    {"G18", "§3.2", "LNS is Pre-LN with another initial γ", ClaimVerdict::Corrected, lns_forms,
     "stack.lns_form"},
};

}  // namespace

std::span<const Claim> gate_claims() {
    return kGateRows;
}

}  // namespace normscope
