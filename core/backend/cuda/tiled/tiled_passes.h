// SPDX-License-Identifier: GPL-3.0-or-later
// Included by tiled_float.cpp, tiled_bf16.cpp and tiled_fp16.cpp: the launches of the kernels.
#pragma once

#include "core/backend/cuda/tiled/backward_kernels.h"
#include "core/backend/cuda/tiled/forward_kernel.h"
#include "core/backend/cuda/tiled/tangent_kernel.h"
#include "core/backend/cuda/tiled/tiled_attention.h"

#include <algorithm>

namespace normscope::cuda::tiled {

/// The passes with heads padded to D.
template <class Rows, int D>
class Passes {
  public:
    using Tile = Tiling<Rows, D>;
    using Entry = typename Rows::Entry;

    using Tape = TiledAttention::Tape;
    using AnyRows = TiledAttention::Rows;

    Passes(Context& context, const AttentionShape& shape, int sequences, int directions, const float* scale,
           const Tape& tape)
        : context_(context), shape_(shape), scale_(scale), tape_(tape) {
        sizes_ = {shape.n,
                  (shape.n + kTokens - 1) / kTokens * kTokens,
                  shape.heads,
                  shape.heads / shape.kv_heads,
                  shape.head_width,
                  sequences,
                  directions * sequences,
                  shape.causal};
    }

    void forward() {
        take(copied(tape_.qkv) * entries(sizes_.sequences, shape_.heads + 2 * shape_.kv_heads), 0);
        const auto [q, k, v] = projections(tape_.qkv, sizes_.sequences, 0);
        state(1, 1, 2);
        run("tiled_forward", bounded_kernel_of<Tile, forward_kernel<Rows, D>>, blocks(sizes_.heads),
            Tile::threads, Tile::template bytes<1, 2 * Tile::stages>(), sizes_, scale_, q, k, v, softmax(),
            outputs(tape_.mixed, 0));
    }

    static unsigned sum_chunks(const AttentionShape& shape, int sequences) {
        return static_cast<unsigned>(sequences * ((shape.n + Tile::own - 1) / Tile::own));
    }
    void vjp(AnyRows dmixed, AnyRows dqkv, float* sums) {
        const int heads = shape_.heads;
        const std::size_t dots_count = area(sizes_.items, heads) * static_cast<std::size_t>(sizes_.n);
        take(copied(tape_.qkv) * entries(sizes_.sequences, heads + 2 * shape_.kv_heads) +
                 copied(dmixed) * entries(sizes_.items, heads),
             dots_count);
        const auto [q, k, v] = projections(tape_.qkv, sizes_.sequences, 0);
        const auto dout = heads_of(outputs(dmixed, 0), sizes_.items, heads);
        const auto result = [&](int column) {
            HeadRows to = rows(dqkv, column, 0);
            if (sums) to.sums = sums + column;
            return to;
        };
        const HeadRows dq = result(0), dk = result(shape_.d_q()), dv = result(shape_.d_q() + shape_.d_kv());
        const double of_sums = sums ? 4.0 * sum_chunks(shape_, sizes_.items) : 0;
        state(2, 1, 5, of_sums);
        run("tiled_query_gradient", bounded_kernel_of<Tile, query_gradient_kernel<Rows, D>>, blocks(heads),
            Tile::threads, Tile::template bytes<2, 2 * Tile::stages>(), sizes_, scale_, q, k, v, dout,
            softmax(), dots_, dq);
        state(2, 2, 4, of_sums);
        run("tiled_key_gradient", bounded_kernel_of<Tile, key_gradient_kernel<Rows, D>>,
            blocks(shape_.kv_heads * (D / Tile::columns)), Tile::threads,
            Tile::template bytes<2, 2 * Tile::stages>(3 * Tile::other * Tile::stages), sizes_, scale_, q, k,
            v, dout, softmax(), dots_, dk, dv);
    }

    /// Directions in groups whose copies fit in memory of bounded size; the results do not depend on it.
    void jvp(int first_token, const float* tqkv, float* tmixed) {  // rows of float32
        constexpr std::size_t kEntries = std::size_t{1} << 24;
        const int m = shape_.n - first_token, directions = sizes_.items,
                  pieces = shape_.heads + 2 * shape_.kv_heads;
        const int group = static_cast<int>(
            std::clamp<std::size_t>(kEntries / entries(1, pieces), 1, static_cast<std::size_t>(directions)));
        take(copied(tape_.qkv) * entries(1, pieces) + copied({}) * entries(group, pieces), 0);
        const auto [q, k, v] = projections(tape_.qkv, 1, 0);
        Entry* const tangents = free_;
        for (int done = 0; done < directions; done += group) {
            free_ = tangents;
            Sizes sizes = sizes_;
            sizes.items = std::min(group, directions - done);
            // These rows are only read.
            const auto [tq, tk, tv] = projections({const_cast<float*>(tqkv) + area(done * m, shape_.width())},
                                                  sizes.items, first_token);
            run("tiled_tangent", bounded_kernel_of<Tile, tangent_kernel<Rows, D>>,
                static_cast<std::size_t>(tiles()) * area(sizes.items, shape_.heads), Tile::threads,
                Tile::template bytes<2, 2>(), sizes, scale_, q, k, v, tq, tk, tv, softmax(),
                outputs({tmixed + area(done * m, shape_.d_q())}, first_token));
        }
    }

  private:
    struct Projections {
        Packed<Entry> q, k, v;
    };
    static std::size_t area(int a, int b) {
        return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
    }
    int tiles() const { return sizes_.padded / Tile::own; }
    std::size_t blocks(int heads) const {
        return static_cast<std::size_t>(tiles()) * area(sizes_.items, heads);
    }
    std::size_t entries(int items, int heads) const { return area(items, heads) * area(sizes_.padded, D); }
    /// Memory of this call: float32 numbers after the copies, whose count is a multiple of kTokens.
    void take(std::size_t copies, std::size_t floats) {
        free_ = static_cast<Entry*>(
            context_.workspace(Work::Packed, copies * sizeof(Entry) + floats * sizeof(float)));
        dots_ = reinterpret_cast<float*>(free_ + copies);
    }
    RowSoftmax softmax() const { return {tape_.row_softmax}; }
    /// Heads from a column of rows like qkv's, of the tokens from `first` on.
    HeadRows rows(AnyRows qkv, int column, int first) const {
        void* const data = qkv.in_16_bits ? static_cast<void*>(static_cast<std::uint16_t*>(qkv.data) + column)
                                          : static_cast<float*>(qkv.data) + column;
        const auto width = static_cast<std::size_t>(shape_.width());
        return {data,          qkv.in_16_bits, width, static_cast<std::size_t>(sizes_.n - first) * width,
                sizes_.d_head, first};
    }
    HeadRows outputs(AnyRows mixed, int first) const {
        const auto width = static_cast<std::size_t>(shape_.d_q());
        return {mixed.data,    mixed.in_16_bits,
                width,         static_cast<std::size_t>(sizes_.n - first) * width,
                sizes_.d_head, first};
    }
    /// Heads are read where they are if products read such entries and they begin at multiples of 16 bytes.
    bool in_place(bool in_16_bits) const {
        return in_16_bits == (sizeof(Entry) == sizeof(std::uint16_t)) &&
               shape_.head_width % Rows::kPiece == 0;
    }
    std::size_t copied(AnyRows of) const { return in_place(of.in_16_bits) ? 0 : 1; }
    Packed<Entry> heads_of(const HeadRows& from, int items, int heads) {
        if (in_place(from.in_16_bits))
            return {from.as<Entry>(), heads,       from.row,  static_cast<std::size_t>(from.d_head),
                    from.item,        from.d_head, from.first};
        const auto head = area(sizes_.padded, D);
        const Packed<Entry> to{
            free_, heads, static_cast<std::size_t>(D), head, static_cast<std::size_t>(heads) * head, D, 0};
        free_ += entries(items, heads);
        run("pack_heads", bounded_kernel_of<Packing, pack_kernel<Rows, D>>,
            static_cast<std::size_t>(sizes_.padded / kTokens) * area(items, heads), 128, 0, sizes_.n, items,
            from, to);
        return to;
    }
    Projections projections(AnyRows qkv, int items, int first) {
        return {heads_of(rows(qkv, 0, first), items, shape_.heads),
                heads_of(rows(qkv, shape_.d_q(), first), items, shape_.kv_heads),
                heads_of(rows(qkv, shape_.d_q() + shape_.d_kv(), first), items, shape_.kv_heads)};
    }
    /// Rows of all heads, in entries: q, k and v and `read` − 1 more are read, `written` are written;
    /// `products` of queries and keys; bytes of sums a column that is written.
    void state(int read, int written, int products, double of_sums = 0) {
        LaunchLog* const log = context_.log();
        if (!log) return;
        const double tokens = static_cast<double>(sizes_.items) * sizes_.n, size = sizeof(Entry);
        const double of_q = tokens * shape_.d_q(), of_kv = tokens * shape_.d_kv();
        const double pairs = tokens * shape_.d_q() * (shape_.causal ? (sizes_.n + 1) / 2.0 : sizes_.n);
        const double softmax_bytes = tokens * shape_.heads * 2 * sizeof(float);
        const bool forward = read == 1;
        log->state({(of_q * read + 2 * of_kv) * size + (forward ? 0 : softmax_bytes + softmax_bytes / 2),
                    (written == 2 ? 2 * of_kv : of_q) * size + (forward ? softmax_bytes : 0) +
                        of_sums * (written == 2 ? 2 * shape_.d_kv() : shape_.d_q()),
                    2 * products * pairs});
    }
    template <class... P, class... A>
    void run(const char* name, Kernel<P...> kernel, std::size_t block_count, int threads, std::size_t shared,
             A... arguments) {
        launch(context_.queue(), name, kernel,
               {{static_cast<unsigned>(block_count)}, {static_cast<unsigned>(threads)}, shared},
               arguments...);
    }

    Context& context_;
    const AttentionShape& shape_;
    const float* scale_;
    const Tape& tape_;
    Sizes sizes_{};
    Entry* free_ = nullptr;
    float* dots_ = nullptr;
};

template <class Operands>
class TiledPasses final : public TiledAttention {
  public:
    void forward(Context& context, const AttentionShape& shape, int sequences, const float* scale,
                 const Tape& tape) const override {
        sized(shape,
              [&](auto d) { Passes<Operands, d>(context, shape, sequences, 1, scale, tape).forward(); });
    }
    void vjp(Context& context, const AttentionShape& shape, int sequences, int directions, const float* scale,
             const Tape& tape, Rows dmixed, Rows dqkv, float* sums) const override {
        sized(shape, [&](auto d) {
            Passes<Operands, d>(context, shape, sequences, directions, scale, tape).vjp(dmixed, dqkv, sums);
        });
    }
    unsigned sum_chunks(const AttentionShape& shape, int sequences) const override {
        unsigned chunks = 0;
        sized(shape, [&](auto d) { chunks = Passes<Operands, d>::sum_chunks(shape, sequences); });
        return chunks;
    }
    void jvp(Context& context, const AttentionShape& shape, int first_token, int directions,
             const float* scale, const Tape& tape, const float* tqkv, float* tmixed) const override {
        sized(shape, [&](auto d) {
            Passes<Operands, d>(context, shape, 1, directions, scale, tape).jvp(first_token, tqkv, tmixed);
        });
    }

  private:
    template <class Call>
    static void sized(const AttentionShape& shape, const Call& call) {
        const int d = shape.head_width;
        if (d <= 32) return call(std::integral_constant<int, 32>{});
        if (d <= 64) return call(std::integral_constant<int, 64>{});
        if (d <= 128) return call(std::integral_constant<int, 128>{});
        call(std::integral_constant<int, 256>{});
    }
};

}  // namespace normscope::cuda::tiled
