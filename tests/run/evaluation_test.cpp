// SPDX-License-Identifier: GPL-3.0-or-later
// The engine against what PyTorch computed in float64 (tests/reference, whose README describes how errors are
// measured).
#include "core/run/evaluation.h"

#include "core/base/error.h"
#include "core/probe/registry.h"
#include "core/session/hdf5.h"
#include "core/session/named_arrays.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>

using namespace normscope;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFloor = 1e-3;  // of the largest entry among all gradients (steps)
constexpr double kNear = 10;     // times ε

struct Array {
    std::vector<std::size_t> shape;
    std::vector<double> data;
};
using Arrays = std::map<std::string, Array>;

/// `name`: a scheme (the base cases), or options/SCHEME (where all pairs of options meet).
std::string reference_file(const std::string& name) {
    return std::string(NORMSCOPE_SOURCE_DIR) + "/tests/reference/" + name + ".h5";
}

void read_tree(hid_t group, const std::string& prefix, Arrays& arrays) {
    for (const std::string& name : hdf5::children(group)) {
        if (hdf5::is_group(group, name)) {
            read_tree(hdf5::open_group(group, name), prefix + name + "/", arrays);
        } else {
            auto array = hdf5::read_array<double>(group, name);
            arrays[prefix + name] = {std::move(array.shape), std::move(array.data)};
        }
    }
}

Array array_of(const StoredTensor& tensor) {
    return {tensor.shape, as_float64(tensor)};
}

/// grad/NAME, step/NAME and update/NAME are reported as one output each, sub-layers' Jacobians too.
std::string output_of(const std::string& path) {
    const auto slash = path.find('/');
    return slash == std::string::npos || path.rfind("probes/", 0) == 0 ? path : path.substr(0, slash);
}

double largest(const Array& array) {
    double most = 0;
    for (double v : array.data)
        if (!std::isnan(v)) most = std::max(most, std::abs(v));
    return most;
}

/// max |got − want| over the entries that `counts` admits, infinite where shapes or NaNs differ.
double difference(const Array& got, const Array& want, const std::function<bool(std::size_t)>& counts) {
    if (got.shape != want.shape || got.data.size() != want.data.size()) return kInfinity;
    double worst = 0;
    for (std::size_t i = 0; i < want.data.size(); ++i) {
        if (!counts(i)) continue;
        if (std::isnan(want.data[i]) != std::isnan(got.data[i])) return kInfinity;
        if (!std::isnan(want.data[i])) worst = std::max(worst, std::abs(got.data[i] - want.data[i]));
    }
    return worst;
}

/// Output -> worst relative error over everything that `want` holds: of an array max |got − want| / max
/// |want|, of a gradient or step not below the floor. The step of an entry whose gradient is below 10·ε is
/// measured as the gradient that it is of (`step_near_eps`): AdamW's first step is lr/ε times it there, and
/// takes round-off of a gradient of zero for one.
std::map<std::string, double> compare(const Arrays& want, const Arrays& got, const OptimizerSpec& optimizer,
                                      bool single = false) {
    std::map<std::string, double> most, worst;  // largest entry among the gradients, the steps, the updates
    for (const auto& [path, array] : want)
        for (const char* kind : {"grad", "step", "update"})
            if (output_of(path) == kind) most[kind] = std::max(most[kind], largest(array));
    const auto scale_of = [&](const std::string& path) {
        const double own = largest(want.at(path)), kind = most[output_of(path)];
        // The key bias has a gradient of exactly zero; what float32 leaves there is round-off of the other
        // gradients.
        const double scale = std::max(own, single && own < 1e-12 * kind ? kind : kFloor * kind);
        return scale > 0 ? scale : 1;
    };
    const auto note = [&](const std::string& output, double error) {
        worst[output] = std::max(worst[output], error);
    };
    for (const auto& [path, array] : want) {
        const auto found = got.find(path);
        const auto error = [&, &array = array](const auto& counts) {
            return found == got.end() ? kInfinity : difference(found->second, array, counts);
        };
        if (output_of(path) != "step") {
            note(output_of(path), error([](std::size_t) { return true; }) / scale_of(path));
            continue;
        }
        const std::string gradient = "grad" + path.substr(4);
        const std::vector<double>& g = want.at(gradient).data;
        const auto near = [&](std::size_t i) { return std::abs(g[i]) <= kNear * optimizer.eps; };
        note("step", error([&](std::size_t i) { return !near(i); }) / scale_of(path));
        note("step_near_eps", error(near) / scale_of(gradient) * optimizer.eps / optimizer.lr);
    }
    return worst;
}

struct Case {
    Recipe recipe;
    std::vector<StoredTensor> weights;
    Batch batch;
    Arrays expected;
    std::vector<std::string> sites;
};

Case read_case(const std::string& path, const std::string& name) {
    Case c;
    {
        const auto opened = hdf5::open_for_reading(path);
        const auto group = hdf5::open_group(opened.file, name);
        c.recipe = parse_recipe(hdf5::read_text_attribute(group, "recipe"), name);
        const auto expected = hdf5::open_group(group, "expected");
        read_tree(expected, "", c.expected);
        const auto probes = hdf5::open_group(expected, "probes");
        if (hdf5::exists(probes, "null_space"))
            c.sites = hdf5::read_texts_attribute(hdf5::open_group(probes, "null_space"), "sites");
    }
    complete_for_evaluation(c.recipe);
    c.weights = read_named_arrays(path, "/" + name + "/params");
    for (const auto& [path_of, array] : Arrays(c.expected))
        if (path_of.rfind("step/", 0) == 0) c.expected["update" + path_of.substr(4)] = array;
    c.batch = read_batch(path, c.recipe.stack, "/" + name);
    return c;
}

template <class T>
Arrays compute(const Case& c, ThreadPool& pool, std::vector<std::string>* sites = nullptr) {
    const auto model = model_with_weights<T>(c.recipe.stack, c.weights, "weights");
    const Evaluation evaluation = evaluate(c.recipe, model, c.batch, {.step = true, .jacobian = true}, pool);
    Arrays arrays;
    for (const StoredTensor& tensor : evaluation.arrays) arrays[tensor.name.substr(1)] = array_of(tensor);
    ProbeInput<T> input(model, c.batch, pool, 0);
    for (const ProbeInfo& probe : probe_registry()) {
        const ProbeResult result = run_probe(probe, input);
        for (const NamedArray& array : result.arrays)
            arrays[std::string("probes/") + probe.id + "/" + array.name] = {array.shape, array.data};
        if (sites && result.labels.contains("sites")) *sites = result.labels.at("sites");
    }
    // The engine's step from PyTorch's gradients.
    std::vector<T> gradients(model.table().size());
    for (const TensorInfo& t : model.table().tensors())
        std::copy_n(c.expected.at("grad/" + t.name).data.begin(), t.count, gradients.begin() + t.offset);
    const std::vector<T> updated = stepped_parameters(c.recipe, model, gradients, pool);
    for (const TensorInfo& t : model.table().tensors())
        arrays["update/" + t.name] = {arrays.at("step/" + t.name).shape,
                                      {updated.begin() + t.offset, updated.begin() + t.offset + t.count}};
    return arrays;
}

double tolerance(const std::string& output, bool single) {
    if (single) return output.rfind("probes/", 0) == 0 ? 1e-3 : 1e-4;
    return output.rfind("probes/theta", 0) == 0 || output == "step_near_eps" ? 1e-12 : 1e-10;
}

}  // namespace

class EvaluationTest : public QObject {
    Q_OBJECT

    std::map<std::string, double> worst64_, worst32_;
    int cases_ = 0;

    static void add_rows() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("name");
        std::vector<std::string> files{"none", "pre", "post", "peri", "images"};
        for (const char* scheme : words_of<Scheme>()) files.push_back(std::string("options/") + scheme);
        for (const std::string& file : files) {
            const std::string path = reference_file(file);
            const auto opened = hdf5::open_for_reading(path);
            for (const std::string& name : hdf5::children(opened.file))
                QTest::addRow("%s %s", file.c_str(), name.c_str())
                    << QString::fromStdString(path) << QString::fromStdString(name);
        }
    }

    template <class T>
    void check(std::map<std::string, double>& worst) {
        QFETCH(QString, file);
        QFETCH(QString, name);
        ThreadPool pool(1);
        Case c = read_case(file.toStdString(), name.toStdString());
        constexpr bool single = std::is_same_v<T, float>;
        if (single)  // steps and what counts thresholds cannot be compared in float32
            std::erase_if(c.expected, [](const auto& entry) {
                return entry.first.rfind("step/", 0) == 0 || entry.first == "probes/theta/below_099";
            });
        std::vector<std::string> sites;
        const Arrays got = compute<T>(c, pool, &sites);
        QCOMPARE(sites, c.sites);
        for (const auto& [output, error] : compare(c.expected, got, c.recipe.train.optimizer, single)) {
            worst[output] = std::max(worst[output], error);
            QVERIFY2(error <= tolerance(output, single),
                     qPrintable(QString("%1: relative error %2").arg(output.c_str()).arg(error)));
        }
    }

    /// A stack that the engine rejects fails its own row alone.
    static void rejectionsFail(const std::function<void()>& run) {
        try {
            run();
        } catch (const InputError& error) {
            QFAIL(error.what());
        }
    }

    static void report(const char* what, const std::map<std::string, double>& worst) {
        for (const auto& [output, error] : worst)
            qInfo("%s %-36s worst relative error %.2e", what, output.c_str(), error);
    }

  private Q_SLOTS:
    void float64_data() { add_rows(); }
    void float64() {
        rejectionsFail([&] { check<double>(worst64_); });
        ++cases_;
    }
    void float32_data() { add_rows(); }
    void float32() {
        rejectionsFail([&] { check<float>(worst32_); });
    }

    void allCasesWereThere() {
        QCOMPARE(cases_, 32 + 4 + 83);
        report("float64", worst64_);
        report("float32", worst32_);
    }

    /// The comparison itself sees a wrong number.
    void aWrongWeightIsSeen() {
        ThreadPool pool(1);
        Case c = read_case(reference_file("none"), "layernorm_dt1_tau1_d33_n2");
        for (StoredTensor& tensor : c.weights)
            if (tensor.name == "blocks.0.ffn.w1") {
                double value;
                std::memcpy(&value, tensor.bytes.data(), sizeof value);
                value *= 1 + 1e-6;
                std::memcpy(tensor.bytes.data(), &value, sizeof value);
            }
        const auto worst = compare(c.expected, compute<double>(c, pool), c.recipe.train.optimizer);
        QVERIFY(worst.at("hidden") > 1e-10);
        QVERIFY(worst.at("grad") > 1e-10);
    }

    void forwardJacobianUnderGpas() {
        ThreadPool pool(1);
        Recipe recipe =
            parse_recipe(R"({"format": "normscope-recipe", "version": 1, "stack": {"depth": 2, "d_model": 4,
            "heads": 2, "context": 3, "vocab": 5, "gpas": {"enabled": true}}})",
                         "test");
        complete_for_evaluation(recipe);
        Transformer<double> model(recipe.stack, 7);
        for (const auto& offsets : model.table().attention) model.parameters()[offsets.gate] = 0.8;
        const Batch batch{1, 3, {0, 3, 1}, {3, 1, 4}};
        const Evaluation evaluation = evaluate(recipe, model, batch, {.jacobian = true}, pool);
        Arrays arrays;
        for (const StoredTensor& tensor : evaluation.arrays) arrays[tensor.name] = array_of(tensor);
        // With the gate at the output each forward Jacobian is the back-propagated one times 1 − silu(0.8).
        const double factor = 1 - 0.8 / (1 + std::exp(-0.8));
        for (int i = 0; i < 4; ++i) {
            const std::string name = "sublayer/" + std::to_string(i);
            const Array &backprop = arrays.at("/jacobian/" + name),
                        &forward = arrays.at("/jacobian_forward/" + name);
            QCOMPARE(backprop.shape, (std::vector<std::size_t>{12, 12}));
            for (std::size_t k = 0; k < backprop.data.size(); ++k)
                QVERIFY(std::abs(forward.data[k] - factor * backprop.data[k]) < 1e-14);
        }
        QVERIFY(arrays.contains("/singular_forward/end_to_end"));
    }

    void weightsMustFit_data() {
        QTest::addColumn<QString>("what");
        QTest::addColumn<QString>("message");
        QTest::newRow("missing") << "missing"
                                 << "weights: tok_emb: is missing, allowed: [13, 33] of float32 or float64";
        QTest::newRow("extra") << "extra"
                               << "weights: blocks.9.attn.wq: is not a tensor of this recipe";
        QTest::newRow("shape") << "shape"
                               << "weights: tok_emb: has the shape [33, 13], allowed: [13, 33]";
        QTest::newRow("type") << "type"
                              << "weights: tok_emb: holds whole numbers";
        QTest::newRow("nan") << "nan"
                             << "weights: tok_emb: entry 0 is not finite";
    }
    void weightsMustFit() {
        QFETCH(QString, what);
        QFETCH(QString, message);
        Case c = read_case(reference_file("none"), "layernorm_dt1_tau1_d33_n2");
        auto tensor = std::find_if(c.weights.begin(), c.weights.end(),
                                   [](const auto& t) { return t.name == "tok_emb"; });
        QVERIFY(tensor != c.weights.end());
        if (what == "missing") c.weights.erase(tensor);
        if (what == "extra")
            c.weights.push_back({"blocks.9.attn.wq", {1}, StoredType::Float64, std::vector<std::byte>(8)});
        if (what == "shape") tensor->shape = {33, 13};
        if (what == "type") tensor->type = StoredType::Int64;
        if (what == "nan") std::fill_n(tensor->bytes.begin(), 8, std::byte{0xff});
        try {
            model_with_weights<double>(c.recipe.stack, c.weights, "weights");
            QFAIL("no error");
        } catch (const InputError& error) {
            QVERIFY2(QString(error.what()).startsWith(message), error.what());
        }
    }

    void hugeJacobiansAreRejected() {
        ThreadPool pool(1);
        Recipe recipe =
            parse_recipe(R"({"format": "normscope-recipe", "version": 1, "stack": {"depth": 40}})", "test");
        complete_for_evaluation(recipe);
        Transformer<double> model(recipe.stack, 1);
        Batch batch{1, 64, std::vector<std::int32_t>(64), std::vector<std::int32_t>(64)};
        QVERIFY_EXCEPTION_THROWN(evaluate(recipe, model, batch, {.jacobian = true}, pool), InputError);
    }

    void onlyStackAndOptimizerAreValidated() {
        Recipe recipe = parse_recipe(R"({"format": "normscope-recipe", "version": 1, "precision": "tf32",
            "data": {"source": "text", "path": "/no/such/file"}})",
                                     "test");
        complete_for_evaluation(recipe);
        QCOMPARE(recipe.stack.vocab, 256);
        recipe.stack.heads = 3;
        QVERIFY_EXCEPTION_THROWN(complete_for_evaluation(recipe), InputError);
    }
};

NORMSCOPE_TEST(EvaluationTest)
#include "evaluation_test.moc"
