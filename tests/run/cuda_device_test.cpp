// SPDX-License-Identifier: GPL-3.0-or-later
// The runs of device_runs.h on the emulated CUDA device: training, every probe, checkpoint and restored run,
// against the CPU. The kernels add in another order than the CPU, so that results agree to a tolerance; other
// schedules of the grid give the same bits.
#include "core/backend/cuda/emulated_cuda_device.h"
#include "core/run/complete.h"
#include "core/run/memory_need.h"
#include "tests/run/device_runs.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <limits>
#include <numeric>

using namespace normscope;
using namespace normscope::device_runs;

namespace {

/// A shorter run, since every thread of a launch is a fiber.
Recipe short_recipe(const std::string& row) {
    Recipe recipe = recipe_of(row);
    if (!recipe.stack.of_images()) recipe.stack.context = 4;
    recipe.stack.d_model = 12;
    recipe.train.batch = 3;
    return recipe;
}

grid::Schedule schedule(std::uint64_t seed, bool checked = false) {
    return {grid::Schedule::Order::Drawn, seed, checked};
}

/// The probes of many directions take most of a run's time: they are measured at its start alone.
Ran short_run(const Recipe& recipe, Device& device) {
    std::vector<std::string> at_end = all_probes();
    std::erase_if(at_end, [](const std::string& id) { return id == "jacobian" || id == "spectra"; });
    return train(recipe, device, at_end);
}

/// The largest difference of two arrays, relative to the largest magnitude; infinite where one of them alone
/// is not finite at a place.
double relative_difference(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
    double scale = 0, most = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) {
            if (std::isfinite(b[i])) scale = std::max(scale, std::abs(b[i]));
            continue;
        }
        if (!std::isfinite(a[i]) || !std::isfinite(b[i])) return std::numeric_limits<double>::infinity();
        scale = std::max(scale, std::abs(b[i]));
        most = std::max(most, std::abs(a[i] - b[i]));
    }
    return most == 0 ? 0 : most / scale;
}

/// Whether key biases follow round-off: a key's bias adds the same to all scores of a row, which softmax does
/// not see (keyBiasesHaveNoGradient), unless q and k are normalised or rotated after it. Its gradient is zero
/// but for round-off, which AdamW and Adam scale up to steps of size lr.
bool key_biases_are_noise(const Recipe& recipe) {
    const StackSpec& s = recipe.stack;
    return s.bias && s.qk_norm == QkNorm::Off && s.position != Position::Rope &&
           recipe.train.optimizer.kind != OptimizerKind::Sgd;
}

/// The tolerance of a probe's array; negative where it is not compared.
double tolerance(const Recipe& recipe, bool trained, const std::string& probe, const std::string& array) {
    const Precision precision = recipe.train.precision;
    // Error bars of an estimate, and the width of a certificate: round-off alone.
    if (array.ends_with("_error") || array == "width") return -1;
    // Shares and the smallest of all values: a rounding decides on which side of a limit one lies.
    if (probe == "ranges" && array != "amax") return -1;
    // A share of the entries with the smallest gradients, among them the key biases', which are round-off.
    if (probe == "updates" && array == "under_eps") return -1;
    // Differences between passes in the emulated formats: single roundings decide them.
    if (probe == "mismatch") {
        // Ratios of the squares of such errors, of one sequence: of equal weights alone.
        const bool ratio = array.starts_with("split_") || array.starts_with("remainder_");
        return ratio && trained ? -1 : 1;
    }
    // The same in a share of all entries: 12 of the 624 of a group of attention are key biases.
    const bool share = probe == "updates" && array == "bf16_unmoved";
    if (precision == Precision::Fp64) return share && key_biases_are_noise(recipe) ? 2e-2 : 1e-9;
    if (precision == Precision::Bf16 || precision == Precision::Fp16)
        return probe == "growth" || probe == "gradients" ? (trained ? 0.3 : 0.03) : -1;
    if (share) return 2e-2;
    // What queries and keys decide: the largest score, condition numbers of scores and what is made of them.
    if (key_biases_are_noise(recipe) && (probe == "fragility" || probe == "ranges")) return 5e-2;
    if (key_biases_are_noise(recipe) && (array == "max_logit" || array == "update_ratio")) return 1e-2;
    // An operand next to a tie may be rounded to either side, and AdamW's first steps follow the sign.
    return recipe.train.precision == Precision::Tf32 && trained ? 1e-2 : 2e-4;
}

/// Of the losses and norms of the steps, of the first step alone or of all.
double tolerance_of_columns(Precision precision, bool first) {
    switch (precision) {
        case Precision::Fp64:
            return 1e-9;
        case Precision::Fp32:
            // Adam divides a gradient by its own size, so that the rounding of a small one moves a weight: a
            // gradient's norm under deepnorm is 1.1e-5 apart after four steps where the compiler contracts
            // nothing.
            return first ? 1e-6 : 3e-5;
        case Precision::Tf32:
            return first ? 1e-4 : 3e-3;
        default:
            return first ? 0.03 : 0.3;  // at this rate, an update follows the roundings of the gradient
    }
}

/// Places of the heaviest token, of the states that have one: after a norm all tokens are equally heavy but
/// for ε (1 + 2e-6 in float32 and float64 alike), and roundings decide which one is the heaviest.
std::vector<double> decided_places(const ProbeResult& result) {
    std::vector<double> places = result.find("heaviest_place")->data;
    const std::vector<double>& ratios = result.find("heaviest_norm")->data;
    for (std::size_t state = 0; state < ratios.size(); ++state)
        if (ratios[state] < 1 + 1e-4) places[2 * state] = places[2 * state + 1] = 0;
    return places;
}

/// The first array that is not within its tolerance; empty where all are.
std::string first_apart(const Recipe& recipe, bool trained, const std::vector<ProbeResult>& a,
                        const std::vector<ProbeResult>& b) {
    if (a.size() != b.size()) return "number of probes";
    for (std::size_t i = 0; i < b.size(); ++i) {
        if (a[i].arrays.size() != b[i].arrays.size() || a[i].labels != b[i].labels) return b[i].probe;
        for (std::size_t k = 0; k < b[i].arrays.size(); ++k) {
            const NamedArray& array = b[i].arrays[k];
            const double allowed = tolerance(recipe, trained, b[i].probe, array.name);
            const double found = array.name == "heaviest_place"
                                     ? relative_difference(decided_places(a[i]), decided_places(b[i]))
                                     : relative_difference(a[i].arrays[k].data, array.data);
            if (allowed >= 0 && !(found <= allowed))
                return b[i].probe + " " + array.name + ": " + std::to_string(found);
        }
    }
    return "";
}

}  // namespace

class CudaDeviceTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void trainingProbesAndCheckpoints_data() {
        QTest::addColumn<QString>("row");
        for (const auto& [name, settings] : kRows)
            QTest::newRow(name.c_str()) << QString::fromStdString(name);
        // Where the tolerance of their noise is needed with biases, it is not without them.
        for (const char* name : {"none", "post", "pre", "deepnorm", "output", "float64"})
            QTest::addRow("%s, no biases", name) << QString(name);
    }
    void trainingProbesAndCheckpoints() {
        QFETCH(QString, row);
        Recipe recipe = short_recipe(row.toStdString());
        if (QByteArray(QTest::currentDataTag()).endsWith("no biases")) {
            QVERIFY(key_biases_are_noise(recipe));
            recipe.stack.bias = false;
        }
        const Precision precision = recipe.train.precision;
        EmulatedCudaDevice device(schedule(1));
        const Ran there = short_run(recipe, device), here = short_run(recipe, cpu_device());
        QCOMPARE(QString::fromStdString(first_apart(recipe, false, there.before, here.before)), QString());
        for (std::size_t i = 0; i < here.columns.size(); ++i) {
            const auto& [name, expected] = here.columns[i];
            const auto& actual = there.columns[i].second;
            for (const bool first : {true, false}) {
                const double found = first ? relative_difference({actual.at(0)}, {expected.at(0)})
                                           : relative_difference(actual, expected);
                QVERIFY2(found <= tolerance_of_columns(precision, first),
                         qPrintable(QString("%1: %2").arg(name.c_str()).arg(found)));
            }
        }
        QCOMPARE(QString::fromStdString(first_apart(recipe, true, there.after, here.after)), QString());
    }

    /// One step of SGD at rate 1, which moves each weight by its gradient.
    void keyBiasesHaveNoGradient_data() {
        QTest::addColumn<QString>("precision");
        QTest::addColumn<double>("allowed");
        QTest::newRow("float64") << "fp64" << 1e-14;
        QTest::newRow("float32") << "fp32" << 1e-5;
    }
    void keyBiasesHaveNoGradient() {
        QFETCH(QString, precision);
        QFETCH(double, allowed);
        Recipe recipe = short_recipe("float64");
        recipe.stack.scheme = Scheme::Pre;
        recipe.train.precision = precision == "fp64" ? Precision::Fp64 : Precision::Fp32;
        recipe.train.optimizer.kind = OptimizerKind::Sgd;
        recipe.train.optimizer.lr = 1;
        recipe.train.optimizer.clip = 0;
        recipe.train.schedule.lr = LearningRateSchedule::Constant;
        EmulatedCudaDevice device(schedule(1));
        for (Device* of : {static_cast<Device*>(&device), &cpu_device()}) {
            ThreadPool pool(1);
            Experiment experiment(recipe, "a", "test", nullptr, *of);
            const auto before = experiment.checkpoint().params;
            experiment.advance(pool);
            const auto after = experiment.checkpoint().params;
            const auto moved = [&](const std::string& name) {
                double squares = 0;
                for (std::size_t k = 0; k < before.size(); ++k) {
                    if (before[k].name != name) continue;
                    const auto from = stored_values(before[k]), to = stored_values(after[k]);
                    for (std::size_t i = 0; i < to.size(); ++i)
                        squares += (to[i] - from[i]) * (to[i] - from[i]);
                }
                return std::sqrt(squares);
            };
            for (const std::string layer : {"blocks.0.attn.", "blocks.1.attn."}) {
                const double keys = moved(layer + "bk"), queries = moved(layer + "bq");
                QVERIFY2(queries > 1e-6 && keys <= allowed * moved(layer + "bv"),
                         qPrintable(QString("%1 and %2").arg(keys).arg(queries)));
            }
        }
    }

    /// Steps and held-out losses whose tapes have no probabilities: the CPU's, in other bits than with them.
    void stepsWithoutProbabilities_data() {
        QTest::addColumn<QString>("row");
        for (const char* name : {"pre", "llama", "bf16 autocast"}) QTest::newRow(name) << name;
    }
    void stepsWithoutProbabilities() {
        QFETCH(QString, row);
        Recipe recipe = short_recipe(row.toStdString());
        recipe.train.steps = 2;  // both have a held-out loss, which takes most of the test
        const auto losses = [&](Device& device) {
            ThreadPool pool(1);
            Experiment experiment(recipe, "a", "test", nullptr, device);
            RunData run = experiment.header();
            while (!experiment.ended()) append(run, experiment.advance(pool));
            return std::vector<std::vector<double>>{*run.steps.find("loss"), *run.steps.find("val_loss"),
                                                    *run.steps.find("grad_norm")};
        };
        EmulatedCudaDevice tiled(schedule(1, true), 0), stored(schedule(1));
        const auto there = losses(tiled), with = losses(stored), here = losses(cpu_device());
        QVERIFY(there != with);
        for (std::size_t i = 0; i < here.size(); ++i)
            for (const bool first : {true, false}) {
                const double found = first ? relative_difference({there[i].at(0)}, {here[i].at(0)})
                                           : relative_difference(there[i], here[i]);
                QVERIFY2(found <= tolerance_of_columns(recipe.train.precision, first),
                         qPrintable(QString("%1: %2").arg(i).arg(found)));
            }
    }

    void memoryWithoutProbabilities() {
        Recipe recipe;
        recipe.stack.context = 1024;
        recipe.train.batch = 128;  // one shard, more than the probes' sequences, whose maps are kept
        complete_and_validate(recipe);
        EmulatedCudaDevice device(schedule(1)), storing(schedule(1), 1024);
        const double maps = 128 * 4.0 * recipe.stack.depth * recipe.stack.heads * 1024;
        const auto saved = [&] {
            return memory_need(recipe, 1, storing).activations - memory_need(recipe, 1, device).activations;
        };
        QCOMPARE(saved(), maps * (1024 - 2));
        recipe.train.precision = Precision::Bf16;
        recipe.train.precision_policy = PrecisionPolicy::Pure;
        QCOMPARE(saved(), 0.0);
        // A tape in 16 bits has none at any length.
        const double stored = memory_need(recipe, 1, device).activations;
        recipe.train.precision_policy = PrecisionPolicy::Autocast;
        QCOMPARE(saved(), 0.0);
        const double compact = memory_need(recipe, 1, device).activations;
        QVERIFY2(compact > 0.3 * (stored - maps * 1024) && compact < 0.7 * (stored - maps * 1024),
                 qPrintable(QString("%1 of %2").arg(compact).arg(stored)));
        recipe.stack.d_model = 60;  // rows that do not begin at multiples of 16 bytes
        recipe.stack.d_ff = 0;
        complete_and_validate(recipe);
        QCOMPARE(saved(), maps * (1024 - 2));
        QVERIFY_EXCEPTION_THROWN(require_memory(MemoryNeed{1e18, 0}, device), InputError);
    }

    /// In each format the loss falls as on the CPU, which emulates it with sums in another order.
    void shortFormatsLearn_data() {
        QTest::addColumn<QString>("precision");
        QTest::addColumn<QString>("policy");
        for (const char* precision : {"tf32", "bf16", "fp16"})
            for (const char* policy : {"pure", "autocast"})
                if (QString(precision) != "tf32" || QString(policy) == "autocast")
                    QTest::addRow("%s %s", precision, policy) << precision << policy;
    }
    void shortFormatsLearn() {
        QFETCH(QString, precision);
        QFETCH(QString, policy);
        Recipe recipe = load_recipe(
            "pre-ln", {"stack.depth=1", "stack.d_model=12", "stack.heads=2", "stack.context=12", "batch=3",
                       "steps=30", "optimizer.lr=0.01", "precision=" + precision.toStdString(),
                       "precision_policy=" + policy.toStdString()});
        recipe.probes.clear();
        ThreadPool pool(2);
        const auto losses = [&](Device& device) {
            Experiment experiment(recipe, "a", "test", nullptr, device);
            RunData run = experiment.header();
            while (!experiment.ended()) append(run, experiment.advance(pool));
            return *run.steps.find("loss");
        };
        EmulatedCudaDevice device(schedule(1));
        const auto there = losses(device), here = losses(cpu_device());
        const auto mean_of_last = [](const std::vector<double>& loss) {
            return std::accumulate(loss.end() - 5, loss.end(), 0.0) / 5;
        };
        const double found = relative_difference(there, here);
        QVERIFY(mean_of_last(there) < there.front() - 0.8);
        QVERIFY2(found < (precision == "tf32" ? 3e-4 : 5e-3), qPrintable(QString::number(found)));
    }

    void schedulesGiveTheSameBits_data() {
        QTest::addColumn<QString>("row");
        for (const char* name : {"pre", "llama", "float64", "bf16 autocast"}) QTest::newRow(name) << name;
    }
    void schedulesGiveTheSameBits() {
        QFETCH(QString, row);
        const Recipe recipe = short_recipe(row.toStdString());
        EmulatedCudaDevice first_device(schedule(7)), second_device(schedule(8));
        const Ran first = short_run(recipe, first_device), second = short_run(recipe, second_device);
        QCOMPARE(QString::fromStdString(difference(first.before, second.before)), QString());
        for (std::size_t i = 0; i < first.columns.size(); ++i)
            QVERIFY2(same_bits(first.columns[i].second, second.columns[i].second),
                     first.columns[i].first.c_str());
        QVERIFY(first.middle == second.middle);
        QVERIFY(first.last == second.last);
        QCOMPARE(QString::fromStdString(difference(first.after, second.after)), QString());
    }

    /// No race, no access out of bounds, no read of uninitialised memory in a whole run.
    void accessesOfARunAreSound_data() {
        QTest::addColumn<QString>("row");
        for (const char* name : {"pre", "llama"}) QTest::newRow(name) << name;
    }
    void accessesOfARunAreSound() {
        QFETCH(QString, row);
        Recipe recipe = short_recipe(row.toStdString());
        EmulatedCudaDevice checked(schedule(3, true)), unchecked(schedule(3));
        const Ran first = short_run(recipe, checked), second = short_run(recipe, unchecked);
        QVERIFY(first.last == second.last);
    }
};

NORMSCOPE_TEST(CudaDeviceTest)
#include "cuda_device_test.moc"
