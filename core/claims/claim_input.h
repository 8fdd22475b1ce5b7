// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/host/thread_pool.h"
#include "core/claims/quantities.h"
#include "core/model/transformer.h"
#include "core/recipe/recipe.h"
#include "core/session/run_data.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace normscope {

/// A row's reason not to measure, "needs …", in one line.
class NotMeasured : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// NotMeasured where the sample is of selected places alone and an entry of its array is NaN.
void require_all_places(const ProbeResult& sample, const NamedArray& array);

/// What claims are measured on: a stack with its weights at one step, a batch, and a recorded run where there
/// is one. Passes, probes, dense maps and variants of the stack are computed on first use and kept. One
/// thread drives it.
class ClaimInput {
  public:
    using Matrix = Quantities::Matrix;
    /// Sequences and tokens a sequence that are measured, at most.
    static constexpr int kSequences = 2, kTokens = 64;
    /// Rows and columns of the dense maps: first tokens, as many as fit, one at least.
    static constexpr int kDense = 256, kWidest = 1024;
    /// Weights of a stack that is built again, at another scheme or depth.
    static constexpr std::size_t kMaxWeights = 8'000'000;

    /// `batch`: at least one sequence with targets. `run`: null without a recording. All references must
    /// outlive the input.
    ClaimInput(Recipe recipe, Transformer<double> model, Batch batch, ThreadPool& pool, std::int64_t step = 0,
               const RunData* run = nullptr, const Quantities* quantities = nullptr,
               const std::atomic<bool>* cancel = nullptr);
    ClaimInput(const ClaimInput&) = delete;
    ClaimInput& operator=(const ClaimInput&) = delete;

    const Quantities& quantities() const { return *quantities_; }
    const Recipe& recipe() const { return recipe_; }
    const StackSpec& spec() const { return recipe_.stack; }
    Transformer<double>& model() { return model_; }
    const Batch& batch() const { return batch_; }
    ThreadPool& pool() const { return pool_; }
    const RunData* run() const { return run_; }
    /// "step 0", or "step 200 of the run".
    std::string where() const;

    /// Of the batch.
    const Tape<double>& tape();
    /// A probe of the registry, measured on the batch.
    const ProbeResult& probe(const std::string& id);
    const std::vector<double>& values(const std::string& probe, const std::string& array);
    /// Replaces what probe() returns.
    void give(ProbeResult result);

    /// Dense Jacobians of every sub-layer over the first tokens of sequence 0, back-propagated sense.
    struct Maps {
        int tokens = 0;
        Tape<double> tape;
        std::vector<Matrix> sublayers;  ///< 2D
    };
    const Maps& maps();
    /// Singular values of maps().sublayers[k], and ‖J − I‖₂ of it.
    const std::vector<double>& map_values(std::size_t sublayer);
    double branch_norm(std::size_t sublayer);

    /// The same recipe with another stack, at its initial weights of the same seed and on the same batch.
    ClaimInput& variant(const std::string& name, const std::function<void(StackSpec&)>& edit);
    /// The stack with this scheme: serial, without overrides of single layers; itself where it is so.
    ClaimInput& with_scheme(Scheme scheme);
    /// The same with LayerNorm; for statements that are about the mean's direction too.
    ClaimInput& with_layer_norm(Scheme scheme);
    /// "" for the stack itself, else "the same stack with scheme post: ".
    const std::string& variant_name() const { return name_; }

    void check_cancelled() const;

  private:
    Recipe recipe_;
    Transformer<double> model_;
    Batch batch_;
    ThreadPool& pool_;
    std::int64_t step_;
    const RunData* run_;
    const Quantities* quantities_;
    const std::atomic<bool>* cancel_;
    std::string name_;

    std::optional<Tape<double>> tape_;
    std::map<std::string, ProbeResult> probes_;
    std::optional<Maps> maps_;
    std::map<std::size_t, std::vector<double>> map_values_;
    std::map<std::size_t, double> branch_norms_;
    std::map<std::string, std::unique_ptr<ClaimInput>> variants_;
};

/// As long as it lives, every norm of the input's model has this ε, whatever the run's was.
class UniformEps {
  public:
    UniformEps(ClaimInput& input, double eps)
        : model_(input.model()), numerics_(model_.numerics), raised_(model_.raised_eps()) {
        model_.numerics.eps = eps;
        model_.raise_eps({});
    }
    ~UniformEps() {
        model_.numerics = numerics_;
        model_.raise_eps(std::move(raised_));
    }
    UniformEps(const UniformEps&) = delete;
    UniformEps& operator=(const UniformEps&) = delete;

  private:
    Transformer<double>& model_;
    const Numerics numerics_;
    std::vector<double> raised_;
};

/// The first `tokens` tokens of sequence 0, without targets.
Batch first_tokens(const Batch& batch, int tokens);
/// Δt, τ and ε of a stack at step 0 of a recipe.
Numerics initial_numerics(const Recipe& recipe);

}  // namespace normscope
