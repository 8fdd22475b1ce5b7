// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/statistics.h"
#include "core/claims/claim_rows.h"
#include "core/claims/claims.h"
#include "core/claims/measure.h"

#include <algorithm>
#include <cmath>

namespace normscope {

namespace {

using Matrix = Quantities::Matrix;

const TensorInfo& tensor(const ParameterTable& table, const std::string& name) {
    const TensorInfo* found = table.find(name);
    if (!found) throw NotMeasured("needs the tensor " + name);
    return *found;
}

/// The stack of N layers under the rule path_length with m maps; never built.
StackSpec path_spec(const StackSpec& from, int depth, int maps) {
    StackSpec s = from;
    s.depth = depth;
    s.layers.clear();
    s.init.rule = InitRule::PathLength;
    s.init.path_maps = maps;
    return s;
}

/// β: the standard deviation of a value matrix over that of one layer.
double path_scale(ClaimInput& input, int depth, int maps) {
    const auto std_of = [&](int layers) {
        const StackSpec s = path_spec(input.spec(), layers, maps);
        TensorInfo value;
        value.name = "blocks.0.attn.wv";
        value.shape = {s.d_kv(), s.d_model};
        value.layer = value.sublayer = 0;
        return input.quantities().initial_std(s, value);
    };
    return std_of(depth) / std_of(1);
}

/// ln of Π over N layers of 1 + Σ β^p, maps of norm 1 at β = 1: `value_path` adds the path of two maps.
double log_product(double beta, int depth, int maps, bool value_path) {
    return depth * std::log1p(std::pow(beta, maps) + (value_path ? beta * beta : 0.0));
}

constexpr int kDepths[] = {16, 64, 256, 1024};

ClaimResult quarter_power(ClaimInput& input) {
    std::string table;
    double last = 0, first = 0, root = 0;
    for (const int depth : kDepths) {
        last = log_product(path_scale(input, depth, 4), depth, 4, true);
        if (depth == kDepths[0]) first = last;
        root = log_product(path_scale(input, depth, 2), depth, 4, true);
        table += (table.empty() ? "" : ", ") + text(std::exp(last)) + " at N = " + std::to_string(depth);
    }
    const double growth = last / first;  // a bounded product: 1
    return {refuted_if(growth > 1.5),
            std::exp(last),
            std::exp(first),
            growth,
            4,
            "with the value path of Theorem 5.1 the product of the bounds is " + table +
                "; with β = N^(-1/2) it is " + text(std::exp(root))};
}

ClaimResult path_exponents(ClaimInput& input) {
    Worst exponent, single;
    double stated = 0;
    for (const int maps : {2, 3, 4}) {
        std::vector<double> depths, scales;
        for (const int depth : kDepths) {
            const double beta = path_scale(input, depth, maps);
            depths.push_back(std::log(depth));
            scales.push_back(std::log(beta));
            single.add(log_product(beta, depth, maps, false) - 1);  // (1 + 1/N)^N <= e
            stated = std::max(stated, log_product(beta, depth, maps, maps > 2));
        }
        exponent.add_equal(least_squares_slope(depths, scales), -1.0 / maps);
    }
    return exponent.result(
        stated_or_corrected(exponent.residual <= 1e-9 && single.residual <= 0 && stated <= 2,
                            exponent.residual <= 1e-9 && single.residual <= 0),
        "m = 2, 3, 4 at N = 16 … 1024: a single pathway's product stays below e; with the value "
        "path besides it reaches exp(" +
            text(stated) + ")");
}

ClaimInput& deepnorm(ClaimInput& input) {
    return input.variant("with scheme and init deepnorm", [](StackSpec& s) {
        s.scheme = Scheme::DeepNorm;
        s.layers.clear();
        s.layout = Layout::Serial;
        s.init.rule = InitRule::DeepNorm;
    });
}

/// LN(x + f/a) in every sub-layer, with the same weights; a from the stack's own rule.
ClaimInput& branch_form(ClaimInput& input, double a) {
    return input.variant("with the branch scaled by 1/a", [&](StackSpec& s) {
        s.scheme = Scheme::Post;
        s.layers.clear();
        s.layout = Layout::Serial;
        s.init.rule = InitRule::DeepNorm;
        for (int l = 0; l < s.depth; ++l) {
            LayerOverride layer;
            layer.index = l;
            layer.attn.b = layer.ffn.b = 1 / a;
            s.layers.push_back(layer);
        }
    });
}

ClaimResult deepnorm_forms(ClaimInput& input) {
    ClaimInput& deep = deepnorm(input);
    const double a = deep.quantities().rule(deep.spec(), 0, Sublayer::Attention).a;
    ClaimInput& branch = branch_form(input, a);
    const int tokens = std::min(16, input.batch().length);
    const auto last = [&](ClaimInput& stack, double eps) {
        const UniformEps uniform(stack, eps);
        Tape<double> tape;
        stack.model().forward(first_tokens(stack.batch(), tokens), tape, stack.pool());
        const HostView<double> h =
            tape.view(tape.hidden.back(), static_cast<std::size_t>(tokens) * stack.spec().d_model);
        return Eigen::VectorXd(
            Eigen::Map<const Eigen::VectorXd>(h.data(), static_cast<Eigen::Index>(h.size())));
    };
    const double eps = deep.model().numerics.eps;
    const Eigen::VectorXd shortcut = last(deep, eps);
    const double same = (last(branch, eps) - shortcut).cwiseAbs().maxCoeff(),
                 scaled = (last(branch, eps / (a * a)) - shortcut).cwiseAbs().maxCoeff();
    return {stated_or_corrected(same <= 1e-12, same <= 1e-3 && scaled <= 1e-9),
            same,
            0,
            scaled,
            static_cast<std::int64_t>(tokens),
            "LN(ax + f) and LN(x + f/a) with a = " + text(a) + " over " + std::to_string(deep.spec().depth) +
                " layers: at most " + text(same) + " apart at the same ε, " + text(scaled) + " with ε/a²"};
}

double sample_std(ClaimInput& stack, const std::string& name) {
    const TensorInfo& t = tensor(stack.model().table(), name);
    const HostView<double> values = stack.model().host_parameters(t.offset, t.count);
    double squares = 0;
    for (const double v : values) squares += v * v;
    return std::sqrt(squares / static_cast<double>(t.count));
}

ClaimResult deepnorm_scales(ClaimInput& input) {
    ClaimInput& deep = deepnorm(input);
    const StackSpec& s = deep.spec();
    const double beta = std::pow(8.0 * s.depth, -0.25);
    std::string table;
    double furthest = 0, value_off = 0;
    for (const char* name : {"wq", "wk", "wv", "wo"}) {
        const std::string full = std::string("blocks.0.attn.") + name;
        const TensorInfo& t = tensor(deep.model().table(), full);
        const double gain = deep.quantities().initial_std(s, t) /
                            std::sqrt(2.0 / (t.shape[0] + static_cast<double>(t.shape[1])));
        (name[1] == 'q' || name[1] == 'k' ? furthest : value_off) =
            std::max(name[1] == 'q' || name[1] == 'k' ? furthest : value_off, std::abs(gain / beta - 1));
        table += (table.empty() ? "" : ", ") + std::string(name) + " " + text(gain) +
                 " (drawn: " + text(sample_std(deep, full)) + ")";
    }
    return {refuted_if(furthest > 0.01, value_off <= 1e-9),
            1 + furthest,
            1,
            furthest,
            4,
            value_off <= 1e-9
                ? "gain over Xavier's standard deviation: " + table + "; β = " + text(beta)
                : "needs values and outputs scaled by β, and they are " + text(value_off) + " off"};
}

/// ‖W^O‖‖W^Q‖‖W^K‖‖W^V‖ of layer 1 with all weights scaled by β, W^K = W^Q: the exponent of β.
ClaimResult shared_query_key(ClaimInput& input) {
    const StackSpec& s = input.spec();
    const auto weights = [&](const char* name) -> Matrix {
        const TensorInfo& t = tensor(input.model().table(), std::string("blocks.0.attn.") + name);
        const HostView<double> v = input.model().host_parameters(t.offset, t.count);
        return Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
            v.data(), t.shape[0], t.shape[1]);
    };
    const Matrix q = weights("wq").topRows(s.d_head()), v = weights("wv").topRows(s.d_head()),
                 o = weights("wo").leftCols(s.d_head());
    const int rows = std::min(4, input.tape().rows());
    const HostView<double> first =
        input.tape().view(input.tape().hidden.front(), static_cast<std::size_t>(rows) * s.d_model);
    const Matrix u = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
                         first.data(), rows, s.d_model)
                         .rowwise()
                         .normalized();
    // What attention adds to a uniform map's output: the part that W^Q and W^K change.
    std::vector<double> logs, sizes;
    for (const double beta : {0.1, 0.05, 0.025}) {
        const Matrix projected = u * q.transpose() * beta;
        const Matrix scores = input.quantities().scores(projected, projected);
        const Matrix centred = scores.colwise() - scores.rowwise().mean();  // first order of softmax
        const Matrix out = centred * (u * v.transpose() * beta) * (o.transpose() * beta);
        logs.push_back(std::log(beta));
        sizes.push_back(std::log(out.norm()));
    }
    const double exponent = least_squares_slope(logs, sizes);
    return {refuted_if(std::abs(exponent - 3) > 0.1, std::isfinite(exponent)),
            exponent,
            3,
            std::abs(exponent - 4),
            3,
            "the shared matrix enters twice: what attention's weights change scales as β to the power " +
                text(exponent)};
}

/// A sub-layer's branch with some of its weights multiplied by c.
double branch_size(ClaimInput& stack, int sublayer, const std::vector<std::string>& names, double c) {
    Transformer<double>& model = stack.model();
    const std::string block =
        "blocks." + std::to_string(sublayer / 2) + (sublayer % 2 == 0 ? ".attn." : ".ffn.");
    HostEdit<double> edit(model.device(), model.parameters().data(), model.parameters().size());
    const std::vector<double> kept(model.parameters().begin(), model.parameters().end());
    for (const std::string& name : names) {
        const TensorInfo& t = tensor(model.table(), block + name);
        for (std::size_t i = 0; i < t.count; ++i) edit.data()[t.offset + i] *= c;
    }
    edit.commit();
    Tape<double> tape;
    const int tokens = stack.maps().tokens;
    model.forward(first_tokens(stack.batch(), tokens), tape, stack.pool());
    const Matrix map = stack.quantities().jacobian(model, tape, sublayer, sublayer + 1, Jacobian::Backprop);
    std::copy(kept.begin(), kept.end(), edit.data());
    edit.commit();
    return (map - Matrix::Identity(map.rows(), map.cols())).norm();
}

/// d ln‖branch's Jacobian‖ / d ln c, around c = 1.
double scale_slope(ClaimInput& stack, int sublayer, const std::vector<std::string>& names) {
    std::vector<double> logs, sizes;
    for (const double c : {0.5, 1.0, 2.0}) {
        logs.push_back(std::log(c));
        sizes.push_back(std::log(branch_size(stack, sublayer, names, c)));
    }
    return least_squares_slope(logs, sizes);
}

void require_unbiased(const StackSpec& s) {
    if (s.block != Block::Gpt2 || is_gated(s.activation))
        throw NotMeasured("needs a GPT-2 block: other feed-forward maps have other tensors");
}

ClaimResult pre_scale(ClaimInput& input) {
    ClaimInput& pre = input.with_scheme(Scheme::Pre);
    Worst worst;
    for (const char* name : {"wv", "wo"}) worst.add_equal(scale_slope(pre, 0, {name}), 1);
    return worst.result(holds_if(worst.residual <= 1e-6),
                        pre.variant_name() +
                            "layer 1's W^V and W^O times ½, 1, 2: the branch's Jacobian scales "
                            "with the power " +
                            text(worst.value));
}

ClaimResult peri_scale(ClaimInput& input) {
    ClaimInput& peri = input.with_scheme(Scheme::Peri);
    require_unbiased(peri.spec());
    const UniformEps none(peri, 0);
    Worst invariant, other;
    std::string slopes;
    const auto add = [&](Worst& to, int sublayer, const char* name) {
        const double s = scale_slope(peri, sublayer, {name});
        to.add(std::abs(s), s, 0);
        slopes += (slopes.empty() ? "" : ", ") + std::string(name) + " " + text(s);
    };
    add(invariant, 0, "wv");
    add(invariant, 0, "wo");
    add(invariant, 1, "w2");
    add(other, 1, "w1");
    add(other, 0, "wq");
    add(other, 0, "wk");
    Worst all = invariant;
    if (other.residual > all.residual) all = other;
    all.samples = 6;
    return all.result(
        stated_or_corrected(invariant.residual <= 1e-6 && other.residual <= 1e-6, invariant.residual <= 1e-6),
        peri.variant_name() + "ε = 0, powers of c for layer 1: " + slopes);
}

ClaimResult olmo_is_peri(ClaimInput& input) {
    StackSpec s = input.spec();
    s.scheme = Scheme::Output;
    s.layers.clear();
    int in = 0, out = 0;
    for (const Sublayer kind : {Sublayer::Attention, Sublayer::FeedForward}) {
        const SublayerRule rule = input.quantities().rule(s, 0, kind);
        in += rule.in.has_value();
        out += rule.out.has_value();
    }
    return {refuted_if(in == 0, out == 2),
            static_cast<double>(in),
            2,
            2.0 - in,
            2,
            "its rule (scheme output) places " + std::to_string(out) + " output norms and " +
                std::to_string(in) + " input norms in a layer; Peri-LN has both"};
}

const Claim kScalingRows[] = {
    {"E23", "Thm 6.1", "β = N^(-1/4) keeps the product over N layers bounded", kFails, quarter_power,
     "stack.init.path_maps"},
    {"E24", "Thm 6.2", "m maps on a path need β = N^(-1/m)", kCorrected, path_exponents,
     "stack.init.path_maps"},
    {"E25", "§6.1", "DeepNorm is LN(X + αf) with α = (2N)^(-1/4)", kCorrected, deepnorm_forms,
     "stack.norm.eps"},
    {"E26", "§6.1", "DeepNorm scales W^Q, W^K, W^V and W^O alike", kFails, deepnorm_scales,
     "stack.init.rule"},
    {"E28", "§6.2", "a shared W^Q = W^K shortens the path to three maps", kFails, shared_query_key},
    {"K13", "Prop 7", "the sensitivity of Pre-LN is proportional to the scale of W^V and W^O", kHolds,
     pre_scale},
    {"K14", "Prop 8", "the sensitivity of Peri-LN does not depend on the weights' scale", kCorrected,
     peri_scale, "stack.norm.eps"},
    {"K21", "§2", "OLMo 2 is Peri-LN", kFails, olmo_is_peri, "stack.scheme"},
};

}  // namespace

std::span<const Claim> scaling_claims() {
    return kScalingRows;
}

}  // namespace normscope
