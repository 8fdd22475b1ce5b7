// SPDX-License-Identifier: GPL-3.0-or-later
// The probe against its definitions written out with Eigen: dense singular values, every row, every norm.
#include "core/probe/precision/fragility.h"

#include "core/base/statistics.h"
#include "core/model/residual_sum.h"
#include "core/recipe/recipe.h"
#include "tests/support/test_main.h"

#include <Eigen/Dense>

#include <QtTest>
#include <cmath>

using namespace normscope;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

namespace {

constexpr int kTokens = 7, kSequences = 3;

Batch batch_of(unsigned seed) {
    Batch batch{kSequences, kTokens, {}, {}};
    for (int i = 0; i < kSequences * kTokens; ++i)
        batch.tokens.push_back((static_cast<int>(seed) + 7 * i * i + 3 * i) % 11);
    return batch;
}

StackSpec stack_of(const QString& name) {
    StackSpec s;
    s.depth = 3;
    s.d_model = 12;
    s.heads = 4;
    s.context = kTokens;
    s.norm.eps = 1e-3;
    if (name == "llama") {
        s.block = Block::Llama;
        s.kv_heads = 2;
    } else if (name == "post, bidirectional") {
        s.scheme = Scheme::Post;
        s.causal = false;
        s.residual_step = 0.4;
        s.temperature = 1.7;
    } else if (name == "parallel") {
        s.layout = Layout::Parallel;
        s.qk_norm = QkNorm::Head;
    } else if (name == "wide heads, GeGLU") {
        s.activation = Activation::GeGlu;
        s.head_width = 6;
        s.kv_heads = 1;
    }
    complete(s, 11);
    return s;
}

/// Weights larger than at the start, biases and gains away from 0 and 1: every term counts.
Transformer<double> model_of(const StackSpec& spec, unsigned seed) {
    Transformer<double> model(spec, seed);
    for (std::size_t i = 0; i < model.parameters().size(); ++i)
        model.parameters()[i] =
            1.3 * model.parameters()[i] + 0.05 * std::sin(static_cast<double>(3 * i + seed));
    return model;
}

double two_norm(const Matrix& m) {
    return m.jacobiSvd().singularValues()(0);
}
double condition(const Matrix& m, double ridge) {
    const Eigen::VectorXd s = m.jacobiSvd().singularValues();
    return s(0) / (s(s.size() - 1) + ridge);
}
double jacobian_norm(const Eigen::VectorXd& p) {
    const Eigen::MatrixXd j = Eigen::MatrixXd(p.asDiagonal()) - p * p.transpose();
    return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(j).eigenvalues().cwiseAbs().maxCoeff();
}

}  // namespace

class FragilityTest : public QObject {
    Q_OBJECT
    ThreadPool pool_{2};

    static double entry(const ProbeResult& result, const char* name, std::size_t at = 0) {
        const NamedArray* array = result.find(name);
        if (!array) qFatal("no array %s", name);
        return array->data.at(at);
    }
    static void compare(double found, double expected, const QString& what) {
        QVERIFY2(
            std::abs(found - expected) <= 1e-9 * std::abs(expected),
            qPrintable(
                QString("%1: %2, expected %3").arg(what).arg(found, 0, 'g', 17).arg(expected, 0, 'g', 17)));
    }

  private Q_SLOTS:
    void isWhatItsDefinitionsGive_data() {
        QTest::addColumn<QString>("stack");
        QTest::addColumn<unsigned>("seed");
        for (const char* stack : {"gpt2", "llama", "post, bidirectional", "parallel", "wide heads, GeGLU"})
            for (const unsigned seed : {1u, 2u, 3u})
                QTest::addRow("%s, seed %u", stack, seed) << stack << seed;
    }
    void isWhatItsDefinitionsGive() {
        QFETCH(QString, stack);
        QFETCH(unsigned, seed);
        const StackSpec spec = stack_of(stack);
        const auto model = model_of(spec, seed);
        const Batch batch = batch_of(seed);
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult result = probe_fragility(input);
        const Tape<double>& tape = input.tape();
        const int n = kTokens, d = spec.d_model, h = spec.d_head(), kv = spec.d_kv(), d_q = h * spec.heads,
                  width = d_q + 2 * kv, R = kSequences * kTokens;
        const double scale = 1 / (model.numerics.temperature * std::sqrt(double(h)));
        const auto view = [&](const double* values, int rows, int columns) {
            return Eigen::Map<const Matrix>(values, rows, columns);
        };
        const auto weight = [&](const QString& name) -> Matrix {
            const TensorInfo* t = model.table().find(name.toStdString());
            if (!t) qFatal("no tensor %s", qPrintable(name));
            return view(model.parameters().data() + t->offset, t->shape[0], t->shape[1]);
        };

        // The norms' terms come first: the layers need them.
        const auto& sites = model.sites();
        QCOMPARE(result.labels.at("sites").size(), sites.size());
        std::vector<double> ln_term(sites.size()), c_ln(sites.size());
        for (std::size_t i = 0; i < sites.size(); ++i) {
            const Matrix x = view(norm_site_input(sites[i], tape).x, R, d);
            const bool layer_norm = spec.norm.kind == NormKind::LayerNorm;
            std::vector<double> variances, ratios;
            for (int r = 0; r < R; ++r) {
                const Eigen::VectorXd row = x.row(r), centred = row.array() - (layer_norm ? row.mean() : 0.0);
                variances.push_back(centred.squaredNorm() / d);
                ratios.push_back(row.norm() / centred.norm());
            }
            const double v = median(variances), eps = spec.norm.eps;
            const Eigen::VectorXd gamma = view(model.parameters().data() + sites[i].offsets.weight, d, 1);
            ln_term[i] = gamma.cwiseAbs().maxCoeff() * (eps + 2 * v) / std::pow(v + eps, 1.5) * x.norm();
            c_ln[i] = std::sqrt(v) / std::sqrt(eps) + v / eps + 1;
            compare(entry(result, "ln_term", i), ln_term[i], "ln_term");
            compare(entry(result, "c_ln", i), c_ln[i], "c_ln");
            compare(entry(result, "cancellation", i), median(ratios), "cancellation");
            compare(entry(result, "rho_fp16", i), v / eps * d * 0x1p-11, "rho_fp16");
            compare(entry(result, "rho_bf16", i), v / eps * d * 0x1p-8, "rho_bf16");
        }

        std::vector<double> local(3), growth(3);
        double total_v1 = 0;
        for (int l = 0; l < spec.depth; ++l) {
            const SublayerTape<double>&attention = tape.sublayers[2 * std::size_t(l)],
                  &ffn = tape.sublayers[2 * std::size_t(l) + 1];
            double most_score = 0, most_softmax = 0, most_value = 0, most_row = 0, most_v = 0;
            double s2 = 0, p2 = 0, q2 = 0, k2 = 0, o2 = 0;
            for (int head = 0; head < spec.heads; ++head) {
                double score = 0, softmax = 0, value = 0, row_norm = 0;
                for (int b = 0; b < kSequences; ++b) {
                    const Matrix all = view(attention.qkv + b * n * width, n, width);
                    const int group = head * spec.kv_heads / spec.heads;
                    const Matrix q = all.middleCols(head * h, h), k = all.middleCols(d_q + group * h, h),
                                 v = all.middleCols(d_q + kv + group * h, h),
                                 p = view(attention.probabilities + (b * spec.heads + head) * n * n, n, n);
                    Matrix s = scale * q * k.transpose();
                    if (spec.causal) s.triangularView<Eigen::StrictlyUpper>().setZero();
                    // The probabilities are those of these scores.
                    for (int i = 0; i < n; ++i) {
                        const int keys = spec.causal ? i + 1 : n;
                        const Eigen::VectorXd row = s.row(i).head(keys), e = row.array().exp();
                        QVERIFY((p.row(i).head(keys).transpose() - e / e.sum()).cwiseAbs().maxCoeff() <
                                1e-12);
                        const double norm = jacobian_norm(p.row(i).transpose());
                        row_norm = std::max(row_norm, norm);
                        softmax = std::max(softmax, norm * s.row(i).norm() / p.row(i).norm());
                    }
                    score = std::max(score, scale * two_norm(q) * two_norm(k) / two_norm(s));
                    value = std::max(value, condition(v, 3e-6));
                    most_v = std::max(most_v, two_norm(v));
                    s2 += s.squaredNorm();
                    p2 += p.squaredNorm();
                    q2 += q.squaredNorm();
                    k2 += k.squaredNorm();
                    o2 += (p * v).squaredNorm();
                }
                const auto at = static_cast<std::size_t>(l * spec.heads + head);
                compare(entry(result, "kappa_score", at), score, "kappa_score");
                compare(entry(result, "kappa_softmax", at), softmax, "kappa_softmax");
                compare(entry(result, "kappa_v", at), value, "kappa_v");
                compare(entry(result, "row_norm", at), row_norm, "row_norm");
                most_score = std::max(most_score, score);
                most_softmax = std::max(most_softmax, softmax);
                most_value = std::max(most_value, value);
                most_row = std::max(most_row, row_norm);
            }
            const auto at = static_cast<std::size_t>(l);
            const double softmax_v2 = most_row * std::sqrt(s2 / p2),
                         chi = most_row * scale * std::sqrt(q2 * k2 / p2);
            compare(entry(result, "softmax_v2", at), softmax_v2, "softmax_v2");
            compare(entry(result, "chi_score", at), chi, "chi_score");
            compare(entry(result, "kappa_val", at), std::sqrt(p2 / o2) * most_v, "kappa_val");
            QVERIFY(entry(result, "kappa_val", at) >= 1);

            const QString block = QString("blocks.%1.").arg(l);
            Matrix w1, w2;
            if (is_gated(spec.activation)) {
                const Matrix gate = weight(block + "ffn.w_gate"), up = weight(block + "ffn.w_up");
                w1.resize(gate.rows() + up.rows(), d);
                w1 << gate, up;
                w2 = weight(block + "ffn.w_down");
            } else {
                w1 = weight(block + "ffn.w1");
                w2 = weight(block + "ffn.w2");
            }
            const Matrix wo = weight(block + "attn.wo");
            const double kappa = condition(w1, 1e-6) + condition(w2, 1e-6) + condition(wo, 1e-6);
            compare(entry(result, "kappa_eff", at), kappa, "kappa_eff");
            local[at] = (softmax_v2 + chi) * std::sqrt(p2) * most_v + two_norm(wo) * std::sqrt(o2) +
                        two_norm(w1) * view(ffn.u ? ffn.u : ffn.x, R, d).norm() +
                        two_norm(w2) * view(ffn.activated, R, spec.d_ff).norm();
            double norm = 0;
            for (std::size_t i = 0; i < sites.size(); ++i)
                if (sites[i].sublayer / 2 == l && sites[i].sublayer >= 0) {
                    local[at] += ln_term[i];
                    norm = std::max(norm, c_ln[i]);
                }
            compare(entry(result, "local_v2", at), local[at], "local_v2");
            const double v1 = most_softmax * (1 + most_score) * most_value * two_norm(wo) + kappa + norm;
            compare(entry(result, "predictor_v1", at), v1, "predictor_v1");
            total_v1 += v1;

            std::vector<double> branch(static_cast<std::size_t>(R * d));
            const auto size = [&](int k) {
                branch_rows(model, tape, k, 0, R, branch.data());
                return view(branch.data(), R, d).norm();
            };
            const bool parallel = spec.layout == Layout::Parallel;
            const double a = size(2 * l) / view(tape.hidden[2 * at], R, d).norm(),
                         m = size(2 * l + 1) / view(tape.hidden[parallel ? 2 * at : 2 * at + 1], R, d).norm();
            growth[at] = parallel ? a + m : a + m * (1 + a);
        }
        compare(entry(result, "total_v1"), total_v1, "total_v1");
        double along = 1, total_v2 = 0;
        for (std::size_t l = 3; l-- > 0;) {
            compare(entry(result, "transport", l), along, "transport");
            const double expected = local[l] * along / view(tape.final_hidden, R, d).norm();
            compare(entry(result, "predictor_v2", l), expected, "predictor_v2");
            total_v2 += expected;
            along *= 1 + growth[l];
        }
        compare(entry(result, "total_v2"), total_v2, "total_v2");
    }

    /// Where there is no ε, what is divided by it is not defined; the rest is.
    void withoutEpsilon() {
        StackSpec spec = stack_of("gpt2");
        spec.norm.eps = 0;
        const Transformer<double> model(spec, 1);
        const Batch batch = batch_of(1);
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult result = probe_fragility(input);
        QVERIFY(std::isnan(entry(result, "c_ln")) && std::isnan(entry(result, "rho_fp16")));
        QVERIFY(std::isnan(entry(result, "total_v1")));
        QVERIFY(entry(result, "total_v2") > 0);
    }

    /// One weight that is not finite makes what depends on it NaN, and no layer before it.
    void aDivergedModelGivesNaN() {
        const StackSpec spec = stack_of("gpt2");
        Transformer<double> model(spec, 1);
        model.parameters()[model.table().attention[1].wo] = std::numeric_limits<double>::infinity();
        const Batch batch = batch_of(1);
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult result = probe_fragility(input);
        QVERIFY(std::isfinite(entry(result, "predictor_v1", 0)) &&
                std::isfinite(entry(result, "local_v2", 0)));
        QVERIFY(std::isnan(entry(result, "kappa_eff", 1)) &&
                std::isnan(entry(result, "kappa_softmax", 2 * 4)));
        QVERIFY(std::isnan(entry(result, "total_v1")) && std::isnan(entry(result, "predictor_v2", 0)));
    }
};

NORMSCOPE_TEST(FragilityTest)
#include "fragility_test.moc"
