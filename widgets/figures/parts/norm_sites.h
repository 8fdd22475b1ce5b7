// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <string>
#include <vector>

namespace normscope::widgets {

/// A norm site, named as in the null_space probe, placed along the depth.
struct NormSite {
    double x = 0;
    QString name;  ///< "layer 4 · ffn · norm post"
};

/// Places sites given in forward order. A sub-layer that starts at hidden state x has norm_in at x + 1/8,
/// norm_out at x + 2/8 and norm_post at x + 3/8, so that runs of different schemes overlay without colliding;
/// emb_norm is at 0, final_norm 1/8 after the last hidden state. A name of another form follows its
/// predecessor by 1/8.
std::vector<NormSite> placeNormSites(const std::vector<std::string>& sites);

/// Whether the norm is placed on the residual stream, so that its gain multiplies every gradient that passes.
bool isPostNorm(const std::string& site);

}  // namespace normscope::widgets
