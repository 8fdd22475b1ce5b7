// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/tape.h"

#include "core/model/scratch_slots.h"

namespace normscope {

namespace {

/// Allocates consecutive arrays; without a block it only counts.
template <class T>
class TapeAllocator {
  public:
    explicit TapeAllocator(T* block) : block_(block) {}
    T* take(std::size_t count) {
        T* piece = block_ ? block_ + used_ : nullptr;
        used_ += (count + 15) / 16 * 16;  // whole cache lines
        return piece;
    }
    std::uint16_t* take_short(std::size_t count) {
        constexpr std::size_t numbers = sizeof(T) / sizeof(std::uint16_t);
        return reinterpret_cast<std::uint16_t*>(take((count + numbers - 1) / numbers));
    }
    NormStatistics<T> statistics(bool wanted, std::size_t rows) {
        return wanted ? NormStatistics<T>{take(rows), take(rows)} : NormStatistics<T>{};
    }
    std::size_t used() const { return used_; }

  private:
    T* block_;
    std::size_t used_ = 0;
};

template <class T>
std::size_t layout_tape(Tape<T>& tape, const StackSpec& s, const std::vector<SublayerRule>& rules,
                        const TapeContents& contents, T* block) {
    TapeAllocator<T> cut(block);
    const std::size_t R = static_cast<std::size_t>(tape.rows()), d = static_cast<std::size_t>(s.d_model);
    const std::size_t n = static_cast<std::size_t>(tape.length), ff = static_cast<std::size_t>(s.d_ff);
    const std::size_t d_q = static_cast<std::size_t>(s.d_q()), d_kv = static_cast<std::size_t>(s.d_kv());
    const std::size_t ff_wide = static_cast<std::size_t>(feed_forward_width(s));
    const bool gated_map = is_gated(s.activation), compact = contents.compact.sublayers;
    T* const passing_f = contents.for_gradient ? cut.take(R * d) : nullptr;
    T* const passing_u = compact ? cut.take(R * d) : nullptr;
    T* const passing_pre = contents.for_gradient && !gated_map && !compact ? cut.take(R * ff) : nullptr;
    tape.hidden.assign(rules.size() + 1, nullptr);
    tape.sublayers.assign(rules.size(), {});
    for (auto& h : tape.hidden) h = cut.take(R * d);
    tape.embedded = s.embedding_norm ? cut.take(R * d) : tape.hidden.front();
    tape.embedding_statistics = cut.statistics(s.embedding_norm, R);
    for (std::size_t i = 0; i < rules.size(); ++i) {
        const SublayerRule& rule = rules[i];
        SublayerTape<T>& t = tape.sublayers[i];
        const bool second = s.layout == Layout::Parallel && i % 2 == 1,
                   first = s.layout == Layout::Parallel && !second;
        const auto gated = [&](GateSite site) { return s.gpas.enabled && rule.gate == site; };
        t.x = second ? tape.sublayers[i - 1].x : gated(GateSite::Input) ? cut.take(R * d) : tape.hidden[i];
        if (rule.in || rule.s_in != 1 || gated(GateSite::Norm)) t.u = compact ? passing_u : cut.take(R * d);
        t.f = contents.for_gradient && !f_is_kept(s, rule) ? passing_f : cut.take(R * d);
        if (rule.out && (gated(GateSite::Branch) || s.branch_scale != BranchScale::None))
            t.y = cut.take(R * d);
        if (rule.post) t.z = cut.take(R * d);
        if (gated(GateSite::Norm) || (gated(GateSite::Output) && !first)) t.ungated = cut.take(R * d);
        t.in = cut.statistics(rule.in.has_value(), R);
        t.out = cut.statistics(rule.out.has_value(), R);
        t.post = cut.statistics(rule.post.has_value(), R);
        const std::size_t map_rows = R * static_cast<std::size_t>(s.heads);
        if (compact) {
            const bool attention = i % 2 == 0;
            t.compact.input = cut.take_short(R * d);
            t.compact.wide = cut.take_short(R * (attention ? d_q + 2 * d_kv : ff_wide));
            t.compact.narrow = cut.take_short(R * (attention ? d_q : ff));
            if (attention) t.row_softmax = cut.take(2 * map_rows);
        } else if (i % 2 == 0) {
            t.qkv = cut.take(R * (d_q + 2 * d_kv));
            if (s.qk_norm != QkNorm::Off) {
                const bool head = s.qk_norm == QkNorm::Head;
                t.qk = cut.take(R * (d_q + d_kv));
                t.q_norm = cut.statistics(true, head ? R * static_cast<std::size_t>(s.heads) : R);
                t.k_norm = cut.statistics(true, head ? R * static_cast<std::size_t>(s.kv_heads) : R);
            }
            if (contents.probabilities)
                t.probabilities = cut.take(map_rows * n);
            else
                t.row_softmax = cut.take(2 * map_rows);
            if (s.attention_soft_cap > 0) t.capped = cut.take(map_rows * n);
            t.mixed = cut.take(R * d_q);
        } else {
            t.pre = contents.for_gradient && !gated_map ? passing_pre : cut.take(R * ff_wide);
            t.activated = cut.take(R * ff);
            if (!gated_map) t.slope = cut.take(R * ff);
        }
    }
    tape.final_statistics = cut.statistics(has_final_norm(s), R);
    tape.final_hidden = has_final_norm(s) ? cut.take(R * d) : tape.hidden.back();
    const int classes = CompactOps<T>::classes(s.vocab);
    tape.compact_head = {};
    if (contents.compact.head) {
        tape.compact_head.input = cut.take_short(R * d);
        if (classes != s.vocab)
            tape.compact_head.weight = cut.take_short(static_cast<std::size_t>(classes) * d);
        tape.compact_head.logits = cut.take_short(R * static_cast<std::size_t>(classes));
    }
    tape.logits = contents.compact.head ? nullptr : cut.take(R * static_cast<std::size_t>(s.vocab));
    tape.losses = cut.take(R);
    return cut.used();
}

}  // namespace

template <class T>
void Tape<T>::reserve(Device& device, const StackSpec& spec, const std::vector<SublayerRule>& rules,
                      int new_sequences, int new_length, const TapeContents& contents) {
    sequences = new_sequences;
    length = new_length;
    device_ = &device;
    memory_.resize(device, layout_tape<T>(*this, spec, rules, contents, nullptr));
    layout_tape<T>(*this, spec, rules, contents, memory_.data());
}

template <class T>
void Tape<T>::reserve_scratch(Device& device, const StackSpec& spec, const std::vector<SublayerRule>& rules,
                              int new_sequences, int new_length, const TapeContents& contents) {
    sequences = new_sequences;
    length = new_length;
    device_ = &device;
    const std::size_t needed = layout_tape<T>(*this, spec, rules, contents, nullptr);
    layout_tape<T>(*this, spec, rules, contents, device.scratch_of<T>(kStepTape, needed));
}

template struct Tape<float>;
template struct Tape<double>;

}  // namespace normscope
