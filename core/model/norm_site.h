// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/parameters.h"
#include "core/model/tape.h"

#include <string>
#include <vector>

namespace normscope {

/// One norm of the stack. Sites are listed in forward order: the embedding norm, then in, out, post of
/// every sub-layer, then the final norm. The norms on q and k, of other widths, are not among them.
struct NormSite {
    enum class Place { Embedding, In, Out, Post, Final } place;
    int sublayer = -1;  ///< from 0; −1 for the embedding norm and the final norm
    std::string name;   ///< "emb_norm", "blocks.3.ffn.norm_post", "final_norm"
    NormOffsets offsets;
};

std::vector<NormSite> norm_sites(const StackSpec& spec, const ParameterTable& table);

/// The norm's input, [R, d], and its statistics.
template <class T>
struct NormSiteInput {
    const T* x;
    NormStatistics<T> statistics;
};
template <class T>
NormSiteInput<T> norm_site_input(const NormSite& site, const Tape<T>& tape);

}  // namespace normscope
