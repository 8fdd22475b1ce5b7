// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled by nvcc for a GPU, and by the host's compiler for the emulated grid.
#include "core/backend/cuda/compact/cuda_compact_ops.h"

#include "core/backend/cuda/compact/row_kernels.h"
#include "core/backend/cuda/ops/columns.h"
#include "core/backend/cuda/ops/loss.h"
#include "core/backend/cuda/ops/norm_backward.h"
#include "core/backend/cuda/tiled/tiled_attention.h"

namespace normscope::cuda {

namespace {

using namespace compact;

template <MmaFormat F>
class CudaCompactOps final : public CompactOps<float>, private CudaCalls<float> {
  public:
    CudaCompactOps(Context& context, ShortGemmLibrary& library)
        : CudaCalls<float>(context, kRounding<F>, PrecisionPolicy::Autocast), library_(library) {}

    bool takes(const AttentionShape& s) const override {
        return s.qk_norm == QkNorm::Off && s.head_width <= kTiledHead;
    }
    void prepare(std::size_t count, const float* weights, std::uint16_t* to, const ArenaPiece* pieces,
                 int piece_count, float* arena, int others, double* numbers) override {
        const unsigned blocks = blocks_for(count / kEight, kThreads),
                       more = piece_count + others > 0 ? static_cast<unsigned>(piece_count + 1) : 0;
        moves([&] {
            return Traffic{4.0, 2, 0} * static_cast<double>(count) +
                   zero_traffic<float>(pieces, piece_count, others);
        });
        run("prepare", kernel_of<prepare_kernel<F>>,
            grid::Shape{{blocks + more * kBlocksPerPiece}, {kThreads}}, blocks, count / kEight,
            Narrow<F>{nullptr, weights, to}, pieces, piece_count, arena, others, numbers);
    }

    void norm_forward(const NormRows<float>& n, const float* eps, const float* scale,
                      std::uint16_t* y) override {
        if (n.rows == 0) return;
        const auto kernel = centred(n.kind) ? kernel_of<norm_operand_kernel<F, true>>
                                            : kernel_of<norm_operand_kernel<F, false>>;
        moves([&] { return norm_traffic(n.rows, n.d, 4, 2, 2, 0, 4); });
        run("norm_forward", kernel, one_warp_each(static_cast<std::size_t>(n.rows)), n.rows, n.d, n.x, eps,
            n.gamma, n.beta, scale, n.statistics, ShortResult<F>{y});
    }
    void residual_norm(const NormRows<float>& n, const float* eps, const float* scale, const float* a,
                       const float* x, const float* b, const CompactRows<const float>& f, float* z,
                       const CompactRows<float>& y, double* squares) override {
        if (n.rows == 0) return;
        const auto sum = [&](auto of, auto to) {
            using Rows = ResidualRows<ShortWarp<F>, decltype(of), float>;
            this->template rows_norm<ShortWarp<F>>("residual_norm", n, Rows{a, x, b, of, n.d},
                                                   f.shorts ? 6 : 8, z, eps, scale, to, squares);
        };
        if (!y.shorts)
            sum(ShortRow<F>{f.shorts}, y.floats);
        else if (f.shorts)
            sum(ShortRow<F>{f.shorts}, ShortResult<F>{y.shorts});
        else
            sum(f.floats, ShortResult<F>{y.shorts});
    }
    void embedding_norm(int sequences, int length, const std::int32_t* tokens, const float* table,
                        const float* positions, float* x, const NormRows<float>& n, const float* eps,
                        const float* scale, std::uint16_t* y, double* squares) override {
        if (n.rows == 0) return;
        this->template rows_norm<ShortWarp<F>>(
            "embedding_norm", n, EmbeddedRows<float>{n.d, length, tokens, table, positions},
            embedded_bytes(sequences, positions), x, eps, scale, ShortResult<F>{y}, squares);
    }
    void norm_vjp(const NormRows<float>& n, const CompactRows<const float>& dy, const float* scale, bool add,
                  float* dx, float* dgamma, float* dbeta, double* squares,
                  const BranchGradient<float>& before) override {
        if (n.rows == 0) return;
        const auto backward = [&](auto from) {
            this->template norm_backward<ShortWarp<F>>(n, from, scale, add, dx, dgamma, dbeta, squares,
                                                       before, ShortResult<F>{before.rows.shorts});
        };
        if (dy.shorts)
            backward(ShortRow<F>{dy.shorts});
        else
            backward(dy.floats);
    }
    void axpby(std::size_t count, const float* a, const float* x, const float* b, const std::uint16_t* y,
               float* out) override {
        eights("axpby", count, AxpbyShort<F>{a, x, b, y, out});
    }

    void attention_forward(const CompactAttention<float>& a, const float* u, const CompactTape& tape,
                           const CompactRows<float>& f) override {
        const AttentionShape& s = a.shape;
        const int R = a.sequences * s.n;
        if (u) eights("operand", area(R, s.d), Narrow<F>{nullptr, u, tape.input});
        linear(R, s.width(), s.d, tape.input, a.qkv, tape.wide);
        if (a.angles) rotate(s, R, a.angles, false, tape.wide);
        tiled_attention(kRounding<F>).forward(context_, s, a.sequences, a.scale, rows_of(a, tape));
        linear_to_rows(R, s.d, s.d_q(), tape.narrow, a.out, f);
    }

    void attention_vjp(const CompactAttention<float>& a, const CompactTape& tape, const float* factor,
                       const float* dy, const std::uint16_t* df, const CompactRows<float>& du,
                       const CompactLinearGradients<float>& qkv,
                       const CompactLinearGradients<float>& out) override {
        const AttentionShape& s = a.shape;
        const int R = a.sequences * s.n;
        std::uint16_t* const dmixed = shorts(Work::Mixed, area(R, s.d_q()));
        std::uint16_t* const dqkv = shorts(Work::Gradient, area(R, s.width()));
        if (!df) df = branch_operand(R, s.d, factor, dy, out.bias);
        weight_gradient(R, s.d, s.d_q(), df, tape.narrow, out.weight);
        input_gradient(R, s.d, s.d_q(), df, a.out, dmixed);
        // The bias' gradient is that of what the projection gave, before rotations.
        const bool sums_of_tiles = qkv.bias && !a.angles;
        this->tiled_vjp(kRounding<F>, s, a.sequences, 1, a.scale, rows_of(a, tape), {dmixed, true},
                        {dqkv, true}, sums_of_tiles ? qkv.bias : nullptr);
        if (a.angles) rotate(s, R, a.angles, true, dqkv);
        input_gradient_to_rows(R, s.width(), s.d, dqkv, a.qkv, du);
        weight_gradient(R, s.width(), s.d, dqkv, tape.input, qkv.weight);
        if (qkv.bias && !sums_of_tiles) with_sums("column_sums", R, s.width(), Loaded<F>{dqkv}, qkv.bias);
    }

    void feed_forward_forward(const CompactFeedForward& m, const float* u, const CompactTape& tape,
                              const CompactRows<float>& f) override {
        if (u) eights("operand", area(m.R, m.d), Narrow<F>{nullptr, u, tape.input});
        linear(m.R, m.wide(), m.d, tape.input, m.first, tape.wide);
        const std::size_t count = area(m.R, m.d_ff);
        if (is_gated(m.activation))
            row::with_gate(m.activation, [&](auto gate) {
                this->eights("gated", count,
                             GatedShort<F, gate>{static_cast<std::size_t>(m.d_ff), tape.wide, tape.narrow});
            });
        else
            of_kind(m.activation, [&](auto kind) {
                eights("activation", count, Activated<F, kind>{tape.wide, tape.narrow});
            });
        linear_to_rows(m.R, m.d, m.d_ff, tape.narrow, m.second, f);
    }

    void feed_forward_vjp(const CompactFeedForward& m, const CompactTape& tape, const float* factor,
                          const float* dy, const std::uint16_t* df, const CompactRows<float>& du,
                          const CompactLinearGradients<float>& first,
                          const CompactLinearGradients<float>& second) override {
        const std::size_t count = area(m.R, m.d_ff);
        std::uint16_t* const after = shorts(Work::Mixed, count);
        std::uint16_t* before = after;
        if (!df) df = branch_operand(m.R, m.d, factor, dy, second.bias);
        input_gradient(m.R, m.d, m.d_ff, df, m.second, after);
        weight_gradient(m.R, m.d, m.d_ff, df, tape.narrow, second.weight);
        if (is_gated(m.activation)) {
            before = shorts(Work::Gradient, area(m.R, m.wide()));
            row::with_gate(m.activation, [&](auto gate) {
                this->eights(
                    "gated_vjp", count,
                    GatedShortVjp<F, gate>{static_cast<std::size_t>(m.d_ff), tape.wide, after, before});
            });
            if (first.bias) with_sums("column_sums", m.R, m.wide(), Loaded<F>{before}, first.bias);
        } else {
            of_kind(m.activation, [&](auto kind) {
                with_sums("activation_vjp", m.R, m.d_ff, ActivatedVjp<F, kind>{tape.wide, after}, first.bias);
            });
        }
        input_gradient_to_rows(m.R, m.wide(), m.d, before, m.first, du);
        weight_gradient(m.R, m.wide(), m.d, before, tape.input, first.weight);
    }

    void add_gradients(const ArenaPiece* pieces, int count, bool fresh, const std::uint16_t* from,
                       float* to) override {
        if (count > 0)
            moves([&] { return Widen<F>{!fresh, from, to}.moves() * entries_of(pieces, 0, count); });
        if (count > 0)
            run("widen", kernel_of<widen_pieces_kernel<F>>,
                grid::Shape{{static_cast<unsigned>(count), kBlocksPerPiece / 2}, {kThreads}}, pieces, fresh,
                from, to);
    }

    void head_forward(int R, int V, int d, const float* x, const std::uint16_t* weight,
                      const CompactHead& head) override {
        const int columns = classes(V);
        if (x) eights("operand", area(R, d), Narrow<F>{nullptr, x, head.input});
        if (head.weight) {
            context_.copy(head.weight, weight, area(V, d) * sizeof(std::uint16_t));
            eights("no_class", area(columns - V, d), FillZero{head.weight + area(V, d)});
            weight = head.weight;
        }
        linear(R, columns, d, head.input, {weight, nullptr}, head.logits);
    }

    void head_vjp(int R, int V, int d, const std::uint16_t* weight, const CompactHead& head,
                  const std::int32_t* targets, const float* scale, float z, float* losses,
                  const CompactRows<float>& dx, const CompactRows<float>& dweight) override {
        if (R == 0) return;
        const int columns = classes(V);
        moves([&] {
            const double entries = static_cast<double>(area(R, columns));
            return Traffic{2 * entries + 4.0 * R, 2 * entries + 4.0 * R, 6 * entries};
        });
        if (V <= kWarpClasses)
            run("classify", kernel_of<classify_kernel<F, Warp<float>>>,
                one_warp_each(static_cast<std::size_t>(R)), R, V, columns, head.logits, targets, scale, z,
                losses);
        else
            run("classify", kernel_of<classify_kernel<F, Block<float>>>,
                grid::Shape{{static_cast<unsigned>(R)}, {static_cast<unsigned>(kBlockLanes)}}, R, V, columns,
                head.logits, targets, scale, z, losses);
        const ShortLinear w{head.weight ? head.weight : weight, nullptr};
        input_gradient_to_rows(R, columns, d, head.logits, w, dx);
        // Columns without a class have no weight.
        std::uint16_t* const product =
            dweight.shorts ? dweight.shorts : shorts(Work::Product, area(columns, d));
        library_.multiply(kRounding<F>,
                          {Form::Tn, columns, d, R, {head.logits, columns}, {head.input, d}, {product, d}});
        if (!dweight.shorts) eights("widen", area(V, d), Widen<F>{true, product, dweight.floats});
    }

  private:
    /// body(i) for each eight of `count` entries, one a thread.
    template <class Body>
    void eights(const char* name, std::size_t count, Body body) {
        if (count == 0) return;
        const std::size_t groups = count / kEight;
        state_entries(context_.log(), body, static_cast<double>(count));
        run(name, kernel_of<each_kernel<Body>>, grid::Shape{{blocks_for(groups, kThreads)}, {kThreads}},
            groups, body);
    }
    /// The same for rows [R, d], and the rounded sums of the results over the rows, a bias' gradient, are
    /// added to sums [d], where that is not null.
    template <class Make>
    void with_sums(const char* name, int R, int d, Make make, float* sums) {
        if (!sums || R == 0) return eights(name, area(R, d), make);
        const unsigned chunks = blocks_for(static_cast<std::size_t>(R), kChunkRows),
                       width = static_cast<unsigned>(d);
        float* const partial = partials<float>(static_cast<std::size_t>(chunks) * width);
        moves([&] {
            return make.moves() * static_cast<double>(area(R, d)) + Traffic{0, 4.0 * chunks * width, 0};
        });
        run(name, kernel_of<sum_made_rows_kernel<Make>>,
            grid::Shape{{blocks_for(width, 32 * kEight), chunks}, {32 * kColumnWarps}}, R, d, make, partial);
        add_later(ChunkSum::of(partial, sums, chunks, width, width, kRounding<F>));
    }
    /// *factor·dy in 16 bits, and the sums of its rows.
    const std::uint16_t* branch_operand(int R, int d, const float* factor, const float* dy, float* sums) {
        std::uint16_t* const df = shorts(Work::LeftOperand, area(R, d));
        with_sums("operand", R, d, Narrow<F>{factor, dy, df}, sums);
        return df;
    }
    std::uint16_t* shorts(Work slot, std::size_t count) {
        return static_cast<std::uint16_t*>(context_.workspace(slot, count * sizeof(std::uint16_t)));
    }
    /// call(constant) of an activation without a gate.
    template <class Call>
    static void of_kind(Activation kind, const Call& call) {
        switch (kind) {
            case Activation::GeluTanh:
                return call(std::integral_constant<Activation, Activation::GeluTanh>{});
            case Activation::GeluErf:
                return call(std::integral_constant<Activation, Activation::GeluErf>{});
            case Activation::Relu:
                return call(std::integral_constant<Activation, Activation::Relu>{});
            case Activation::Silu:
            case Activation::SwiGlu:
            case Activation::GeGlu:
                return call(std::integral_constant<Activation, Activation::Silu>{});
        }
    }
    static TiledAttention::Tape rows_of(const CompactAttention<float>& a, const CompactTape& tape) {
        return {{tape.wide, true}, {tape.narrow, true}, a.row_softmax};
    }

    // Linear layers of R rows: y = x·Wᵀ + bias, dx = dy·W, dW = dyᵀ·x.
    void linear(int R, int out, int in, const std::uint16_t* x, const ShortLinear& w, std::uint16_t* y) {
        library_.multiply(kRounding<F>, {Form::Nt, R, out, in, {x, in}, {w.weight, in}, {y, out}, w.bias});
    }
    void linear_to_rows(int R, int out, int in, const std::uint16_t* x, const ShortLinear& w,
                        const CompactRows<float>& y) {
        std::uint16_t* const product = y.shorts ? y.shorts : shorts(Work::Product, area(R, out));
        linear(R, out, in, x, w, product);
        if (!y.shorts) eights("widen", area(R, out), Widen<F>{false, product, y.floats});
    }
    void input_gradient(int R, int out, int in, const std::uint16_t* dy, const ShortLinear& w,
                        std::uint16_t* dx) {
        library_.multiply(kRounding<F>, {Form::Nn, R, in, out, {dy, out}, {w.weight, in}, {dx, in}});
    }
    void input_gradient_to_rows(int R, int out, int in, const std::uint16_t* dy, const ShortLinear& w,
                                const CompactRows<float>& dx) {
        std::uint16_t* const product = dx.shorts ? dx.shorts : shorts(Work::Product, area(R, in));
        input_gradient(R, out, in, dy, w, product);
        if (!dx.shorts) eights("widen", area(R, in), Widen<F>{false, product, dx.floats});
    }
    void weight_gradient(int R, int out, int in, const std::uint16_t* dy, const std::uint16_t* x,
                         std::uint16_t* dW) {
        library_.multiply(kRounding<F>, {Form::Tn, out, in, R, {dy, out}, {x, in}, {dW, in}});
    }
    void rotate(const AttentionShape& s, int R, const float* angles, bool inverse, std::uint16_t* qkv) {
        const int heads = s.heads + s.kv_heads;
        moves([&] { return rotation_traffic(R, heads, s.head_width, s.n, 2); });
        run("rotate", kernel_of<rotate_short_kernel<F>>, one_warp_each(area(R, heads)), R * heads, heads,
            s.head_width, static_cast<std::size_t>(s.width()), s.n, angles, inverse, qkv);
    }

    ShortGemmLibrary& library_;
};

}  // namespace

std::unique_ptr<CompactOps<float>> compact_ops(Context& context, ShortGemmLibrary& library, Rounding format) {
    if (format == Rounding::Bf16) return std::make_unique<CudaCompactOps<MmaFormat::Bf16>>(context, library);
    return std::make_unique<CudaCompactOps<MmaFormat::Fp16>>(context, library);
}

}  // namespace normscope::cuda
