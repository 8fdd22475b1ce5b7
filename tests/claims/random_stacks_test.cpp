// SPDX-License-Identifier: GPL-3.0-or-later
// Every bound on the right side of its measurement, on random stacks. NORMSCOPE_STACKS sets how many.
#include "core/base/error.h"
#include "core/model/transformer.h"
#include "core/probe/registry.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <map>
#include <random>

using namespace normscope;

namespace {

constexpr int kVocab = 9;

class RandomStack {
  public:
    explicit RandomStack(unsigned seed) : engine_(seed) {
        do draw();
        while (!isValid());
    }
    const StackSpec& spec() const { return spec_; }

    /// Gains, biases, branch scales and gates away from where they start, every matrix at its own scale.
    Transformer<double> model() {
        Transformer<double> model(spec_, 1);
        HostEdit<double> edit(model.device(), model.parameters().data(), model.parameters().size());
        const HostView<double> now = model.host_parameters();
        if (edit.data() != now.data()) std::copy(now.begin(), now.end(), edit.data());
        for (const TensorInfo& t : model.table().tensors()) {
            const double scale = std::pow(10.0, uniform(-1, 0.7)), shift = uniform(0, 1);
            for (std::size_t i = t.offset; i < t.offset + t.count; ++i)
                edit.data()[i] =
                    t.shape.size() < 2 ? edit.data()[i] + shift * normal_(engine_) : scale * edit.data()[i];
        }
        edit.commit();
        model.numerics.temperature = spec_.temperature;
        model.numerics.residual_step = spec_.residual_step;
        return model;
    }
    Batch batch() {
        Batch batch{pick(1, 4), pick(2, spec_.context), {}, {}};
        for (int i = 0; i < batch.sequences * batch.length; ++i) {
            batch.tokens.push_back(pick(0, kVocab - 1));
            batch.targets.push_back(pick(0, kVocab - 1));
        }
        return batch;
    }
    std::string text() const {
        return std::string(scheme_row(spec_.scheme).word) + " depth " + std::to_string(spec_.depth) + " d " +
               std::to_string(spec_.d_model) + " heads " + std::to_string(spec_.heads) + "/" +
               std::to_string(spec_.kv_heads) + (spec_.norm.kind == NormKind::RmsNorm ? " rms" : " layer") +
               " eps " + std::to_string(spec_.norm.eps) +
               (spec_.layout == Layout::Parallel ? " parallel" : "") + (spec_.gpas.enabled ? " gates" : "") +
               (spec_.qk_norm != QkNorm::Off ? " qk-norm" : "") + " activation " +
               std::to_string(static_cast<int>(spec_.activation)) + " step " +
               std::to_string(spec_.residual_step) + " temperature " + std::to_string(spec_.temperature);
    }

  private:
    int pick(int least, int most) { return std::uniform_int_distribution<int>(least, most)(engine_); }
    bool chance(double p) { return uniform(0, 1) < p; }
    double uniform(double from, double to) {
        return std::uniform_real_distribution<double>(from, to)(engine_);
    }

    void draw() {
        spec_ = StackSpec{};
        spec_.depth = pick(1, 4);
        spec_.heads = pick(1, 3);
        spec_.kv_heads = chance(0.5) ? spec_.heads : 1;
        spec_.d_model = spec_.heads * 2 * pick(1, 4);
        spec_.d_ff = pick(3, 24);
        spec_.context = pick(3, 9);
        spec_.vocab = kVocab;
        spec_.scheme = static_cast<Scheme>(pick(0, static_cast<int>(Scheme::Output)));
        spec_.mix_post_fraction = uniform(0, 1);
        spec_.lns_form = static_cast<LnsForm>(pick(0, 1));
        spec_.activation = static_cast<Activation>(pick(0, 4));
        spec_.bias = chance(0.5);
        spec_.position = static_cast<Position>(pick(0, 2));
        spec_.layout = chance(0.3) ? Layout::Parallel : Layout::Serial;
        spec_.norm.kind = chance(0.5) ? NormKind::RmsNorm : NormKind::LayerNorm;
        spec_.norm.eps = std::pow(10.0, uniform(-10, -1));
        spec_.qk_norm = chance(0.3) ? static_cast<QkNorm>(pick(1, 2)) : QkNorm::Off;
        spec_.residual_step = uniform(0.05, 2);
        spec_.temperature = uniform(0.3, 3);
        spec_.branch_scale = static_cast<BranchScale>(pick(0, 2));
        spec_.gpas.enabled = chance(0.4);
        spec_.gpas.activation = static_cast<GateActivation>(pick(0, 5));
        spec_.gpas.site = static_cast<GateSite>(pick(0, 5));
        spec_.init.rule = chance(0.5) ? InitRule::Lab : InitRule::Gpt2;
        if (spec_.scheme == Scheme::Pre && chance(0.5)) {  // a norm at a place of its own
            LayerOverride layer;
            layer.index = pick(0, spec_.depth - 1);
            layer.ffn.post = true;
            spec_.layers.push_back(layer);
        }
        if (chance(0.3)) spec_.head_width = 2 * pick(1, 5);
        if (spec_.activation == Activation::SwiGlu && chance(0.5)) spec_.activation = Activation::GeGlu;
        if (chance(0.3)) spec_.embedding_scale = uniform(0.2, 5);
        if (chance(0.3)) spec_.attention_soft_cap = uniform(0.1, 3);
        if (chance(0.2)) spec_.norm.affine = false;
        if (spec_.causal && chance(0.3)) {
            spec_.rope_global_every = pick(2, 3);
            spec_.window = pick(1, 6);
        }
        spec_.head_bias = chance(0.2);
        spec_.shared_norm = spec_.layout == Layout::Parallel && chance(0.3);
    }
    bool isValid() {
        try {
            complete(spec_, kVocab);
            validate(spec_);
        } catch (const InputError&) {
            return false;  // another is drawn
        }
        return true;
    }

    std::mt19937 engine_;
    std::normal_distribution<double> normal_;
    StackSpec spec_;
};

/// One bound: how often it was compared, and how near the measurement came.
struct Compared {
    long samples = 0;
    double nearest = 0;  ///< largest measured ÷ bound
};

struct Bound {
    const char *probe, *measured, *bound;
};
constexpr Bound kBounds[] = {
    {"growth", "ma", "bound_ma"},
    {"growth", "var", "bound_var"},
    {"growth", "ma", "bound_uniform_ma"},
    {"growth", "ma", "bound_product_ma"},
    {"lipschitz", "attention_measured", "attention"},
    {"lipschitz", "ffn_measured", "ffn"},
    {"lipschitz", "sublayer_measured", "sublayer"},
    {"lipschitz", "layer_measured", "layer"},
    {"lipschitz", "sublayer_measured", "sublayer_eps"},
    {"lipschitz", "layer_measured", "layer_eps"},
    {"lipschitz", "norm_gain", "norm_gain_eps"},
    {"shift", "variance_max", "variance_bound"},
    {"shift", "w2", "w2_paired"},
    {"shift", "w2", "w2_bound"},
};

class RandomStacksTest : public QObject {
    Q_OBJECT
    ThreadPool pool_{1};

    static const NamedArray& array(const ProbeResult& sample, const char* name) {
        const NamedArray* found = sample.find(name);
        if (!found) throw std::runtime_error(sample.probe + " has no " + name);
        return *found;
    }

  private Q_SLOTS:
    void everyBoundIsAboveItsMeasurement() {
        const int asked = qEnvironmentVariableIntValue("NORMSCOPE_STACKS");
        const int stacks = asked > 0 ? asked : 1000;
        std::map<std::string, Compared> compared;
        const auto compare = [&](const std::string& name, double measured, double bound,
                                 const RandomStack& at) {
            if (!std::isfinite(measured) || !std::isfinite(bound)) return;
            Compared& row = compared[name];
            ++row.samples;
            if (bound > 0) row.nearest = std::max(row.nearest, measured / bound);
            QVERIFY2(measured <= bound * (1 + 1e-9) + 1e-12,
                     (name + ": " + std::to_string(measured) + " above " + std::to_string(bound) + ", " +
                      at.text())
                         .c_str());
        };
        for (int seed = 0; seed < stacks; ++seed) {
            RandomStack stack(static_cast<unsigned>(seed));
            const Transformer<double> model = stack.model();
            const Batch batch = stack.batch();
            ProbeInput<double> input(model, batch, pool_, 0);
            std::map<std::string, ProbeResult> samples;
            for (const char* probe : {"growth", "lipschitz", "shift", "paths", "attention", "theta"})
                samples[probe] = run_probe(*find_probe(probe), input);
            for (const Bound& bound : kBounds) {
                const NamedArray &measured = array(samples[bound.probe], bound.measured),
                                 &limit = array(samples[bound.probe], bound.bound);
                QCOMPARE(measured.data.size(), limit.data.size());
                for (std::size_t k = 0; k < limit.data.size(); ++k)
                    compare(std::string(bound.probe) + " " + bound.measured + " <= " + bound.bound,
                            measured.data[k], limit.data[k], stack);
                if (QTest::currentTestFailed()) return;
            }
            for (const double ratio : array(samples["attention"], "contraction").data)
                compare("attention contraction <= 1", ratio, 1, stack);
            for (const double theta : array(samples["theta"], "max").data)
                compare("theta <= 1", theta, 1, stack);
            const auto &whole = array(samples["paths"], "whole").data,
                       &first = array(samples["paths"], "first_order").data,
                       &rest = array(samples["paths"], "remainder").data;
            for (std::size_t l = 0; l < whole.size(); ++l)
                compare("paths whole <= 1 + first_order + remainder", whole[l], 1 + first[l] + rest[l],
                        stack);
            if (QTest::currentTestFailed()) return;
        }
        for (const auto& [name, row] : compared)
            qInfo("%s: %ld values, at most %.4g of the bound", name.c_str(), row.samples, row.nearest);
        // Each was compared at all.
        QCOMPARE(compared.size(), std::size(kBounds) + 3);
    }
};

}  // namespace

NORMSCOPE_TEST(RandomStacksTest)
#include "random_stacks_test.moc"
