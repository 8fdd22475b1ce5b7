// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/shared/counter_rng.h"

#include "core/backend/shared/box_muller.h"
#include "core/backend/shared/threefry.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

using namespace normscope;

namespace {

std::vector<double> normals(NormalKey key, std::uint64_t row, std::uint64_t count, std::uint64_t begin = 0) {
    std::vector<double> out(count);
    fill_normal_row(key, row, begin, count, 1.0, out.data());
    return out;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum / static_cast<double>(a.size());
}

/// The largest distance between the sample's distribution function and `cdf`, times √n: Kolmogorov–Smirnov.
template <class Cdf>
double kolmogorov_smirnov(std::vector<double> sample, Cdf cdf) {
    std::sort(sample.begin(), sample.end());
    const double n = static_cast<double>(sample.size());
    double distance = 0;
    for (std::size_t i = 0; i < sample.size(); ++i) {
        const double f = cdf(sample[i]), k = static_cast<double>(i);
        distance = std::max({distance, f - k / n, (k + 1) / n - f});
    }
    return distance * std::sqrt(n);
}

}  // namespace

class CounterRngTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    // The three known answers published with Random123 (kat_vectors, threefry2x64 20).
    void knownAnswers() {
        const std::uint64_t ones = ~std::uint64_t{0};
        const auto same = [](detail::WordPair words, std::uint64_t even, std::uint64_t odd) {
            return words.even == even && words.odd == odd;
        };
        QVERIFY(same(detail::threefry(0, 0, 0, 0), 0xc2b6e3a8c2c69865u, 0x6f81ed42f350084du));
        QVERIFY(same(detail::threefry(ones, ones, ones, ones), 0xe02cb7c4d95d277au, 0xd06633d0893b8b68u));
        QVERIFY(same(detail::threefry(0xa4093822299f31d0u, 0x082efa98ec4e6c89u, 0x243f6a8885a308d3u,
                                      0x13198a2e03707344u),
                     0x263c7d30bb0f0af1u, 0x56be8361d3311526u));
        NormalKey key(0, "");
        key.value = 0;
        QCOMPARE(random_bits(key, 0, 0), 0xc2b6e3a8c2c69865u);
        QCOMPARE(random_bits(key, 0, 1), 0x6f81ed42f350084du);
    }

    void polynomialsAgreeWithLibm() {
        double worst_log = 0, worst_trigonometric = 0;
        for (int i = 0; i <= 200000; ++i) {
            const double u =
                i < 100000 ? std::exp(-36.0 * i / 100000.0) : 1.0 - std::pow(2.0, -(i - 100000) / 2000.0);
            if (u > 0)
                worst_log = std::max(worst_log, std::abs(detail::log_positive(u) - std::log(u)) /
                                                    std::max(1e-300, std::abs(std::log(u))));
            const double x = (i / 100000.0 - 1.0) * std::numbers::pi / 4;
            double sine, cosine;
            detail::sin_cos_eighth(x, sine, cosine);
            worst_trigonometric =
                std::max({worst_trigonometric, std::abs(sine - std::sin(x)), std::abs(cosine - std::cos(x))});
        }
        QVERIFY2(worst_log < 1e-15, qPrintable(QString::number(worst_log)));
        QVERIFY2(worst_trigonometric < 3e-16, qPrintable(QString::number(worst_trigonometric)));
    }

    // The whole way from words to normals against libm, including the extreme radii.
    void normalsAgreeWithLibm() {
        const NormalKey key(42, "blocks.3.attn.wq");
        double worst = 0;
        const std::vector<double> drawn = normals(key, 7, 200000);
        for (std::uint64_t column = 0; column < drawn.size(); column += 2) {
            const std::uint64_t radius_word = random_bits(key, 7, column),
                                angle_word = random_bits(key, 7, column + 1);
            const double u = 1.0 - static_cast<double>(radius_word >> 12) * 0x1p-52;
            const double angle = static_cast<double>(angle_word >> 12) * 0x1p-52 * std::numbers::pi / 4;
            const double radius = std::sqrt(-2 * std::log(u));
            double first = radius * std::cos(angle), second = radius * std::sin(angle);
            if (angle_word & 4) std::swap(first, second);
            if (angle_word & 1) first = -first;
            if (angle_word & 2) second = -second;
            worst = std::max({worst, std::abs(first - drawn[column]), std::abs(second - drawn[column + 1])});
        }
        QVERIFY2(worst < 1e-14, qPrintable(QString::number(worst)));
        double first, second;
        detail::box_muller(~std::uint64_t{0}, 0, first, second);  // u = 2^-52
        QVERIFY(std::abs(std::hypot(first, second) - std::sqrt(104 * std::numbers::ln2)) < 1e-12);
        detail::box_muller(0, 0, first, second);  // u = 1
        QCOMPARE(std::hypot(first, second), 0.0);
    }

    // Every instruction set's version against plain scalar code, bit for bit.
    void allVersionsGiveTheSameBits() {
        const NormalKey key(42, "head.weight");
        for (const detail::DrawNormals draw : detail::draw_normals_versions())
            for (std::uint64_t row = 0; row < 2000; ++row) {
                const std::uint64_t first_pair = row % 2 ? row : (std::uint64_t{1} << 32) - 5;
                std::array<double, detail::kNormalsAtOnce> drawn;
                draw(key.value, row, first_pair, drawn.data());
                for (std::uint64_t i = 0; i < drawn.size(); i += 2) {
                    const detail::WordPair words = detail::threefry(key.value, 0, first_pair + i / 2, row);
                    double first, second;
                    detail::box_muller(words.even, words.odd, first, second);
                    QVERIFY(drawn[i] == first && drawn[i + 1] == second);
                }
            }
    }

    // Any part of a row equals the same part of the whole row: what makes new entries the only ones drawn.
    void partsEqualTheWhole() {
        const NormalKey key(1, "w");
        const std::vector<double> whole = normals(key, 3, 300);
        for (const std::uint64_t begin : {0, 1, 2, 63, 64, 65, 127, 200})
            for (const std::uint64_t count : {0, 1, 2, 31, 64, 65, 100}) {
                const std::vector<double> part = normals(key, 3, count, begin);
                for (std::uint64_t i = 0; i < count; ++i) QCOMPARE(part[i], whole[begin + i]);
            }
    }

    void floatIsTheRoundedDouble() {
        const NormalKey key(5, "w");
        std::vector<double> wide(101);
        std::vector<float> narrow(101);
        fill_normal_row(key, 9, 3, 101, 0.125, wide.data());
        fill_normal_row(key, 9, 3, 101, 0.125, narrow.data());
        for (std::size_t i = 0; i < wide.size(); ++i) QCOMPARE(narrow[i], static_cast<float>(wide[i]));
        QCOMPARE(wide[50], 0.125 * normals(key, 9, 1, 53)[0]);
    }

    void momentsAndDistribution() {
        const std::size_t n = 1000000;
        const std::vector<double> sample = normals(NormalKey(42, "tok_emb"), 0, n);
        double m1 = 0, m2 = 0, m3 = 0, m4 = 0;
        for (const double z : sample) m1 += z, m2 += z * z, m3 += z * z * z, m4 += z * z * z * z;
        const double count = static_cast<double>(n), sigma = 1 / std::sqrt(count);
        QVERIFY(std::abs(m1 / count) < 4 * sigma);
        QVERIFY(std::abs(m2 / count - 1) < 4 * std::sqrt(2.0) * sigma);
        QVERIFY(std::abs(m3 / count) < 4 * std::sqrt(15.0) * sigma);
        QVERIFY(std::abs(m4 / count - 3) < 4 * std::sqrt(96.0) * sigma);
        // 1.95 is the 0.1 % point of Kolmogorov's distribution.
        QVERIFY(kolmogorov_smirnov(
                    sample, [](double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }) < 1.95);
        std::vector<double> uniforms(n);
        RandomRow random(NormalKey(42, "u"), 0);
        for (double& u : uniforms) u = random.uniform();
        QVERIFY(kolmogorov_smirnov(uniforms, [](double u) { return u; }) < 1.95);
        QVERIFY(*std::min_element(uniforms.begin(), uniforms.end()) >= 0);
        QVERIFY(*std::max_element(uniforms.begin(), uniforms.end()) < 1);
    }

    // Neighbouring rows, columns, seeds and names must have nothing in common.
    void neighboursAreUncorrelated() {
        const std::size_t n = 200000;
        const NormalKey key(42, "blocks.0.attn.wq");
        const std::vector<double> base = normals(key, 0, n);
        const double bound = 4 / std::sqrt(static_cast<double>(n));
        const std::vector<std::vector<double>> others{normals(key, 1, n),
                                                      normals(key, std::uint64_t{1} << 32, n),
                                                      normals(key, 0, n, 1),
                                                      normals(key, 0, n, 2),
                                                      normals(key, 0, n, std::uint64_t{1} << 33),
                                                      normals(NormalKey(43, "blocks.0.attn.wq"), 0, n),
                                                      normals(NormalKey(42, "blocks.1.attn.wq"), 0, n),
                                                      normals(NormalKey(42, "blocks.0.attn.wk"), 0, n)};
        for (const std::vector<double>& other : others) {
            QVERIFY(std::abs(correlation(base, other)) < bound);
            std::vector<double> energy_a(n), energy_b(n);
            for (std::size_t i = 0; i < n; ++i) {
                energy_a[i] = (base[i] * base[i] - 1) / std::numbers::sqrt2;
                energy_b[i] = (other[i] * other[i] - 1) / std::numbers::sqrt2;
            }
            QVERIFY(std::abs(correlation(energy_a, energy_b)) < bound);
        }
        std::vector<double> even(n), odd(n);
        const std::vector<double> pairs = normals(key, 0, 2 * n);
        for (std::size_t i = 0; i < n; ++i) even[i] = pairs[2 * i], odd[i] = pairs[2 * i + 1];
        QVERIFY(std::abs(correlation(even, odd)) < bound);
    }

    void integersAreEven() {
        const int bound = 7, n = 70000;
        std::vector<int> counts(bound);
        RandomRow random(NormalKey(3, "i"), 2);
        for (int i = 0; i < n; ++i) {
            const std::uint64_t drawn = random.below(bound);
            QVERIFY(drawn < bound);
            ++counts[drawn];
        }
        double chi_squared = 0;
        for (const int count : counts) chi_squared += std::pow(count - n / bound, 2) / (n / bound);
        QVERIFY(chi_squared < 22.5);  // 0.1 % point, 6 degrees of freedom
    }

    void categoriesFollowTheirWeights() {
        const std::vector<double> cumulative{0.0, 1.0, 1.0, 4.0, 4.0};  // weights 0 1 0 3 0
        QCOMPARE(categorical(cumulative, 0.0), 1);
        QCOMPARE(categorical(cumulative, std::nextafter(0.25, 0)), 1);
        QCOMPARE(categorical(cumulative, 0.25), 3);
        QCOMPARE(categorical(cumulative, std::nextafter(1.0, 0)), 3);
        const std::vector<double> tiny{5e-324, 1e-323, 1e-323};  // u · total rounds up to total
        QCOMPARE(categorical(tiny, std::nextafter(1.0, 0)), 1);
    }
};

NORMSCOPE_TEST(CounterRngTest)
#include "counter_rng_test.moc"
