// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/transformer.h"
#include "core/probe/interface/probe_result.h"
#include "core/probe/spectra/full_map.h"
#include "core/probe/spectra/jacobian_plan.h"
#include "core/probe/spectra/null_count.h"
#include "core/probe/spectra/token_block.h"

#include <functional>
#include <string>
#include <vector>

namespace normscope {

/// Spectra of one token's blocks, NaN where not wanted.
struct TokenSpectra {
    std::vector<double> sublayers;  ///< [2D, d]
    std::vector<double> stack;      ///< [d]; wanted where all blocks are
};
TokenSpectra token_spectra(const Transformer<double>& model, const Tape<double>& tape,
                           const RequestedBlocks& wanted, ThreadPool& pool,
                           const std::function<void()>& check);

/// The arrays of one sample of the jacobian probe (jacobian.h), NaN until measured.
class JacobianSample {
  public:
    /// `wanted`: of the whole stack; numbers of the stack are measured where all are.
    JacobianSample(const StackSpec& spec, const JacobianPlan& plan, RequestedBlocks wanted, int length,
                   int sequences, ThreadPool& pool, std::function<void()> check);

    /// The last token of sequence 0 in the layers first_layer … of the whole stack, which are all of `model`;
    /// the tape holds that sequence. The stack's own spectrum too, where `model` is the whole stack.
    void last_token(const Transformer<double>& model, const Tape<double>& tape, int first_layer);
    /// The full map of the tape's sequence. `smallest` [sub-layers of model]: σ_min of its last token's
    /// blocks; `stack_smallest`: of the stack's block, where `model` is the whole stack.
    void full_map(const Transformer<double>& model, const Tape<double>& tape, int first_layer,
                  const TokenSpectra& last_token);
    /// Of the token plan.tokens[index] of sequence 0.
    void position(std::size_t index, const TokenSpectra& spectra);
    /// The largest end-to-end value of the last token's block of each sequence.
    void spread(std::vector<double> tops) { tops_ = std::move(tops); }
    /// Of the last token of another sequence.
    void sequence(TokenSpectra spectra) { averaged_.push_back(std::move(spectra)); }
    /// The result of last_token(), where `model` was the whole stack.
    TokenSpectra last_token_spectra() const { return {sublayer_sv_, end_to_end_sv_}; }

    ProbeResult result();

  private:
    bool whole(const Transformer<double>& model) const {
        return model.spec().depth == depth_ && requested_.all();
    }
    void stack_nulls(const std::vector<BlockMatrix>& layers);
    void cumulate(const std::vector<BlockMatrix>& layers);

    const StackSpec& spec_;
    const JacobianPlan& plan_;
    RequestedBlocks requested_;
    int length_, of_sequences_, depth_;
    std::size_t width_, rows_, positions_;
    ThreadPool& pool_;
    std::function<void()> check_;
    std::vector<double> sublayer_sv_, layer_sv_, end_to_end_sv_, branch_norm_;
    std::vector<double> exact_, epsilon_, below_, measured_, predicted_;  ///< [2D]
    std::vector<double> layer_exact_, layer_below_, end_exact_, end_below_;
    std::vector<double> position_sv_, position_end_;
    std::vector<double> full_top_, full_top_error_, full_bottom_, full_bottom_error_, full_end_,
        full_end_error_;
    std::vector<double> cumulative_median_, cumulative_slope_;
    std::vector<double> tops_;
    std::vector<TokenSpectra> averaged_;  ///< averaged for mean_sv
};

}  // namespace normscope
