// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/host/thread_pool.h"
#include "core/base/assert.h"
#include "core/model/transformer.h"
#include "core/probe/interface/operations.h"
#include "core/recipe/place_selection.h"
#include "core/train/update_norms.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace normscope {

/// Thrown inside a probe on cancellation; caught by the caller of the measurement.
struct Cancelled {};

/// The memory of the shared passes of a sample. Kept by repeated callers: allocating tens of MiB took as long
/// as the passes.
template <class T>
struct ProbeMemory {
    Tape<T> tape;
    BackwardRecord<T> record;
    Gradients<T> gradients;
    Buffer<T> unscale;  ///< one: 1/loss scale
};

/// The passes that an input has run.
struct PassCount {
    int forward = 0, backward = 0, updates = 0;
};

/// The input of a probe: a model at one step and the fixed probe batch. The forward and the backward pass run
/// on first use, on a separate tape, so a measurement does not affect training. One thread drives it; the
/// model must not change during its lifetime.
template <class T>
class ProbeInput {
  public:
    /// `loss_scale` (a power of two): the loss scale of the run in FP16, so that small gradients are as in
    /// training; results are unscaled. `kept`: the memory of the passes, else allocated here.
    ProbeInput(const Transformer<T>& at_model, const Batch& at_batch, ThreadPool& with_pool,
               std::int64_t at_step, const std::atomic<bool>* cancel = nullptr, double loss_scale = 1,
               ProbeMemory<T>* kept = nullptr)
        : model(at_model),
          batch(at_batch),
          pool(with_pool),
          step(at_step),
          cancel_(cancel),
          loss_scale_(loss_scale),
          memory_(kept ? *kept : own_) {}
    ProbeInput(const ProbeInput&) = delete;
    ProbeInput& operator=(const ProbeInput&) = delete;

    const Transformer<T>& model;
    const Batch& batch;
    ThreadPool& pool;
    const std::int64_t step;
    /// The optimizer's update at this step; empty without one. It does not change the model.
    std::function<UpdateNorms()> update;
    /// The part of the held-out sequences in the batch, as the label `sampled` of the results.
    std::string sampled =
        std::to_string(batch.sequences) + (batch.sequences == 1 ? " sequence" : " sequences");

    /// The texts of the batch's tokens, one string a sequence, as the label kTokensLabel
    /// (token_labels.h); empty without texts.
    std::function<std::vector<std::string>()> texts;

    /// The places that a probe measures, by its id; all of them where there is none.
    std::map<std::string, PlaceSelection> only;
    /// The formats that a probe with formats measures, by its id; all of them where there is none.
    std::map<std::string, std::vector<std::string>> formats;

    const Tape<T>& tape() {
        require(!allowed_ || needs_forward(*allowed_), "a forward pass");
        if (!forward_done_) {
            ++passes_.forward;
            model.forward(batch, memory_.tape, pool);
            forward_done_ = true;
            check_cancelled();
        }
        return memory_.tape;
    }
    const BackwardRecord<T>& backward() {
        run_backward();
        return memory_.record;
    }
    /// Gradients of the mean loss over the probe batch.
    HostView<T> parameter_gradients() {
        run_backward();
        return memory_.gradients.total();
    }

    /// Called before the first JVP of a probe.
    void use_tangents() const { require(!allowed_ || *allowed_ == ProbeNeeds::Tangents, "tangent passes"); }

    /// The result of `update`, which may use any pass. Must not be called where it is empty.
    UpdateNorms next_update() {
        require(!allowed_ || *allowed_ == ProbeNeeds::Update, "the update");
        NORMSCOPE_ASSERT(update, "only a trained run has a next update");
        ++passes_.updates;
        const auto narrowed = std::exchange(allowed_, std::nullopt);
        UpdateNorms norms = update();
        allowed_ = narrowed;
        return norms;
    }

    /// Restricts access to what a probe of these needs may use: all else throws std::logic_error. Nullopt:
    /// unrestricted. run_probes calls it around each probe with its declared needs.
    void allow(std::optional<ProbeNeeds> needs) { allowed_ = needs; }
    const PassCount& passes() const { return passes_; }

    /// The selection of the probe that runs: run_probes sets it. Null: everything.
    void select(const PlaceSelection* selection) { selection_ = selection; }
    /// Whether a probe measures this one of its formats.
    bool measures(const std::string& probe, const std::string& format) const {
        const auto chosen = formats.find(probe);
        return chosen == formats.end() ||
               std::find(chosen->second.begin(), chosen->second.end(), format) != chosen->second.end();
    }
    bool selects_all() const { return !selection_ || selection_->everything(); }
    bool selects(const std::string& place) const { return !selection_ || selection_->contains(place); }
    bool selects_sublayer(int sublayer) const { return selects_all() || selects(sublayer_place(sublayer)); }
    bool selects_layer(int layer) const { return selects_all() || selects(layer_place(layer)); }
    bool selects_state(int state) const { return selects_all() || selects(state_place(state)); }
    /// How many pieces of work probes have begun (check_cancelled).
    std::int64_t pieces() const { return pieces_.load(std::memory_order_relaxed); }

    /// Before each piece of long work; throws Cancelled. Not called for what is not selected.
    void check_cancelled() const {
        pieces_.fetch_add(1, std::memory_order_relaxed);
        if (cancel_ && cancel_->load(std::memory_order_relaxed)) throw Cancelled{};
    }

  private:
    static void require(bool allowed, const char* what) {
        if (!allowed)
            throw std::logic_error(std::string("a probe asks for ") + what +
                                   ", which its row does not declare");
    }

    void run_backward() {
        require(!allowed_ || needs_backward(*allowed_), "a backward pass");
        if (backward_done_) return;
        ++passes_.backward;
        const Tape<T>& forward = tape();
        auto& record = memory_.record;
        auto& gradients = memory_.gradients;
        model.clear(gradients, batch.sequences);
        model.backward(batch, forward, static_cast<T>(loss_scale_), gradients, pool, &record);
        model.reduce(gradients, pool);
        if (loss_scale_ != 1) {
            const T inverse = static_cast<T>(1 / loss_scale_);
            memory_.unscale.upload(model.device(), &inverse, 1);
            unscale(gradients.total());
            for (auto* states : {&record.hidden, &record.norm_output})
                for (auto& state : *states) unscale(state);
        }
        backward_done_ = true;
        check_cancelled();
    }

    void unscale(Buffer<T>& values) const {
        model.device().template pass_ops<T>().elementwise.scale(values.size(), memory_.unscale.data(),
                                                                values.data(), values.data());
    }

    const std::atomic<bool>* cancel_;
    double loss_scale_;
    ProbeMemory<T> own_;
    ProbeMemory<T>& memory_;
    bool forward_done_ = false, backward_done_ = false;
    std::optional<ProbeNeeds> allowed_;
    const PlaceSelection* selection_ = nullptr;
    mutable std::atomic<std::int64_t> pieces_{0};
    PassCount passes_;
};

}  // namespace normscope
