// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/norm_site.h"

namespace normscope {

std::vector<NormSite> norm_sites(const StackSpec& spec, const ParameterTable& table) {
    std::vector<NormSite> sites;
    if (table.embedding_norm.present())
        sites.push_back({NormSite::Place::Embedding, -1, "emb_norm", table.embedding_norm});
    for (int i = 0; i < 2 * spec.depth; ++i) {
        const auto layer = static_cast<std::size_t>(i / 2);
        const bool attention = i % 2 == 0;
        const SublayerOffsets& at = attention
                                        ? static_cast<const SublayerOffsets&>(table.attention[layer])
                                        : static_cast<const SublayerOffsets&>(table.feed_forward[layer]);
        const std::string name =
            "blocks." + std::to_string(layer) + (attention ? ".attn.norm_" : ".ffn.norm_");
        if (at.norm_in.present()) sites.push_back({NormSite::Place::In, i, name + "in", at.norm_in});
        if (at.norm_out.present()) sites.push_back({NormSite::Place::Out, i, name + "out", at.norm_out});
        if (at.norm_post.present()) sites.push_back({NormSite::Place::Post, i, name + "post", at.norm_post});
    }
    if (table.final_norm.present())
        sites.push_back({NormSite::Place::Final, -1, "final_norm", table.final_norm});
    return sites;
}

template <class T>
NormSiteInput<T> norm_site_input(const NormSite& site, const Tape<T>& tape) {
    if (site.place == NormSite::Place::Embedding) return {tape.embedded, tape.embedding_statistics};
    if (site.place == NormSite::Place::Final) return {tape.hidden.back(), tape.final_statistics};
    const auto i = static_cast<std::size_t>(site.sublayer);
    const SublayerTape<T>& t = tape.sublayers[i];
    if (site.place == NormSite::Place::In) return {t.x, t.in};
    if (site.place == NormSite::Place::Out) return {t.f, t.out};
    return {t.z, t.post};
}
template NormSiteInput<float> norm_site_input(const NormSite&, const Tape<float>&);
template NormSiteInput<double> norm_site_input(const NormSite&, const Tape<double>&);

}  // namespace normscope
