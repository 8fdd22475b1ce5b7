// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/bench/counts.h"
#include "app/cli/command.h"
#include "core/backend/cpu/kernels/row_kernels.h"
#include "core/backend/cpu/linear_algebra/block_lanczos.h"
#include "core/backend/devices/devices.h"
#include "core/backend/shared/counter_rng.h"
#include "core/backend/shared/out_of_memory.h"
#include "core/base/error.h"
#include "core/base/statistics.h"
#include "core/model/initial_weights.h"
#include "core/probe/spectra/jacobian_map.h"
#include "core/run/experiment.h"
#include "core/run/memory_need.h"
#include "core/theory/softmax_sensitivity.h"
#include "core/train/data/corpus.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>

namespace normscope::app {

namespace {

struct BenchOptions {
    std::string backend = "auto", only, card = "h100", recipe;
    std::vector<std::string> settings;
    int threads = 0;
    bool json = false, steps_only = false, large = false, count = false;
};

/// Median of what `once` returns, after warm-up, over at least 7 calls and about a second.
double median_of(const std::function<double()>& once) {
    for (int i = 0; i < 3; ++i) once();
    std::vector<double> values;
    const auto start = std::chrono::steady_clock::now();
    while (values.size() < 7 ||
           (std::chrono::steady_clock::now() - start < std::chrono::seconds(1) && values.size() < 1000))
        values.push_back(once());
    return upper_median(std::move(values));
}

class Report {
  public:
    Report(bool json, const Device& device, int threads, std::string only)
        : json_(json), device_(device.capabilities()), threads_(threads), only_(std::move(only)) {
        if (json) return;
        std::cout << cpu_name() << ", " << threads << " threads; medians\n";
        if (device_.backend != "cpu")
            std::cout << "steps, singular values and probes on " << device_.backend << ": " << device_.name
                      << "\n";
    }
    /// Measures and prints a line, if selected, or why it is skipped; `milliseconds` returns the time of one
    /// iteration over `amount` items (tokens, rows).
    void add(const std::string& what, const std::function<double()>& milliseconds, double amount = 0,
             const char* unit = "tokens") {
        if (what.find(only_) == std::string::npos) return;
        double ms = 0;
        try {
            ms = milliseconds();
        } catch (const InputError& error) {
            return skip(what, error.what());
        } catch (const OutOfMemory& error) {
            return skip(what, error.what());
        }
        if (json_) {
            nlohmann::ordered_json line{
                {"what", what}, {"ms", ms}, {"threads", threads_}, {"backend", device_.backend}};
            if (amount > 0) line[std::string(unit) + "_per_s"] = amount / ms * 1e3;
            std::cout << line.dump() << std::endl;
            return;
        }
        char text[160];
        std::snprintf(text, sizeof text, "%-40s %9.3f ms", what.c_str(), ms);
        std::cout << text;
        if (amount > 0) std::cout << "  " << static_cast<long>(amount / ms * 1e3) << " " << unit << "/s";
        std::cout << std::endl;
    }

  private:
    /// The device has not the memory or the format.
    void skip(const std::string& what, const std::string& why) const {
        if (json_)
            std::cout << nlohmann::ordered_json{{"what", what}, {"skipped", why}}.dump() << std::endl;
        else
            std::cout << what << ": skipped: " << why << std::endl;
    }

    bool json_;
    DeviceCapabilities device_;
    int threads_;
    std::string only_;
};

double step_ms(const Recipe& recipe, Device& device, ThreadPool& pool) {
    const auto trainer =
        make_trainer(recipe.stack, recipe.train, make_corpus(recipe.train.data, recipe.stack), device);
    const auto ms = [&](std::int64_t steps) {
        return std::visit(
            [&](const auto& t) {
                double seconds = 0;
                for (const StepNumbers& now : t->steps(pool, steps)) seconds += now.seconds;
                return seconds / static_cast<double>(steps) * 1e3;
            },
            trainer);
    };
    if (device.capabilities().host_readable) return median_of([&] { return ms(1); });
    ms(2);  // the first steps allocate
    const std::int64_t steps = steps_of_a_call(ms(1) / 1e3);
    return median_of([&] { return ms(steps); });
}

/// Wall time in which each of `count` stacks, in a lane of its own, makes a step: all of them at once, one
/// thread each. replicas: with launches in common.
double lanes_ms(const Recipe& recipe, Device& device, int count, bool replicas) {
    struct Lane {
        std::unique_ptr<Device> device;
        AnyTrainer trainer;
        ThreadPool pool{1};
    };
    std::vector<std::unique_ptr<Lane>> lanes;
    const std::shared_ptr<const Corpus> corpus = make_corpus(recipe.train.data, recipe.stack);
    std::vector<std::unique_ptr<Device>> devices;
    if (replicas)
        devices = device.replicas(count, replica_bytes(recipe, 1, device));
    else
        for (int i = 0; i < count; ++i) devices.push_back(device.lane());
    if (devices.empty() || !devices.front()) throw InputError("lanes", "this device has none", "a card");
    for (auto& device_of_lane : devices) {
        lanes.push_back(std::make_unique<Lane>());
        lanes.back()->device = std::move(device_of_lane);
        lanes.back()->trainer = make_trainer(recipe.stack, recipe.train, corpus, *lanes.back()->device);
    }
    ThreadPool threads(count);
    const auto ms = [&](std::int64_t steps) {
        const auto start = std::chrono::steady_clock::now();
        threads.run(count, [&](int i) {
            Lane& lane = *lanes[static_cast<std::size_t>(i)];
            std::visit([&](const auto& t) { t->steps(lane.pool, steps); }, lane.trainer);
        });
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count() /
               static_cast<double>(steps);
    };
    ms(2);  // the first steps allocate
    const std::int64_t steps = steps_of_a_call(ms(1) / 1e3);
    return median_of([&] { return ms(steps); });
}

/// Time to draw the initial weights of a layer of width 768, per million entries.
double initial_weights_ms() {
    StackSpec stack = load_recipe("pre-ln", {"stack.depth=1", "stack.d_model=768", "stack.heads=12"}).stack;
    const ParameterTable table(stack);
    std::vector<float> parameters(table.size());
    return median_of([&] {
        const auto start = std::chrono::steady_clock::now();
        initialise(stack, table, 42, parameters.data());
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count() *
               1e6 / static_cast<double>(table.size());
    });
}

/// The 16 largest singular values of the end-to-end Jacobian of a whole sequence, n·d = 1024, 6 layers,
/// initial weights.
double spectrum_ms(Device& device, ThreadPool& pool) {
    const Recipe recipe =
        load_recipe("pre-ln", {"stack.depth=6", "stack.d_model=64", "stack.context=16", "batch=1"});
    const auto trainer =
        make_trainer(recipe.stack, recipe.train, make_corpus(recipe.train.data, recipe.stack), device);
    return std::visit(
        [&](const auto& t) {
            using Scalar = typename std::decay_t<decltype(*t)>::Scalar;
            Tape<Scalar> tape;
            t->model().forward(t->probe_batch(1, recipe.stack.context), tape, pool);
            const LinearMap map =
                jacobian_map(t->model(), tape, 0, 0, 2 * recipe.stack.depth, Jacobian::Backprop, pool);
            return median_of([&] {
                const auto start = std::chrono::steady_clock::now();
                const Spectrum spectrum = block_lanczos(map, {}, pool);
                if (!spectrum.converged) throw SystemError("bench: the singular values did not converge");
                return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
                    .count();
            });
        },
        trainer);
}

/// θ of kThetaRows rows softmax(z), z from a standard normal distribution, each to its certificate: for a row
/// of float32 1e-6, of float64 1e-12.
constexpr int kThetaRows = 4096;

template <class T>
double theta_ms(int length, ThreadPool& pool) {
    const auto options =
        std::is_same_v<T, float> ? SensitivityOptions::single_precision() : SensitivityOptions{};
    const std::size_t n = static_cast<std::size_t>(length);
    std::vector<T> p(kThetaRows * n);
    fill_normal_row(NormalKey(42, "bench.theta"), 0, 0, p.size(), 1.0, p.data());
    row_kernels<T>().softmax(kThetaRows, length, 0, false, T(1), p.data());
    constexpr int kPiece = 64;
    return median_of([&] {
        const auto start = std::chrono::steady_clock::now();
        pool.run(kThetaRows / kPiece, [&](int piece) {
            SoftmaxSensitivity solver(options);
            for (int r = piece * kPiece; r < (piece + 1) * kPiece; ++r) {
                const Sensitivity s =
                    solver.solve(std::span<const T>(p.data() + static_cast<std::size_t>(r) * n, n));
                if (s.upper - s.lower > options.tolerance)
                    throw SystemError("bench: a certificate of θ is too wide");
            }
        });
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    });
}

int run_bench(const BenchOptions& options) {
    if (options.count) {
        print_counts({options.card, options.only, options.recipe, options.settings, options.json});
        return kDone;
    }
    if (!options.recipe.empty() || !options.settings.empty())
        throw InputError("RECIPE", "is of --count alone", "bench --count RECIPE");
    Device& device = device_named(options.backend);
    ThreadPool pool(options.threads);
    Report report(options.json, device, pool.threads(), options.only);
    const std::vector<std::string> long_run{"steps=1000000", "validate.every=0"};
    const auto bench_step = [&](const std::string& what, std::vector<std::string> settings) {
        settings.insert(settings.end(), long_run.begin(), long_run.end());
        const Recipe recipe = load_recipe("pre-ln", settings);
        report.add(
            what,
            [&] {
                require_device(recipe, pool.threads(), device);
                return step_ms(recipe, device, pool);
            },
            static_cast<double>(recipe.train.batch) * recipe.stack.context);
    };
    // The first four are in tests/bench/peer.py too.
    const auto shape = [](int depth, int width, int heads, int context, int batch) {
        const auto set = [](const char* key, int value) {
            return std::string(key) + "=" + std::to_string(value);
        };
        return std::vector<std::string>{set("stack.depth", depth), set("stack.d_model", width),
                                        set("stack.heads", heads), set("stack.context", context),
                                        set("batch", batch),       "stack.vocab=65"};
    };
    const auto sized = [](std::vector<std::string> settings, int vocab) {
        settings.back() = "stack.vocab=" + std::to_string(vocab);
        return settings;
    };
    bench_step("step L4 d128 T64 B12 V65 pre fp32", shape(4, 128, 4, 64, 12));
    bench_step("step L6 d64 T64 B16 V65 pre fp32", shape(6, 64, 4, 64, 16));
    bench_step("step L12 d128 T128 B16 V65 pre fp32", shape(12, 128, 4, 128, 16));
    bench_step("step L6 d384 T256 B8 V65 pre fp32", shape(6, 384, 6, 256, 8));
    bench_step("step L12 d64 T64 B8 V27 pre fp32 (default)", {});
    if (options.large) {
        // In tests/gpu/peer.py too.
        const std::pair<const char*, std::vector<std::string>> shapes[] = {
            {"L4 d128 T128 B32 V256", sized(shape(4, 128, 4, 128, 32), 256)},
            {"L6 d256 T256 B32 V256", sized(shape(6, 256, 8, 256, 32), 256)},
            {"124M L12 d768 T1024 B8 V50257", sized(shape(12, 768, 12, 1024, 8), 50257)},
            {"774M L36 d1280 T1024 B2 V50257", sized(shape(36, 1280, 20, 1024, 2), 50257)}};
        for (const auto& [name, settings] : shapes)
            for (const std::string precision : {"fp32", "tf32", "bf16"}) {
                std::vector<std::string> in_precision = settings;
                in_precision.push_back("precision=" + precision);
                if (precision == "bf16") in_precision.push_back("precision_policy=autocast");
                bench_step(std::string("step ") + name + " pre " + precision, in_precision);
            }
        auto many = shape(6, 64, 4, 64, 16);
        many.insert(many.end(), {"precision=bf16", "precision_policy=autocast"});
        many.insert(many.end(), long_run.begin(), long_run.end());
        for (const int count : {8, 32})
            for (const bool replicas : {false, true})
                report.add(
                    "step " + std::to_string(count) + " x L6 d64 T64 B16 V65 pre bf16, in " +
                        (replicas ? "replicas" : "lanes"),
                    [&] { return lanes_ms(load_recipe("pre-ln", many), device, count, replicas); }, count,
                    "stack_steps");
    }
    if (options.steps_only) return kDone;
    report.add("initial weights, per million entries", initial_weights_ms);
    report.add("top-16 singular values, n·d 1024, 6 layers", [&] { return spectrum_ms(device, pool); });
    for (const int length : {128, 1024}) {
        const std::string rows = ", rows of " + std::to_string(length);
        report.add(
            "theta float32" + rows, [&] { return theta_ms<float>(length, pool); }, kThetaRows, "rows");
        report.add(
            "theta float64" + rows, [&] { return theta_ms<double>(length, pool); }, kThetaRows, "rows");
    }
    Experiment experiment(load_recipe("pre-ln"), "a", "bench", nullptr, device);
    for (const ProbeInfo& probe : probe_registry())
        report.add(std::string("probe ") + probe.id + " (default stack)",
                   [&] { return median_of([&] { return experiment.measure(probe.id, pool).cost_ms; }); });
    return kDone;
}

}  // namespace

void add_bench(CLI::App& program, Task& task) {
    auto options = std::make_shared<BenchOptions>();
    auto* command =
        program.add_subcommand("bench", "time of a training step and of each probe on fixed shapes");
    command->add_flag("--json", options->json, "one JSON object a line");
    command->add_flag("--steps-only", options->steps_only, "training steps alone, no probes");
    command->add_flag("--large", options->large,
                      "also steps of up to 774 million parameters in fp32, tf32 and bf16, for a GPU");
    command->add_option("--only", options->only, "only the lines that contain this text");
    command->add_flag("--count", options->count,
                      "count the kernels, bytes and operations of a training step on a card, without one");
    command->add_option("--card", options->card, "the card of the times that --count states: " + card_ids())
        ->capture_default_str();
    command->add_option("RECIPE", options->recipe,
                        "of --count: a recipe's path or a preset's name instead of the fixed shapes");
    command->add_option("--set", options->settings, "KEY=VALUE of RECIPE")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    add_backend_option(*command, options->backend);
    add_threads_option(*command, options->threads);
    command->callback([options, &task] { task = [options] { return run_bench(*options); }; });
}

}  // namespace normscope::app
