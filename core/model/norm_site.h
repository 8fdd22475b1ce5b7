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

/// Where Coefficients::eps holds the ε of the norm at a place: in, out and post of every one of the 2D
/// sub-layers, then the embedding norm and the final norm. There is an entry for a norm that the stack lacks.
constexpr std::size_t eps_index(NormSite::Place place, int sublayer, int sublayers) {
    if (place == NormSite::Place::Embedding) return 3 * static_cast<std::size_t>(sublayers);
    if (place == NormSite::Place::Final) return 3 * static_cast<std::size_t>(sublayers) + 1;
    return 3 * static_cast<std::size_t>(sublayer) + static_cast<std::size_t>(place) - 1;
}
constexpr std::size_t eps_entries(int sublayers) {
    return 3 * static_cast<std::size_t>(sublayers) + 2;
}

/// The norm's input, [R, d], and its statistics.
template <class T>
struct NormSiteInput {
    const T* x;
    NormStatistics<T> statistics;
};
template <class T>
NormSiteInput<T> norm_site_input(const NormSite& site, const Tape<T>& tape);

}  // namespace normscope
