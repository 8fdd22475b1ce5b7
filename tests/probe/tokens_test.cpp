// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/tokens.h"

#include "tests/support/test_main.h"

#include <Eigen/Dense>

#include <QtTest>
#include <algorithm>
#include <cmath>

using namespace normscope;

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

StackSpec stack_of(int width, int context) {
    StackSpec s;
    s.depth = 2;
    s.d_model = width;
    s.heads = 2;
    s.context = context;
    complete(s, 19);
    return s;
}

Batch batch_of(int sequences, int length) {
    Batch batch{sequences, length, {}, {}};
    for (int i = 0; i < sequences * length; ++i) batch.tokens.push_back((5 * i + i * i / 7) % 19);
    return batch;
}

const std::vector<double>& values(const ProbeResult& result, const char* name) {
    return result.find(name)->data;
}

double rank_by_svd(const Matrix& x) {
    const Eigen::VectorXd sigma = Eigen::JacobiSVD<Matrix>(x).singularValues();
    double entropy = 0;
    for (double s : sigma)
        if (const double p = s / sigma.sum(); p > 0) entropy -= p * std::log(p);
    return std::exp(entropy);
}

}  // namespace

class TokensTest : public QObject {
    Q_OBJECT

    ThreadPool pool_{2};

    template <class T>
    ProbeResult measure(const Transformer<T>& model, const Batch& batch) {
        ProbeInput<T> input(model, batch, pool_, 0);
        return probe_tokens(input);
    }

    /// Every array against its direct formula; [n, d] wide, square, tall.
    template <class T>
    void check(int width, int length, int sequences) {
        const Transformer<T> model(stack_of(width, length), 5);
        const Batch batch = batch_of(sequences, length);
        ProbeInput<T> input(model, batch, pool_, 0);
        const ProbeResult found = probe_tokens(input);
        const int ranked = effective_rank_sequences(model.spec(), sequences, length);
        QCOMPARE(found.labels.at("effective_rank_sequences").at(0), std::to_string(ranked));
        for (std::size_t k = 0; k < 5; ++k) {
            std::array<std::vector<double>, 4> each;
            double most = 0;
            std::pair<double, double> place{-1, -1};
            for (int b = 0; b < sequences; ++b) {
                Matrix x(length, width);
                for (int i = 0; i < length * width; ++i)
                    x.data()[i] = static_cast<double>(input.tape().hidden[k][b * length * width + i]);
                double cosines = 0;
                for (int i = 0; i < length; ++i)
                    for (int j = 0; j < i; ++j)
                        cosines += x.row(i).dot(x.row(j)) / x.row(i).norm() / x.row(j).norm();
                std::vector<double> sizes(x.data(), x.data() + x.size());
                for (double& v : sizes) v = std::abs(v);
                std::sort(sizes.begin(), sizes.end());
                const std::size_t n = sizes.size();
                const Eigen::VectorXd norms = x.rowwise().norm();
                each[0].push_back(cosines / (length * (length - 1) / 2.0));
                each[1].push_back(sizes.back() / ((sizes[(n - 1) / 2] + sizes[n / 2]) / 2));
                Eigen::Index heaviest = 0;
                each[2].push_back(norms.maxCoeff(&heaviest) / norms.mean());
                if (each[2].back() > most) {
                    most = each[2].back();
                    place = {double(b), double(heaviest)};
                }
                if (b < ranked) each[3].push_back(rank_by_svd(x));
            }
            QCOMPARE(values(found, "heaviest_place")[2 * k], place.first);
            QCOMPARE(values(found, "heaviest_place")[2 * k + 1], place.second);
            const char* names[] = {"similarity", "outlier", "heaviest_norm", "effective_rank"};
            for (std::size_t i = 0; i < 4; ++i) {
                const auto n = static_cast<double>(each[i].size());
                double mean = 0, squares = 0;
                for (double v : each[i]) mean += v / n;
                for (double v : each[i]) squares += (v - mean) * (v - mean);
                QVERIFY2(std::abs(values(found, names[i])[k] - mean) < 1e-9 * std::max(1.0, mean), names[i]);
                const std::string error = std::string(names[i]) + "_error";
                QVERIFY2(std::abs(values(found, error.c_str())[k] - std::sqrt(squares / n / (n - 1))) <
                             1e-9 * mean + 1e-9,
                         error.c_str());
            }
        }
    }

  private Q_SLOTS:
    void directFormulas() {
        check<double>(8, 5, 3);
        check<double>(6, 6, 2);
        check<double>(6, 11, 4);
        check<float>(8, 7, 3);
    }

    /// Tokens that are all the same: similarity 1, one direction.
    void identicalTokens() {
        StackSpec s = stack_of(8, 6);
        s.position = Position::None;
        Transformer<double> model(s, 5);
        Batch batch{2, 6, std::vector<std::int32_t>(12, 3), {}};
        const ProbeResult found = measure(model, batch);
        for (std::size_t k = 0; k < 5; ++k) {
            QVERIFY(std::abs(values(found, "similarity")[k] - 1) < 1e-13);
            QVERIFY(std::abs(values(found, "effective_rank")[k] - 1) < 1e-12);
            QVERIFY(std::abs(values(found, "heaviest_norm")[k] - 1) < 1e-13);
            QVERIFY(values(found, "similarity_error")[k] < 1e-13);
        }
    }

    /// Embeddings along different axes, one of them three times as long.
    void orthogonalTokens() {
        StackSpec s = stack_of(4, 4);
        s.position = Position::None;
        Transformer<double> model(s, 5);
        std::fill_n(model.parameters().begin() + static_cast<std::ptrdiff_t>(model.table().tok_emb), 19 * 4,
                    0.0);
        for (std::size_t i = 0; i < 4; ++i)
            model.parameters()[model.table().tok_emb + 5 * i] = i == 3 ? -3 : 1;
        const Batch batch{2, 4, {0, 1, 2, 3, 3, 1, 0, 2}, {}};
        const ProbeResult found = measure(model, batch);
        QVERIFY(std::abs(values(found, "similarity")[0]) < 1e-15);
        QVERIFY(std::abs(values(found, "heaviest_norm")[0] - 3 / 1.5) < 1e-15);
        // Token 3 is the heavy one: the last of the first sequence; that of the second is as heavy, and
        // later.
        QCOMPARE(values(found, "heaviest_place")[0], 0.0);
        QCOMPARE(values(found, "heaviest_place")[1], 3.0);
        // σ = 3, 1, 1, 1: p = 1/2, 1/6, 1/6, 1/6.
        QVERIFY(std::abs(values(found, "effective_rank")[0] - std::exp(std::log(2) / 2 + std::log(6) / 2)) <
                1e-13);
        QVERIFY(std::isnan(values(found, "outlier")[0]));  // most entries are 0, and so is the median
        const std::vector<double> unit{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
        QVERIFY(std::abs(effective_rank(unit.data(), 3, 4) - 3) < 1e-13);
    }

    void whatIsNotDefinedIsNan() {
        Transformer<float> model(stack_of(8, 5), 5);
        model.parameters()[model.table().attention[1].wo] = INFINITY;
        const Batch batch = batch_of(2, 5);
        const ProbeResult found = measure(model, batch);
        for (const NamedArray& array : found.arrays) {
            const std::size_t each = array.shape.size() == 2 ? 2 : 1;
            QCOMPARE(array.data.size(), 5 * each);
            QVERIFY2(std::isfinite(array.data[2 * each]) && std::isnan(array.data[3 * each]),
                     array.name.c_str());
        }
        const ProbeResult alone = measure(model, batch_of(3, 1));
        QVERIFY(std::isnan(values(alone, "similarity")[0]) && std::isfinite(values(alone, "outlier")[0]));
    }

    void wideStacksSampleSequences() {
        StackSpec s = stack_of(64, 64);
        s.depth = 12;
        QCOMPARE(effective_rank_sequences(s, 8, 64), 2);
        QCOMPARE(effective_rank_sequences(s, 1, 64), 1);
        QCOMPARE(effective_rank_sequences(s, 64, 64), 12);
    }
};

NORMSCOPE_TEST(TokensTest)
#include "tokens_test.moc"
