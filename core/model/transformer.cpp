// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/transformer.h"

#include "core/backend/step_ops.h"
#include "core/base/error.h"
#include "core/model/arena_pieces.h"
#include "core/model/attention.h"
#include "core/model/initial_weights.h"
#include "core/model/rope_table.h"
#include "core/model/scratch_slots.h"
#include "core/model/sublayer_factors.h"

#include <algorithm>
#include <type_traits>

namespace normscope {

namespace {

std::vector<SublayerRule> all_rules(const StackSpec& spec) {
    std::vector<SublayerRule> rules;
    for (int l = 0; l < spec.depth; ++l)
        for (auto kind : {Sublayer::Attention, Sublayer::FeedForward})
            rules.push_back(sublayer_rule(spec, l, kind));
    return rules;
}

/// Some layers of a stack as a stack of their own, which has the same norms; a layer's rule depends on its
/// index in the stack, so they are listed one by one.
StackSpec excerpt_of(const StackSpec& whole, const std::vector<SublayerRule>& rules, int first_layer,
                     int layers, bool embedding) {
    StackSpec spec = whole;
    spec.final_norm = has_final_norm(whole) ? FinalNorm::On : FinalNorm::Off;
    spec.scheme = Scheme::Custom;
    spec.layers.clear();
    for (int l = 0; l < layers; ++l) {
        const auto override_of = [&](int sub) {
            const SublayerRule& rule = rules[static_cast<std::size_t>(2 * (first_layer + l) + sub)];
            return RuleOverride{rule.in.has_value(), rule.out.has_value(), rule.post.has_value(), rule.a,
                                rule.b};
        };
        spec.layers.push_back({l, override_of(0), override_of(1)});
    }
    spec.depth = layers;
    if (!embedding) spec.vocab = 1;
    return spec;
}

/// The second path through a parallel layer (sublayer.h) for a signal of `count` values: a buffer where both
/// sub-layers of k's layer lie in begin … end − 1, else none.
template <class T>
T* side_branch(const Pass<T>& pass, int k, int begin, int end, std::size_t count) {
    const int attention = k - k % 2;
    if (pass.spec.layout != Layout::Parallel || attention < begin || attention + 1 >= end) return nullptr;
    return pass.device.template scratch_of<T>(kSublayerSide, count);
}

/// A buffer of one table, uploaded once.
template <class T>
Buffer<T> uploaded(Device& device, const std::vector<T>& values) {
    Buffer<T> buffer;
    buffer.upload(device, values);
    return buffer;
}

/// The same device. InputError where it has no arithmetic of T, before anything is allocated on it.
template <class T>
Device* with_arithmetic(Device* device) {
    device->pass_ops<T>();
    return device;
}

}  // namespace

template <class T>
Transformer<T>::Transformer(const StackSpec& spec, std::uint64_t seed, Device& device)
    : numerics{spec.residual_step, spec.temperature, spec.norm.eps},
      device_(with_arithmetic<T>(&device)),
      spec_(spec),
      table_(spec),
      rules_(all_rules(spec)),
      sites_(norm_sites(spec, table_)),
      parameters_(device, table_.size()),
      angles_(uploaded(device, rope_table<T>(spec))) {
    HostEdit<T> weights(device, parameters_.data(), parameters_.size());
    initialise(spec_, table_, seed, weights.data());
    weights.commit();
    build_tables();
}

template <class T>
template <class U>
Transformer<T>::Transformer(const Transformer<U>& other, int first_layer, int layers, bool embedding)
    : numerics(other.numerics),
      device_(with_arithmetic<T>(&other.device())),
      spec_(excerpt_of(other.spec(), other.rules(), first_layer, layers, embedding)),
      table_(spec_),
      rules_(other.rules().begin() + 2 * first_layer, other.rules().begin() + 2 * (first_layer + layers)),
      sites_(norm_sites(spec_, table_)),
      parameters_(*device_, table_.size()),
      angles_(uploaded(*device_, rope_table<T>(spec_))) {
    raise_eps_as(other, first_layer);
    const HostView<U> theirs_on_host = other.host_parameters();
    HostEdit<T> weights(*device_, parameters_.data(), parameters_.size());
    // Both tables list a layer's tensors in the same order.
    auto mine = table_.tensors().begin();
    for (const TensorInfo& theirs : other.table().tensors()) {
        if (theirs.layer >= 0 && (theirs.layer < first_layer || theirs.layer >= first_layer + layers))
            continue;
        T* const to = weights.data() + mine->offset;
        if (theirs.count == mine->count)
            std::transform(theirs_on_host.begin() + theirs.offset,
                           theirs_on_host.begin() + theirs.offset + theirs.count, to,
                           [](U weight) { return static_cast<T>(weight); });
        else  // without the embedding, per-token tables are empty
            std::fill_n(to, mine->count, T(0));
        ++mine;
    }
    weights.commit();
    build_tables();
}

template <class T>
void Transformer<T>::build_tables() {
    std::vector<CoefficientRule> rules;
    for (std::size_t k = 0; k < rules_.size(); ++k)
        rules.push_back(coefficient_rule(spec_, table_, rules_[k], static_cast<int>(k)));
    coefficient_rules_.upload(*device_, rules);
    std::vector<ArenaPiece> sums, matrices, head;
    for (const TensorInfo& tensor : table_.tensors()) {
        add_pieces(tensor.offset, tensor.count,
                   tensor.layer < 0 || tensor.shape.size() < 2 ? sums : matrices);
        if (tensor.offset == table_.head) add_pieces(tensor.offset, tensor.count, head);
    }
    head.insert(head.begin(), matrices.begin(), matrices.end());
    matrices_and_head_.upload(*device_, head);
    pieces_.upload(*device_, arena_pieces(table_.size()));
    sums_.upload(*device_, sums);
    matrices_.upload(*device_, matrices);
}

template <class T>
Pass<T> Transformer<T>::pass(const Buffer<T>& transposed, const Coefficients<T>& coefficients) const {
    const PassOps<T> of = ops();
    return {spec_,
            table_,
            *device_,
            of.layers,
            of.elementwise,
            parameters_.data(),
            transposed.data(),
            angles_.data(),
            coefficients.whole.data(),
            coefficients.sublayers.data(),
            coefficients.eps.data()};
}

template <class T>
void Transformer<T>::set_rounding(Rounding rounding, PrecisionPolicy policy) {
    if (!std::is_same_v<T, float> && rounding != Rounding::None)
        throw InputError("precision", "float64 cannot emulate a short format", "float32");
    if (rounding == Rounding::Tf32) policy = PrecisionPolicy::Autocast;
    device_->pass_ops<T>(rounding, policy);  // InputError where the device has no such arithmetic
    rounding_ = rounding;
    policy_ = policy;
}

template <class T>
void Transformer<T>::set_parameters(std::span<const T> weights) {
    const PassOps<T> of = ops();
    of.elementwise.copy(weights.size(), weights.data(), parameters_.data());
    for (const TensorInfo& t : table_.tensors())
        if (!t.is_gate()) of.layers.round_weights(t.count, parameters_.data() + t.offset);
}

template <class T>
Shard Transformer<T>::shard(int index, int all, int sequences) {
    const int begin = sequences * index / all, end = sequences * (index + 1) / all;
    return {begin, end - begin};
}

template <class T>
void Transformer<T>::upload_numerics(Coefficients<T>& to) const {
    to.numerics.upload(*device_, &numerics, 1);
    to.eps.upload(*device_, eps_of_all());
}

template <class T>
void Transformer<T>::prepare(Coefficients<T>& to, Buffer<T>& transposed, ThreadPool& pool) const {
    to.whole.resize(*device_, 1);
    to.sublayers.resize(*device_, rules_.size());
    const PassOps<T> of = ops();
    of.elementwise.pass_coefficients(static_cast<int>(rules_.size()), coefficient_rules_.data(),
                                     {spec_.d_head(), spec_.embedding_scale}, to.numerics.data(),
                                     parameters_.data(), to.whole.data(), to.sublayers.data());
    if (!of.layers.prefers_transposed()) return;
    const auto& layers = table_.linear_layers();
    transposed.resize(*device_, table_.size());
    device_->run(pool, static_cast<int>(layers.size()), [&](int i) {
        const LinearLayer& linear = layers[static_cast<std::size_t>(i)];
        of.layers.transpose_weight(linear.out, linear.in, parameters_.data() + linear.offset,
                                   transposed.data() + linear.offset);
    });
}

template <class T>
void Transformer<T>::embed(const Pass<T>& p, const DeviceBatch<T>& batch, Shard shard, const Tape<T>& tape,
                           const NormStep<T>* first, double* squares) const {
    const int d = spec_.d_model, n = batch.length, R = shard.sequences * n;
    const std::size_t row = static_cast<std::size_t>(shard.first_sequence) * n;
    const std::size_t count = static_cast<std::size_t>(R) * d;
    T* x = tape.embedded + row * d;
    if (first && !spec_.of_images() && spec_.embedding_scale == 1 && !table_.embedding_norm.present()) {
        const auto embedding_norm = [&](auto& ops, auto* to) {
            ops.embedding_norm(shard.sequences, n, batch.tokens + row, p.at(table_.tok_emb),
                               p.at(table_.pos_emb), x, first->rows, first->eps, first->scale, to, squares);
        };
        return first->to.shorts ? embedding_norm(*p.compact, first->to.shorts)
                                : embedding_norm(p.layers, first->to.floats);
    }
    p.layers.embedding_forward(shard.sequences, n, d, batch.tokens + row, p.at(table_.tok_emb),
                               p.at(table_.pos_emb), x);
    if (spec_.of_images()) {
        const int width = spec_.image.patch_width();
        T* projected = device_->scratch_of<T>(kPatchEmbedding, count);
        p.layers.linear(R, d, width, batch.patches + row * width, p.linear(table_.patch_emb), projected);
        p.elementwise.axpby(count, nullptr, x, nullptr, projected, x);
    }
    if (spec_.embedding_scale != 1) p.elementwise.scale(count, &p.whole->embedding_scale, x, x);
    T* const state = tape.hidden.front() + row * d;
    if (table_.embedding_norm.present())
        p.layers.norm_forward(p.norm(table_.embedding_norm, R, x, tape.embedding_statistics.from(row)),
                              p.eps_at(NormSite::Place::Embedding), nullptr, state);
    if (first) apply_norm(p, *first);
    if (squares) p.elementwise.add_squares(1, count, 0, state, squares);
}

template <class T>
void Transformer<T>::head_forward(const Pass<T>& p, Shard shard, const Tape<T>& tape) const {
    const int d = spec_.d_model, V = spec_.vocab, R = shard.sequences * tape.length;
    const std::size_t row = static_cast<std::size_t>(shard.first_sequence) * tape.length;
    const T* x = tape.final_hidden + row * d;
    if (tape.compact_head.logits)
        return p.compact->head_forward(R, V, d, table_.final_norm.present() ? nullptr : x,
                                       p.short_linear(table_.head).weight, tape.compact_head);
    T* logits = tape.logits + row * V;
    p.layers.linear(R, V, d, x, p.linear(table_.head, table_.head_bias), logits);
    if (spec_.logit_soft_cap > 0)
        p.elementwise.soft_cap(static_cast<std::size_t>(R) * V, static_cast<T>(spec_.logit_soft_cap), logits);
}

template <class T>
void Transformer<T>::check(const Batch& batch) const {
    if (batch.length > spec_.context)
        throw InputError("tokens", std::to_string(batch.length) + " a sequence are more than the context",
                         "1 … " + std::to_string(spec_.context));
    const char* const what = spec_.of_images() ? " is not a class" : " is not a token";
    const auto check_ids = [what](const char* name, const std::vector<std::int32_t>& ids, int lowest,
                                  int count) {
        for (std::int32_t id : ids)
            if (id < lowest || id >= count)
                throw InputError(name, std::to_string(id) + what, "0 … " + std::to_string(count - 1));
    };
    check_ids("tokens", batch.tokens, 0, table_.embedded_tokens);
    check_ids("targets", batch.targets, kIgnored, spec_.vocab);
    if (!batch.targets.empty() && batch.counted() == 0)
        throw InputError("targets", "none has a loss", "at least one from 0");
    const std::size_t patches =
        spec_.of_images() ? batch.tokens.size() * static_cast<std::size_t>(spec_.image.patch_width()) : 0;
    if (batch.patches.size() != patches)
        throw InputError("patches", std::to_string(batch.patches.size()) + " values",
                         std::to_string(patches) + " in this stack");
}

template <class T>
void Transformer<T>::shard_forward(const Pass<T>& p, const DeviceBatch<T>& batch, Shard rows,
                                   const Tape<T>& tape, double* squares) const {
    const int all = static_cast<int>(rules_.size());
    // What computes a hidden state also computes its first norm.
    const auto norm_of = [&](int k) {
        return k < all ? first_norm(p, k, rules_[static_cast<std::size_t>(k)], rows, tape)
                       : final_norm(p, rows, tape);
    };
    auto norm = norm_of(0);
    embed(p, batch, rows, tape, norm ? &*norm : nullptr, squares);
    for (int k = 0; k < all; ++k) {
        const bool begun = norm.has_value();
        norm = norm_of(k + 1);
        sublayer_forward(p, k, rules_[static_cast<std::size_t>(k)], rows, tape, begun,
                         norm ? &*norm : nullptr, squares ? squares + k + 1 : nullptr);
    }
    head_forward(p, rows, tape);
}

template <class T>
void Transformer<T>::forward(const Batch& batch, Tape<T>& tape, ThreadPool& pool,
                             Probabilities probabilities) const {
    check(batch);
    TapeContents contents;
    contents.probabilities =
        probabilities == Probabilities::Kept || needs_probabilities(ops().layers, spec_, batch.length);
    tape.reserve(*device_, spec_, rules_, batch.sequences, batch.length, contents);
    const DeviceBatch<T> on_device = tape.batch.upload(*device_, batch, ops().layers);
    tape.counted = batch.counted();
    upload_numerics(tape.coefficients);
    prepare(tape.coefficients, tape.transposed, pool);
    const int shards = device_->shards(batch.sequences);
    device_->run(pool, shards, [&](int i) {
        const Shard rows = shard(i, shards, batch.sequences);
        const Pass<T> p = pass(tape.transposed, tape.coefficients);
        shard_forward(p, on_device, rows, tape);
        if (!on_device.targets) return;
        const std::size_t row = static_cast<std::size_t>(rows.first_sequence) * batch.length;
        p.elementwise.cross_entropy(rows.sequences * batch.length, spec_.vocab,
                                    tape.logits + row * spec_.vocab, on_device.targets + row, nullptr, 0,
                                    tape.losses + row, nullptr);
    });
}

template <class T>
void Transformer<T>::forward_layers(const T* states, int length, Tape<T>& tape, ThreadPool& pool) const {
    tape.reserve(*device_, spec_, rules_, 1, length);
    upload_numerics(tape.coefficients);
    prepare(tape.coefficients, tape.transposed, pool);
    device_->upload(tape.hidden.front(), states,
                    static_cast<std::size_t>(length) * static_cast<std::size_t>(spec_.d_model) * sizeof(T));
    const Pass<T> p = pass(tape.transposed, tape.coefficients);
    for (int k = 0; k < static_cast<int>(rules_.size()); ++k)
        sublayer_forward(p, k, rules_[static_cast<std::size_t>(k)], Shard{0, 1}, tape);
}

template <class T>
bool Transformer<T>::head_backward(const Pass<T>& p, const DeviceBatch<T>& batch, Shard shard,
                                   const Tape<T>& tape, const T* scale, T* gradient, T* gradients,
                                   const BackwardLinks<T>& links, BackwardRecord<T>* record) const {
    const int d = spec_.d_model, V = spec_.vocab, R = shard.sequences * batch.length;
    const std::size_t row = static_cast<std::size_t>(shard.first_sequence) * batch.length;
    const bool normed = table_.final_norm.present();
    T* dfinal = normed ? device_->scratch_of<T>(kFinalGradient, static_cast<std::size_t>(R) * d) : gradient;
    const std::size_t head = table_.head;
    const T z = static_cast<T>(spec_.z_loss);
    // In 16 bits where the norm alone reads it.
    std::uint16_t* const short_final =
        tape.compact_head.logits && normed && !record ? reinterpret_cast<std::uint16_t*>(dfinal) : nullptr;
    if (tape.compact_head.logits) {
        p.compact->head_vjp(R, V, d, p.short_linear(head).weight, tape.compact_head, batch.targets + row,
                            scale, z, tape.losses + row, {dfinal, short_final},
                            has_short_head_gradient({tape.sublayers.front().compact.input != nullptr, true})
                                ? CompactRows<T>{nullptr, p.short_gradients + head}
                                : CompactRows<T>{gradients + head, nullptr});
    } else {
        const std::size_t count = static_cast<std::size_t>(R) * V;
        T* dlogits = device_->scratch_of<T>(kLogitGradient, count);
        const T* logits = tape.logits + row * V;
        p.elementwise.cross_entropy(R, V, logits, batch.targets + row, scale, z, tape.losses + row, dlogits);
        if (spec_.logit_soft_cap > 0)
            p.elementwise.soft_cap_vjp(count, static_cast<T>(spec_.logit_soft_cap), logits, dlogits, dlogits);
        p.layers.linear_weight_gradient(R, V, d, dlogits, tape.final_hidden + row * d, false,
                                        gradients + head);
        if (table_.head_bias != kAbsent) p.layers.column_sums(R, V, dlogits, gradients + table_.head_bias);
        p.layers.linear_input_gradient(R, V, d, dlogits, p.at(head), dfinal);
    }
    if (!normed) {
        p.elementwise.add_squares(1, static_cast<std::size_t>(R) * d, 0, gradient, links.squares);
        return false;
    }
    if (record)
        p.elementwise.copy(static_cast<std::size_t>(R) * d, dfinal,
                           record->norm_output.back().data() + row * d);
    const NormRows<T> norm =
        p.norm(table_.final_norm, R, tape.hidden.back() + row * d, tape.final_statistics.from(row));
    T* const dgamma = gradients + table_.final_norm.weight;
    T* const dbeta = gradient_at(gradients, table_.final_norm.bias);
    if (short_final || links.before.rows.shorts)
        p.compact->norm_vjp(norm, {dfinal, short_final}, nullptr, false, gradient, dgamma, dbeta,
                            links.squares, links.before);
    else
        p.layers.norm_vjp(norm, dfinal, nullptr, false, gradient, dgamma, dbeta, links.squares, links.before);
    return bool(links.before.rows);
}

template <class T>
void Transformer<T>::embed_backward(const Pass<T>& p, const DeviceBatch<T>& batch, Shard shard,
                                    const Tape<T>& tape, T* gradient, T* gradients,
                                    BackwardRecord<T>* record) const {
    const int d = spec_.d_model, R = shard.sequences * batch.length;
    const std::size_t row = static_cast<std::size_t>(shard.first_sequence) * batch.length;
    if (table_.embedding_norm.present()) {
        if (record)
            p.elementwise.copy(static_cast<std::size_t>(R) * d, gradient,
                               record->norm_output.front().data() + row * d);
        p.layers.norm_vjp(
            p.norm(table_.embedding_norm, R, tape.embedded + row * d, tape.embedding_statistics.from(row)),
            gradient, nullptr, false, gradient, gradients + table_.embedding_norm.weight,
            gradient_at(gradients, table_.embedding_norm.bias), nullptr, {});
    }
    if (spec_.embedding_scale != 1)
        p.elementwise.scale(static_cast<std::size_t>(R) * d, &p.whole->embedding_scale, gradient, gradient);
    p.layers.embedding_vjp(shard.sequences, batch.length, d, batch.tokens + row, gradient,
                           table_.embedded_tokens, gradients + table_.tok_emb, spec_.context,
                           gradient_at(gradients, table_.pos_emb));
    if (spec_.of_images()) {
        const int width = spec_.image.patch_width();
        p.layers.linear_weight_gradient(R, d, width, gradient, batch.patches + row * width, false,
                                        gradients + table_.patch_emb);
    }
}

template <class T>
void Transformer<T>::clear(Gradients<T>& gradients, int sequences, std::optional<ShardPart> part) const {
    const int shards = device_->shards(sequences);
    gradients.part = part.value_or(ShardPart{0, shards, shards});
    gradients.shards.resize(static_cast<std::size_t>(gradients.part.count));
    for (auto& shard : gradients.shards) shard.resize(*device_, table_.size());
    gradients.fresh = true;
    gradients.hidden_squares.resize(*device_,
                                    static_cast<std::size_t>(gradients.part.all) * 2 * (rules_.size() + 1));
}

template <class T>
void Transformer<T>::shard_backward(const Pass<T>& p, const DeviceBatch<T>& batch, Shard rows,
                                    const Tape<T>& tape, int index, Gradients<T>& gradients,
                                    const T* token_factor, const NormOutputGradients<T>* noted,
                                    BackwardRecord<T>* record) const {
    const auto at = static_cast<std::size_t>(index - gradients.part.first), states = rules_.size() + 1;
    const std::size_t first = static_cast<std::size_t>(rows.first_sequence) * batch.length * spec_.d_model;
    const std::size_t count = static_cast<std::size_t>(rows.sequences) * batch.length * spec_.d_model;
    T* into = gradients.shards[at].data();
    T* gradient = device_->scratch_of<T>(kHiddenGradient, count);
    // In float64, since the square of a gradient that vanished is below float32's smallest value.
    double* const gradient_squares = squares_of(gradients, index) + states;
    const auto note = [&](std::size_t k) {
        if (record) p.elementwise.copy(count, gradient, record->hidden[k].data() + first);
    };
    // What computes ∂/∂h_k, k from 2D down, also computes the gradient at the map before.
    const auto links = [&](std::size_t k, bool begun) {
        BackwardLinks<T> of{gradient_squares + k, begun, {}};
        if (k > 0) of.before = branch_gradient(p, static_cast<int>(k) - 1, rules_[k - 1], rows, tape, into);
        return of;
    };
    bool begun = head_backward(p, batch, rows, tape, token_factor, gradient, into,
                               links(rules_.size(), false), record);
    note(rules_.size());
    const int all = static_cast<int>(rules_.size());
    for (std::size_t k = rules_.size(); k-- > 0;) {
        begun = sublayer_backward(p, static_cast<int>(k), rules_[k], rows, tape, Jacobian::Backprop, gradient,
                                  into, noted ? noted[k] : NormOutputGradients<T>{},
                                  side_branch<T>(p, static_cast<int>(k), 0, all, count), links(k, begun));
        note(k);
    }
    embed_backward(p, batch, rows, tape, gradient, into, record);
}

template <class T>
void Transformer<T>::backward(const Batch& batch, const Tape<T>& tape, T factor, Gradients<T>& gradients,
                              ThreadPool& pool, BackwardRecord<T>* record) const {
    const std::size_t whole = static_cast<std::size_t>(tape.rows()) * spec_.d_model;
    // The record entry of each norm of each sub-layer.
    std::vector<NormOutputGradients<T>> noted(rules_.size());
    if (record) {
        // Every entry is written below: a record that is used again keeps its memory.
        record->hidden.resize(rules_.size() + 1);
        record->norm_output.resize(sites_.size());
        for (auto* arrays : {&record->hidden, &record->norm_output})
            for (auto& array : *arrays) array.resize(*device_, whole);
        for (std::size_t i = 0; i < sites_.size(); ++i) {
            if (sites_[i].sublayer < 0) continue;
            NormOutputGradients<T>& to = noted[static_cast<std::size_t>(sites_[i].sublayer)];
            (sites_[i].place == NormSite::Place::In    ? to.in
             : sites_[i].place == NormSite::Place::Out ? to.out
                                                       : to.post) = record->norm_output[i].data();
        }
    }
    const int states = static_cast<int>(rules_.size()) + 1;
    const T scale = factor / static_cast<T>(batch.counted());
    gradients.loss_gradient.upload(*device_, &scale, 1);
    const DeviceBatch<T> on_device = gradients.batch.upload(*device_, batch, ops().layers);
    device_->run(pool, gradients.part.all, [&](int i) {
        Pass<T> p = pass(tape.transposed, tape.coefficients);
        p.fresh_gradients = gradients.fresh;
        if (gradients.fresh)
            p.elementwise.zero(sums_.data(), static_cast<int>(sums_.size()),
                               gradients.shards[static_cast<std::size_t>(i)].data(), 2 * states,
                               squares_of(gradients, i));
        const Shard rows = shard(i, gradients.part.all, batch.sequences);
        const std::size_t row = static_cast<std::size_t>(spec_.d_model) * batch.length,
                          first = static_cast<std::size_t>(rows.first_sequence) * row,
                          count = static_cast<std::size_t>(rows.sequences) * row;
        p.elementwise.delay_sums();
        p.elementwise.add_squares(states, count, tape.hidden_stride(), tape.hidden[0] + first,
                                  squares_of(gradients, i));
        shard_backward(p, on_device, rows, tape, i, gradients, gradients.loss_gradient.data(), noted.data(),
                       record);
        p.elementwise.finish_sums();
    });
    gradients.fresh = false;
}

template <class T>
void Transformer<T>::sum_shards(Gradients<T>& gradients, ThreadPool& pool) const {
    const int pieces = static_cast<int>(pieces_.size());
    gradients.piece_squares.resize(*device_, pieces_.size());
    gradients.norm.resize(*device_, 1);
    std::vector<const T*> shards;
    for (const auto& shard : gradients.shards) shards.push_back(shard.data());
    StepOps<T>& step = device_->step_ops<T>();
    device_->run_ranges(pool, pieces, [&](int first, int end) {
        step.sum_shards(pieces_.data(), first, end, static_cast<int>(shards.size()), shards.data(),
                        gradients.total().data(), gradients.piece_squares.data());
    });
}

template <class T>
double Transformer<T>::reduce(Gradients<T>& gradients, ThreadPool& pool) const {
    sum_shards(gradients, pool);
    device_->step_ops<T>().norm_of_squares(static_cast<int>(pieces_.size()), gradients.piece_squares.data(),
                                           nullptr, gradients.norm.data());
    return HostView<double>(gradients.norm)[0];
}

template <class T>
void Transformer<T>::tangent(const Tape<T>& tape, int sequence, int begin, int end, int first_token,
                             int directions, Jacobian kind, T* tangent) const {
    const Pass<T> p = pass(tape.transposed, tape.coefficients);
    const std::size_t count =
        static_cast<std::size_t>(directions) * (tape.length - first_token) * spec_.d_model;
    for (int k = begin; k < end; ++k)
        sublayer_tangent(p, k, rules_[static_cast<std::size_t>(k)], sequence, first_token, directions, tape,
                         kind, tangent, side_branch<T>(p, k, begin, end, count));
}

template <class T>
void Transformer<T>::pull_back(const Tape<T>& tape, Shard rows, int begin, int end, Jacobian kind,
                               T* gradient) const {
    const Pass<T> p = pass(tape.transposed, tape.coefficients);
    const std::size_t count =
        static_cast<std::size_t>(rows.directions * rows.sequences) * tape.length * spec_.d_model;
    for (int k = end; k-- > begin;)
        sublayer_backward<T>(p, k, rules_[static_cast<std::size_t>(k)], rows, tape, kind, gradient, nullptr,
                             {}, side_branch<T>(p, k, begin, end, count));
}

template <class T>
void Transformer<T>::pull_back(const Tape<T>& tape, int begin, int end, Jacobian kind, T* gradient) const {
    pull_back(tape, Shard{0, tape.sequences}, begin, end, kind, gradient);
}

template <class T>
void Transformer<T>::pull_back(const Tape<T>& tape, int sequence, int begin, int end, int directions,
                               Jacobian kind, T* gradient) const {
    pull_back(tape, Shard{sequence, 1, directions}, begin, end, kind, gradient);
}

template class Transformer<float>;
template class Transformer<double>;
template Transformer<float>::Transformer(const Transformer<float>&, int, int, bool);
template Transformer<double>::Transformer(const Transformer<float>&, int, int, bool);
template Transformer<double>::Transformer(const Transformer<double>&, int, int, bool);

}  // namespace normscope
