// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/claims/claims.h"
#include "core/claims/initial_input.h"
#include "tests/claims/altered_quantities.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <bit>
#include <cmath>
#include <memory>

using namespace normscope;

namespace {

using Altered = AlteredQuantities;
using Matrix = Quantities::Matrix;
using Values = std::vector<double>;

/// One row of the table and a mistake in its quantity, or another stack, that must change its verdict.
struct Break {
    const char* id;
    ClaimVerdict to;  ///< the verdict then
    std::function<void(Altered&)> alter;
    std::vector<std::string> settings = {};
};

std::function<void(Altered&)> theta_times(double factor) {
    return [=](Altered& q) { q.on_theta = [=](double& v) { v *= factor; }; };
}
std::function<void(Altered&)> norm_jacobian_plus(double amount) {
    return [=](Altered& q) {
        q.on_norm_jacobian = [=](const NormAtToken&, Matrix& j) {
            j += amount * j.norm() * Matrix::Identity(j.rows(), j.cols());
        };
    };
}
std::function<void(Altered&)> array_becomes(const char* probe, const char* array,
                                            const std::function<void(const StackSpec&, Values&)>& change) {
    return [=](Altered& q) {
        q.on_probe = [=](const StackSpec& spec, ProbeResult& result) {
            if (result.probe != probe) return;
            for (NamedArray& a : result.arrays)
                if (a.name == array) change(spec, a.data);
        };
    };
}
std::function<void(const StackSpec&, Values&)> all_are(double value) {
    return [=](const StackSpec&, Values& data) { std::fill(data.begin(), data.end(), value); };
}
std::function<void(const StackSpec&, Values&)> times(double factor) {
    return [=](const StackSpec&, Values& data) {
        for (double& v : data) v *= factor;
    };
}
std::function<void(const StackSpec&, Values&)> follow(double (*model)(double)) {
    return [=](const StackSpec&, Values& data) {
        for (std::size_t k = 0; k < data.size(); ++k) data[k] = model(static_cast<double>(k));
    };
}
std::function<void(Altered&)> smallest_value_becomes(double relative) {
    return [=](Altered& q) { q.on_values = [=](Values& v) { v.back() = relative * v.front(); }; };
}
/// Maps of several sub-layers are off.
void whole_maps_off(Altered& q) {
    q.on_jacobian = [](const Transformer<double>&, int sublayers, Matrix& j) {
        if (sublayers > 1) j *= 1.01;
    };
}
void branch_times(Matrix& j, double factor) {
    const Matrix identity = Matrix::Identity(j.rows(), j.cols());
    j = identity + factor * (j - identity);
}

constexpr auto kHolds = ClaimVerdict::Holds, kFails = ClaimVerdict::Fails, kUnknown = ClaimVerdict::Unknown;

const std::vector<Break>& breaks() {
    static const std::vector<Break> all{
        {"E02", kFails,
         [](Altered& q) {
             q.on_norm = [](auto&, Values& y) {
                 for (double& v : y) v *= 1.01;
             };
         }},
        {"E03", kFails, theta_times(1.001)},
        {"E04", kFails, theta_times(0.99)},
        {"E05", kFails, [](Altered& q) { q.on_theta = [](double& v) { v += 1e-3; }; }},
        {"E06", kHolds, theta_times(0.3)},
        {"E07", kFails, theta_times(0.99)},
        {"E08", kFails, theta_times(0.99)},
        {"E09", kHolds, [](Altered& q) { q.prefix_is_exact = true; }},
        {"E10", kFails, theta_times(0.99)},
        {"E11", kFails, [](Altered& q) { q.on_softmax_norm = [](double& v) { v *= 1.01; }; }},
        {"B01", kFails, [](Altered& q) { q.on_softmax_norm = [](double& v) { v *= 1.01; }; }},
        {"B02", kHolds, [](Altered& q) { q.power_is_exact = true; }},
        {"B04", kFails,
         [](Altered& q) {
             q.on_scores = [](auto& queries, Matrix& s) {
                 s *= std::sqrt(static_cast<double>(queries.cols()));
             };
         }},
        {"E16", kFails, [](Altered& q) { q.on_norm_jacobian = [](auto&, Matrix& j) { j *= 1.01; }; }},
        {"E19", kFails, norm_jacobian_plus(1e-3)},
        {"N01", kFails, norm_jacobian_plus(1e-3)},
        {"N02", kUnknown, norm_jacobian_plus(1e-3)},
        {"N03", kFails, norm_jacobian_plus(1e-3)},
        {"N04", kUnknown, norm_jacobian_plus(1e-3)},
        {"K02", kUnknown, norm_jacobian_plus(1e-3)},
        {"K01", kFails,
         [](Altered& q) {
             q.on_norm = [](auto&, Values& y) {
                 for (double& v : y) v *= 1.01;
             };
         }},
        {"K03", kFails, [](Altered& q) { q.on_norm_jacobian = [](auto&, Matrix& j) { j.array() += 1e-3; }; }},
        {"B08", kHolds, [](Altered& q) { q.on_rho = [](double& v) { v *= 1000; }; }},
        {"B09", kHolds,
         [](Altered& q) {
             q.on_norm = [](const NormAtToken& at, Values& y) {
                 double squares = 0;
                 for (const double x : at.x) squares += x * x;
                 for (double& v : y) v *= squares + static_cast<double>(y.size()) * at.eps;
             };
         }},
        {"N05", kHolds,
         array_becomes("jacobian", "sublayer_sv",
                       [](const StackSpec& s, Values& data) {
                           for (std::size_t i = 0; i < data.size(); ++i)
                               if (static_cast<int>(i) % s.d_model >= s.d_model - 2) data[i] = 0;
                       })},
        {"N06", kHolds, array_becomes("jacobian", "layer_exact_nulls", all_are(2))},
        {"N07", kHolds, {}, {"stack.norm.eps=0"}},
        {"N08", kHolds, array_becomes("null_space", "erased_backward", all_are(1 - 1e-12))},
        {"N09", kFails, smallest_value_becomes(0)},
        {"N10", kFails, smallest_value_becomes(0)},
        {"N11", kFails, array_becomes("jacobian", "end_to_end_exact_nulls", all_are(1))},
        {"N12", kFails,
         [](Altered& q) {
             q.on_values = [](Values& v) {
                 for (double& x : v) x = std::max(x, 1e-3 * v.front());
             };
         }},
        {"N13", kFails, smallest_value_becomes(0)},
        {"N14", kFails,
         array_becomes("jacobian", "end_to_end_sv", [](const StackSpec&, Values& data) { data.back() = 0; })},
        {"E17", kFails, whole_maps_off},
        {"K15", kFails, whole_maps_off},
        {"B05", kFails, smallest_value_becomes(1e-6)},
        {"B06", kFails, smallest_value_becomes(1e-9)},
        {"B07", kHolds, smallest_value_becomes(1)},
        {"K04", kFails, array_becomes("growth", "ma", times(1e6))},
        {"K05", kFails,
         [](Altered& q) {
             q.on_bounds = [](Values& v) {
                 for (double& x : v) x *= 0.01;
             };
         }},
        {"K06", kFails, array_becomes("growth", "ma", times(1e12))},
        {"K07", kFails, array_becomes("growth", "ma", times(1e3))},
        {"K08", kFails, array_becomes("growth", "var", times(1e6))},
        {"K09", kFails, array_becomes("growth", "ma", follow([](double k) { return std::exp(0.3 * k); }))},
        {"K16", kFails,
         array_becomes("growth", "bound_ma",
                       [](const StackSpec& s, Values& data) {
                           for (double& v : data) v *= 1 + s.residual_step * s.residual_step;
                       })},
        {"K20", kFails,
         array_becomes("growth", "ma",
                       [](const StackSpec& s, Values& data) {
                           for (double& v : data) v /= s.residual_step;
                       })},
        {"E20", kHolds,
         array_becomes("gradients", "hidden", follow([](double k) { return std::exp(0.2 * k); }))},
        {"E20", kFails,
         [](Altered& q) { q.on_values = [](Values& v) { std::fill(v.begin(), v.end(), v.front()); }; }},
        {"E23", kHolds,
         [](Altered& q) {
             q.on_std = [](const StackSpec& s, auto&, double& v) { v = 1 / std::sqrt(s.depth); };
         }},
        {"E24", kFails,
         [](Altered& q) {
             q.on_std = [](const StackSpec& s, auto&, double& v) { v *= std::pow(s.depth, 0.1); };
         }},
        {"E25", kFails, [](Altered& q) { q.on_rule = [](SublayerRule& rule) { rule.a = 1; }; }},
        {"E26", kHolds,
         [](Altered& q) {
             q.on_std = [](const StackSpec& s, const TensorInfo& t, double& v) {
                 if (t.name.ends_with("wq") || t.name.ends_with("wk")) v *= std::pow(8.0 * s.depth, -0.25);
             };
         }},
        {"E28", kHolds, [](Altered& q) { q.on_scores = [](const Matrix& x, Matrix& s) { s /= x.norm(); }; }},
        {"K13", kFails,
         [](Altered& q) {
             q.on_jacobian = [](auto&, int, Matrix& j) {
                 branch_times(j, (j - Matrix::Identity(j.rows(), j.cols())).norm());
             };
         }},
        {"K14", kFails,
         [](Altered& q) {
             q.on_jacobian = [](const Transformer<double>& model, int, Matrix& j) {
                 double squares = 0;
                 for (const double w : model.parameters()) squares += w * w;
                 branch_times(j, squares);
             };
         }},
        {"K21", kHolds, [](Altered& q) { q.on_rule = [](SublayerRule& rule) { rule.in = rule.out; }; }},
        {"G01", kFails, [](Altered& q) { q.gate_start = 0.1; }},
        {"G02", kFails,
         [](Altered& q) {
             q.on_jacobian = [](const Transformer<double>& model, int, Matrix& j) {
                 if (model.spec().gpas.enabled) j *= 0.7;
             };
         }},
        {"G04", kFails, [](Altered& q) { q.gate = [](double x, double act) { return x - act * x * x; }; }},
        {"G05", kUnknown, [](Altered& q) { q.gate_start = 0.1; }},
        {"G16", kHolds,
         [](Altered& q) { q.gate = [](double x, double act) { return x * std::sqrt(1 - act); }; }},
        {"G18", kHolds, {}, {"stack.depth=1"}},
        {"G03", kHolds, array_becomes("gates", "factor", all_are(0.9))},
        {"E01", kFails, array_becomes("attention", "contraction", times(2))},
        {"E12", kFails, array_becomes("lipschitz", "attention_measured", times(1e6))},
        {"E13", kFails,
         [](Altered& q) {
             const auto calls = std::make_shared<int>(0);  // the weights' part grows with the tokens
             q.on_probe = [=](const StackSpec&, ProbeResult& result) {
                 if (result.probe != "lipschitz") return;
                 ++*calls;
                 for (NamedArray& a : result.arrays)
                     if (a.name == "attention_value")
                         for (double& v : a.data) v *= *calls;
             };
         }},
        {"E14", kFails, array_becomes("lipschitz", "layer_measured", times(1e12))},
        {"E15", kFails, array_becomes("lipschitz", "layer_measured", times(1e12))},
        {"E34", kFails, array_becomes("lipschitz", "proxy_stream", all_are(1))},
        {"E35", kFails, array_becomes("lipschitz", "proxy_stream", all_are(1))},
        {"E36", kFails,
         array_becomes("lipschitz", "projection", follow([](double k) { return std::exp(0.1 * k); }))},
        {"K10", kFails, array_becomes("shift", "variance_max", times(1e12))},
        {"K11", kFails, array_becomes("shift", "w2", times(1e6))},
        {"B03", kHolds, [](Altered& q) { q.round = [](Rounding, float x) { return x; }; }},
        {"B11", kHolds, [](Altered& q) { q.on_spikes = [](SpikeForecast& f) { f.precision = 0.3; }; }},
        {"B12", ClaimVerdict::Unknown, [](Altered& q) { q.on_rho = [](double& rho) { rho = 0.7; }; }},
        {"B14", kFails,
         [](Altered& q) {
             q.round = [](Rounding, float x) {  // towards zero
                 return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xffff0000u);
             };
         }},
        {"E37", kHolds, [](Altered& q) { q.numbers.pre_loss = 3.2; }},
        {"K19", kHolds, [](Altered& q) { q.numbers.perplexity = 228; }},
    };
    return all;
}

std::vector<std::string> small_stack() {
    return {"stack.depth=10", "stack.d_model=32", "stack.heads=2", "stack.context=32"};
}

const Break* break_of(const std::string& id) {
    for (const Break& b : breaks())
        if (id == b.id) return &b;
    return nullptr;
}

class BrokenQuantitiesTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void aMistakeChangesTheVerdict_data() {
        QTest::addColumn<const Break*>("at");
        for (const Break& b : breaks()) QTest::addRow("%s %s", b.id, claim_verdict_word(b.to)) << &b;
    }
    void aMistakeChangesTheVerdict() {
        QFETCH(const Break*, at);
        const Break& b = *at;
        const Claim& claim = *find_claim(b.id);
        ThreadPool pool(1);
        QVERIFY(b.to != claim.expected);
        {
            const auto input = initial_claim_input(read_recipe("pre-ln", small_stack()), pool);
            const ClaimResult sound = check_claim(claim, *input);
            QVERIFY2(sound.verdict == claim.expected,
                     (claim_verdict_word(sound.verdict) + (": " + sound.detail)).c_str());
        }
        Altered quantities;
        if (b.alter) b.alter(quantities);
        std::vector<std::string> settings = small_stack();
        settings.insert(settings.end(), b.settings.begin(), b.settings.end());
        const auto input = initial_claim_input(read_recipe("pre-ln", settings), pool, &quantities);
        const ClaimResult broken = check_claim(claim, *input);
        QVERIFY2(broken.verdict == b.to,
                 (claim_verdict_word(broken.verdict) + (": " + broken.detail)).c_str());
    }

    /// Every row that is measured on a recipe, and has a verdict other than toy, is in the table above.
    void everyMeasuredRowIsBroken() {
        ThreadPool pool(1);
        const auto input = initial_claim_input(read_recipe("pre-ln", small_stack()), pool);
        for (const Claim& claim : claims()) {
            const ClaimVerdict verdict = check_claim(claim, *input).verdict;
            if (verdict == ClaimVerdict::Unknown || verdict == ClaimVerdict::Toy ||
                verdict == ClaimVerdict::NotApplicable)
                continue;
            QVERIFY2(break_of(claim.id), claim.id);
        }
    }
};

}  // namespace

NORMSCOPE_TEST(BrokenQuantitiesTest)
#include "broken_quantities_test.moc"
