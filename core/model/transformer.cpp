// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/transformer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/backend/cpu/autocast_kernels.h"
#include "core/backend/cpu/large_pages.h"
#include "core/backend/cpu/rounded_kernels.h"
#include "core/model/initial_weights.h"
#include "core/model/rope_table.h"
#include "core/stack/error.h"

namespace normscope {

namespace {

std::vector<SublayerRule> all_rules(const StackSpec& spec) {
    std::vector<SublayerRule> rules;
    for (int l = 0; l < spec.depth; ++l)
        for (auto kind : {Sublayer::Attention, Sublayer::FeedForward}) rules.push_back(sublayer_rule(spec, l, kind));
    return rules;
}

/// Some layers of a stack as a stack of their own, which has the same norms; a layer's rule depends on its place in the
/// stack, so they are named one by one.
StackSpec excerpt_of(const StackSpec& whole, const std::vector<SublayerRule>& rules, int first_layer, int layers,
                     bool embedding) {
    StackSpec spec = whole;
    spec.final_norm = has_final_norm(whole) ? FinalNorm::On : FinalNorm::Off;
    spec.scheme = Scheme::Custom;
    spec.layers.clear();
    for (int l = 0; l < layers; ++l) {
        const auto override_of = [&](int sub) {
            const SublayerRule& rule = rules[static_cast<std::size_t>(2 * (first_layer + l) + sub)];
            return RuleOverride{rule.in, rule.out, rule.post, rule.a, rule.b};
        };
        spec.layers.push_back({l, override_of(0), override_of(1)});
    }
    spec.depth = layers;
    if (!embedding) spec.vocab = 1;
    return spec;
}

// Buffers are kept by the thread that used them: a step allocates nothing once every thread has worked once.
template <class T>
SublayerScratch<T>& scratch() {
    thread_local SublayerScratch<T> buffers;
    return buffers;
}

/// The second way through a parallel layer (sublayer.h) for a signal of `count` numbers: a buffer where both sub-layers of
/// k's layer lie in begin … end − 1, else none.
template <class T>
T* side_way(const StackSpec& spec, int k, int begin, int end, std::size_t count) {
    const int attention = k - k % 2;
    if (spec.layout != Layout::Parallel || attention < begin || attention + 1 >= end) return nullptr;
    scratch<T>().side.resize(count);
    return scratch<T>().side.data();
}

}  // namespace

template <class T>
Transformer<T>::Transformer(const StackSpec& spec, std::uint64_t seed)
    : numerics{spec.residual_step, spec.temperature, spec.norm.eps},
      spec_(spec),
      table_(spec),
      rules_(all_rules(spec)),
      sites_(norm_sites(spec, table_)),
      angles_(rope_table<T>(spec)),
      kernels_(row_kernels<T>()) {
    resize_on_large_pages(parameters_, table_.size());
    initialise(spec_, table_, seed, parameters_.data());
}

template <class T>
template <class U>
Transformer<T>::Transformer(const Transformer<U>& other, int first_layer, int layers, bool embedding)
    : numerics(other.numerics),
      spec_(excerpt_of(other.spec(), other.rules(), first_layer, layers, embedding)),
      table_(spec_),
      rules_(other.rules().begin() + 2 * first_layer, other.rules().begin() + 2 * (first_layer + layers)),
      sites_(norm_sites(spec_, table_)),
      angles_(rope_table<T>(spec_)),
      kernels_(row_kernels<T>()) {
    resize_on_large_pages(parameters_, table_.size());
    // Both tables list a layer's tensors in the same order.
    auto mine = table_.tensors().begin();
    for (const TensorInfo& theirs : other.table().tensors()) {
        if (theirs.layer >= 0 && (theirs.layer < first_layer || theirs.layer >= first_layer + layers)) continue;
        if (theirs.count == mine->count)
            std::transform(other.parameters().begin() + static_cast<std::ptrdiff_t>(theirs.offset),
                           other.parameters().begin() + static_cast<std::ptrdiff_t>(theirs.offset + theirs.count),
                           parameters_.begin() + static_cast<std::ptrdiff_t>(mine->offset),
                           [](U weight) { return static_cast<T>(weight); });
        ++mine;  // without the embedding, what has an entry for each token holds nothing
    }
}

template <class T>
int Transformer<T>::shard_count(int sequences) {
    return std::min(sequences, 4);
}

template <class T>
Pass<T> Transformer<T>::pass(const std::vector<T>& turned_weights) const {
    const T* turned = turned_weights.empty() ? nullptr : turned_weights.data();
    const T* angles = angles_.empty() ? nullptr : angles_.data();
    return {spec_, numerics, table_, parameters_.data(), kernels_, turned, angles, rounding_, policy_};
}

template <class T>
void Transformer<T>::set_rounding(Rounding rounding, PrecisionPolicy policy) {
    if constexpr (std::is_same_v<T, float>)
        kernels_ = policy == PrecisionPolicy::Pure ? rounded_kernels(rounding) : autocast_kernels(rounding);
    else if (rounding != Rounding::None)
        throw InputError("precision", "float64 does not stand in for BF16 or FP16", "float32");
    rounding_ = rounding;
    policy_ = policy;
}

template <class T>
void Transformer<T>::set_parameters(std::span<const T> weights) {
    std::copy(weights.begin(), weights.end(), parameters_.begin());
    if constexpr (std::is_same_v<T, float>)
        for (const TensorInfo& t : table_.tensors())
            if (!t.is_gate()) kernels_.round(storage_rounding(), t.count, parameters_.data() + t.offset);
}

template <class T>
Shard Transformer<T>::shard(int index, int sequences) const {
    const int count = shard_count(sequences);
    const int begin = sequences * index / count, end = sequences * (index + 1) / count;
    return {begin, end - begin};
}

template <class T>
void Transformer<T>::turn_weights(std::vector<T>& turned, ThreadPool& pool) const {
    if constexpr (std::is_same_v<T, float>) {
        const auto& layers = table_.linear_layers();
        resize_on_large_pages(turned, table_.size());
        pool.run(static_cast<int>(layers.size()), [&](int i) {
            const LinearLayer& linear = layers[static_cast<std::size_t>(i)];
            transpose(linear.out, linear.in, parameters_.data() + linear.offset, linear.in,
                      turned.data() + linear.offset);
            // Under autocast a weight is rounded where a product reads it.
            if (policy_ == PrecisionPolicy::Autocast)
                kernels_.round(rounding_, static_cast<std::size_t>(linear.out) * static_cast<std::size_t>(linear.in),
                               turned.data() + linear.offset);
        });
    }
}

template <class T>
void Transformer<T>::embed(const Pass<T>& p, const Batch& batch, Shard shard, const Tape<T>& tape) const {
    const int d = spec_.d_model, n = batch.length;
    for (int b = shard.first_sequence; b < shard.first_sequence + shard.sequences; ++b)
        for (int t = 0; t < n; ++t) {
            const std::size_t row = static_cast<std::size_t>(b) * n + t;
            const T* token = parameters_.data() + table_.tok_emb + static_cast<std::size_t>(batch.tokens[row]) * d;
            T* x = tape.embedded + row * d;
            if (table_.pos_emb == kAbsent)
                std::copy(token, token + d, x);
            else
                kernels_.combine(static_cast<std::size_t>(d), 1, token, 1,
                                 parameters_.data() + table_.pos_emb + static_cast<std::size_t>(t) * d, x);
        }
    if (!table_.embedding_norm.present()) return;
    const std::size_t row = static_cast<std::size_t>(shard.first_sequence) * n;
    kernels_.norm_forward(spec_.norm.kind, shard.sequences * n, d, tape.embedded + row * d, p.eps(),
                          p.at(table_.embedding_norm.weight), p.at(table_.embedding_norm.bias), 1,
                          tape.embedding_statistics.from(row), tape.hidden.front() + row * d);
}

template <class T>
void Transformer<T>::head_forward(const Pass<T>& p, Shard shard, const Tape<T>& tape) const {
    const int d = spec_.d_model, V = spec_.vocab, R = shard.sequences * tape.length;
    const std::size_t row = static_cast<std::size_t>(shard.first_sequence) * tape.length;
    const T* x = tape.hidden.back() + row * d;
    if (table_.final_norm.present()) {
        T* y = tape.final_hidden + row * d;
        kernels_.norm_forward(spec_.norm.kind, R, d, x, p.eps(), p.at(table_.final_norm.weight),
                              p.at(table_.final_norm.bias), 1, tape.final_statistics.from(row), y);
        x = y;
    }
    T* logits = tape.logits + row * V;
    p.linear(R, V, d, x, table_.head, kAbsent, logits);
    if (spec_.logit_soft_cap > 0)
        p.kernels.soft_cap(static_cast<std::size_t>(R) * V, static_cast<T>(spec_.logit_soft_cap), logits);
}

template <class T>
void Transformer<T>::check(const Batch& batch) const {
    if (batch.length > spec_.context)
        throw InputError("tokens", std::to_string(batch.length) + " a sequence are more than the context",
                         "1 … " + std::to_string(spec_.context));
    for (const auto* ids : {&batch.tokens, &batch.targets})
        for (std::int32_t id : *ids)
            if (id < 0 || id >= spec_.vocab)
                throw InputError(ids == &batch.tokens ? "tokens" : "targets", std::to_string(id) + " is not a token",
                                 "0 … " + std::to_string(spec_.vocab - 1));
}

template <class T>
void Transformer<T>::shard_forward(const Pass<T>& p, const Batch& batch, Shard rows, const Tape<T>& tape) const {
    embed(p, batch, rows, tape);
    for (int k = 0; k < static_cast<int>(rules_.size()); ++k)
        sublayer_forward(p, k, rules_[static_cast<std::size_t>(k)], rows, tape, scratch<T>());
    head_forward(p, rows, tape);
}

template <class T>
void Transformer<T>::forward(const Batch& batch, Tape<T>& tape, ThreadPool& pool) const {
    check(batch);
    tape.reserve(spec_, rules_, batch.sequences, batch.length);
    turn_weights(tape.turned, pool);
    pool.run(shard_count(batch.sequences), [&](int i) {
        const Shard rows = shard(i, batch.sequences);
        const Pass<T> p = pass(tape.turned);
        shard_forward(p, batch, rows, tape);
        if (batch.targets.empty()) return;
        const std::size_t row = static_cast<std::size_t>(rows.first_sequence) * batch.length;
        p.kernels.cross_entropy(rows.sequences * batch.length, spec_.vocab, tape.logits + row * spec_.vocab,
                                batch.targets.data() + row, 1, 0, tape.losses + row, nullptr);
    });
}

template <class T>
void Transformer<T>::forward_layers(const T* states, int length, Tape<T>& tape, ThreadPool& pool) const {
    tape.reserve(spec_, rules_, 1, length);
    turn_weights(tape.turned, pool);
    std::copy_n(states, static_cast<std::size_t>(length) * static_cast<std::size_t>(spec_.d_model), tape.hidden.front());
    const Pass<T> p = pass(tape.turned);
    for (int k = 0; k < static_cast<int>(rules_.size()); ++k)
        sublayer_forward(p, k, rules_[static_cast<std::size_t>(k)], Shard{0, 1}, tape, scratch<T>());
}

template <class T>
void Transformer<T>::head_backward(const Pass<T>& p, const Batch& batch, Shard shard, const Tape<T>& tape, T scale,
                                   T* gradient, T* gradients, BackwardRecord<T>* record) const {
    const int d = spec_.d_model, V = spec_.vocab, R = shard.sequences * batch.length;
    const std::size_t row = static_cast<std::size_t>(shard.first_sequence) * batch.length;
    thread_local std::vector<T> dlogits, dfinal;
    dlogits.resize(static_cast<std::size_t>(R) * V);
    const T* logits = tape.logits + row * V;
    p.kernels.cross_entropy(R, V, logits, batch.targets.data() + row, scale, static_cast<T>(spec_.z_loss),
                            tape.losses + row, dlogits.data());
    if (spec_.logit_soft_cap > 0)
        p.kernels.soft_cap_derivative(dlogits.size(), static_cast<T>(spec_.logit_soft_cap), logits, dlogits.data(),
                                      dlogits.data());
    const std::size_t head = table_.head;
    p.tn(V, d, R, 1, dlogits.data(), V, tape.final_hidden + row * d, d, 1, gradients + head, d);
    if (!table_.final_norm.present()) {
        p.nn(R, d, V, 1, dlogits.data(), V, parameters_.data() + head, d, 0, gradient, d);
        return;
    }
    dfinal.resize(static_cast<std::size_t>(R) * d);
    p.nn(R, d, V, 1, dlogits.data(), V, parameters_.data() + head, d, 0, dfinal.data(), d);
    if (record) std::copy(dfinal.begin(), dfinal.end(), record->norm_output.back().begin() + static_cast<std::ptrdiff_t>(row * d));
    kernels_.norm_backward(spec_.norm.kind, R, d, tape.hidden.back() + row * d,
                           tape.final_statistics.from(row), parameters_.data() + table_.final_norm.weight,
                           dfinal.data(), 1, false, gradient, gradients + table_.final_norm.weight,
                           gradient_at(gradients, table_.final_norm.bias));
}

template <class T>
void Transformer<T>::embed_backward(const Batch& batch, Shard shard, const Tape<T>& tape, T* gradient,
                                    T* gradients, BackwardRecord<T>* record) const {
    const auto d = static_cast<std::size_t>(spec_.d_model);
    if (table_.embedding_norm.present()) {
        const int R = shard.sequences * batch.length;
        const std::size_t row = static_cast<std::size_t>(shard.first_sequence) * batch.length;
        if (record)
            std::copy(gradient, gradient + static_cast<std::size_t>(R) * d,
                      record->norm_output.front().begin() + static_cast<std::ptrdiff_t>(row * d));
        kernels_.norm_backward(
            spec_.norm.kind, R, spec_.d_model, tape.embedded + row * d, tape.embedding_statistics.from(row),
            parameters_.data() + table_.embedding_norm.weight, gradient, 1, false, gradient,
            gradients + table_.embedding_norm.weight, gradient_at(gradients, table_.embedding_norm.bias));
    }
    const RowKernels<T>& plain = row_kernels<T>();
    std::size_t local = 0;
    for (int b = shard.first_sequence; b < shard.first_sequence + shard.sequences; ++b)
        for (int t = 0; t < batch.length; ++t, local += d) {
            const std::size_t row = static_cast<std::size_t>(b) * batch.length + t;
            T* token = gradients + table_.tok_emb + static_cast<std::size_t>(batch.tokens[row]) * d;
            plain.combine(d, 1, token, 1, gradient + local, token);
            if (table_.pos_emb != kAbsent) {
                T* position = gradients + table_.pos_emb + static_cast<std::size_t>(t) * d;
                plain.combine(d, 1, position, 1, gradient + local, position);
            }
        }
    // A token's sum over its rows is one operation: accumulated in float32, then rounded.
    if constexpr (std::is_same_v<T, float>) {
        plain.round(storage_rounding(), d * static_cast<std::size_t>(spec_.vocab), gradients + table_.tok_emb);
        if (table_.pos_emb != kAbsent)
            plain.round(storage_rounding(), d * static_cast<std::size_t>(spec_.context), gradients + table_.pos_emb);
    }
}

template <class T>
void Transformer<T>::clear(Gradients<T>& gradients, int sequences) const {
    gradients.shards.resize(static_cast<std::size_t>(shard_count(sequences)));
    for (auto& shard : gradients.shards) resize_on_large_pages(shard, table_.size());
    gradients.fresh = true;
    const std::vector<double> none(rules_.size() + 1, 0.0);
    gradients.state_square.assign(gradients.shards.size(), none);
    gradients.gradient_square.assign(gradients.shards.size(), none);
}

template <class T>
void Transformer<T>::clear_sums(T* gradients) const {
    for (const TensorInfo& tensor : table_.tensors())
        if (tensor.layer < 0 || tensor.shape.size() < 2) std::fill_n(gradients + tensor.offset, tensor.count, T(0));
}

template <class T>
void Transformer<T>::shard_backward(const Pass<T>& p, const Batch& batch, Shard rows, const Tape<T>& tape, T scale, int index,
                                    Gradients<T>& gradients, const NormOutputGradients<T>* noted,
                                    BackwardRecord<T>* record) const {
    const auto at = static_cast<std::size_t>(index);
    const std::size_t first = static_cast<std::size_t>(rows.first_sequence) * batch.length * spec_.d_model;
    const std::size_t count = static_cast<std::size_t>(rows.sequences) * batch.length * spec_.d_model;
    T* into = gradients.shards[at].data();
    thread_local std::vector<T> gradient;
    gradient.resize(count);
    // In float64, since the square of a gradient that vanished is below float32's smallest number.
    const auto square = [&](const T* x) { return p.kernels.dot(count, x, x); };
    const auto note = [&](std::size_t k) {
        gradients.state_square[at][k] += square(tape.hidden[k] + first);
        gradients.gradient_square[at][k] += square(gradient.data());
        if (record) std::copy(gradient.begin(), gradient.end(), record->hidden[k].begin() + static_cast<std::ptrdiff_t>(first));
    };
    head_backward(p, batch, rows, tape, scale, gradient.data(), into, record);
    note(rules_.size());
    const int all = static_cast<int>(rules_.size());
    for (std::size_t k = rules_.size(); k-- > 0;) {
        sublayer_backward(p, static_cast<int>(k), rules_[k], rows, tape, Jacobian::Backprop, gradient.data(), into,
                          noted ? noted[k] : NormOutputGradients<T>{}, scratch<T>(),
                          side_way<T>(spec_, static_cast<int>(k), 0, all, count));
        note(k);
    }
    embed_backward(batch, rows, tape, gradient.data(), into, record);
}

template <class T>
void Transformer<T>::backward(const Batch& batch, const Tape<T>& tape, T factor, Gradients<T>& gradients,
                              ThreadPool& pool, BackwardRecord<T>* record) const {
    const std::size_t whole = static_cast<std::size_t>(tape.rows()) * spec_.d_model;
    // Which record entry belongs to which norm of which sub-layer.
    std::vector<NormOutputGradients<T>> noted(rules_.size());
    if (record) {
        // Every entry is written below: a record that is used again keeps its memory.
        record->hidden.resize(rules_.size() + 1);
        record->norm_output.resize(sites_.size());
        for (auto* arrays : {&record->hidden, &record->norm_output})
            for (auto& array : *arrays) array.resize(whole);
        for (std::size_t i = 0; i < sites_.size(); ++i) {
            if (sites_[i].sublayer < 0) continue;
            NormOutputGradients<T>& to = noted[static_cast<std::size_t>(sites_[i].sublayer)];
            (sites_[i].place == NormSite::Place::In ? to.in : sites_[i].place == NormSite::Place::Out ? to.out : to.post) =
                record->norm_output[i].data();
        }
    }
    const T scale = factor / static_cast<T>(tape.rows());
    pool.run(shard_count(batch.sequences), [&](int i) {
        Pass<T> p = pass(tape.turned);
        p.fresh_gradients = gradients.fresh;
        if (gradients.fresh) clear_sums(gradients.shards[static_cast<std::size_t>(i)].data());
        shard_backward(p, batch, shard(i, batch.sequences), tape, scale, i, gradients, noted.data(), record);
    });
    gradients.fresh = false;
}

template <class T>
double Transformer<T>::reduce(Gradients<T>& gradients, ThreadPool& pool) const {
    constexpr std::size_t kPiece = 1 << 14;
    const std::size_t pieces = (table_.size() + kPiece - 1) / kPiece;
    std::vector<double> squares(pieces);
    pool.run(static_cast<int>(pieces), [&](int i) {
        const std::size_t begin = static_cast<std::size_t>(i) * kPiece, count = std::min(kPiece, table_.size() - begin);
        thread_local std::vector<const T*> sources;
        sources.clear();
        for (const auto& shard : gradients.shards) sources.push_back(shard.data() + begin);
        squares[static_cast<std::size_t>(i)] = row_kernels<T>().add_up(count, static_cast<int>(sources.size()), sources.data(),
                                                               gradients.total().data() + begin);
    });
    return std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
}

template <class T>
void Transformer<T>::tangent(const Tape<T>& tape, int sequence, int begin, int end, int first_token, int directions,
                             Jacobian kind, T* tangent) const {
    const Pass<T> p = pass(tape.turned);
    const std::size_t count = static_cast<std::size_t>(directions) * (tape.length - first_token) * spec_.d_model;
    for (int k = begin; k < end; ++k)
        sublayer_tangent(p, k, rules_[static_cast<std::size_t>(k)], sequence, first_token, directions, tape, kind,
                         tangent, scratch<T>(), side_way<T>(spec_, k, begin, end, count));
}

template <class T>
void Transformer<T>::pull_back(const Tape<T>& tape, Shard rows, int begin, int end, Jacobian kind, T* gradient) const {
    const Pass<T> p = pass(tape.turned);
    const std::size_t count =
        static_cast<std::size_t>(rows.directions * rows.sequences) * tape.length * spec_.d_model;
    for (int k = end; k-- > begin;)
        sublayer_backward<T>(p, k, rules_[static_cast<std::size_t>(k)], rows, tape, kind, gradient, nullptr, {},
                             scratch<T>(), side_way<T>(spec_, k, begin, end, count));
}

template <class T>
void Transformer<T>::pull_back(const Tape<T>& tape, int begin, int end, Jacobian kind, T* gradient) const {
    pull_back(tape, Shard{0, tape.sequences}, begin, end, kind, gradient);
}

template <class T>
void Transformer<T>::pull_back(const Tape<T>& tape, int sequence, int begin, int end, int directions, Jacobian kind,
                               T* gradient) const {
    pull_back(tape, Shard{sequence, 1, directions}, begin, end, kind, gradient);
}

template class Transformer<float>;
template class Transformer<double>;
template Transformer<float>::Transformer(const Transformer<float>&, int, int, bool);
template Transformer<double>::Transformer(const Transformer<float>&, int, int, bool);
template Transformer<double>::Transformer(const Transformer<double>&, int, int, bool);

}  // namespace normscope
