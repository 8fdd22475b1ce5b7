// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/linear_algebra/block_lanczos.h"
#include "core/model/transformer.h"

#include <functional>

namespace normscope {

/// A feed-forward sub-layer acts token by token: its Jacobian over a sequence is n blocks [d, d], whose
/// spectra together are its spectrum. True where that is cheaper than a search: narrow blocks that fit into
/// 64 MB.
bool token_by_token(const StackSpec& spec, int sublayer, int length);

/// Its complete spectrum from the blocks, all tokens sharing d directions: the `count` largest and smallest
/// values. `check` is called between pieces and may throw. No vectors, no Frobenius norm.
template <class T>
Spectrum token_spectrum(const Transformer<T>& model, const Tape<T>& tape, int sequence, int sublayer,
                        int count, ThreadPool& pool, const std::function<void()>& check);

}  // namespace normscope
