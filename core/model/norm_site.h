// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "core/model/parameters.h"
#include "core/model/tape.h"

namespace normscope {

/// One norm of the stack. Sites are listed in forward order: in, out, post of every sub-layer, then the final norm.
struct NormSite {
    enum class Place { In, Out, Post, Final } place;
    int sublayer = -1;   ///< from 0; −1 for the final norm
    std::string name;    ///< "blocks.3.ffn.norm_post", "final_norm"
    NormOffsets offsets;
};

std::vector<NormSite> norm_sites(const StackSpec& spec, const ParameterTable& table);

/// What the norm read, [R, d], and the statistics it kept.
template <class T>
struct NormSiteInput {
    const T* x;
    NormStatistics<T> statistics;
};
template <class T>
NormSiteInput<T> norm_site_input(const NormSite& site, const Tape<T>& tape);

}  // namespace normscope
