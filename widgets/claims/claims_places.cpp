// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/claims/claims_places.h"

#include <algorithm>
#include <vector>

namespace normscope::widgets {

std::span<const ClaimPlace> claimPlaces() {
    using Options = PanelOptions;
    static const Options kLoss{{"quantity", "loss"}}, kSublayers{{"map", "sublayers"}},
        kWhole{{"view", "end_to_end"}}, kMean{{"quantity", "ma"}};
    static const std::vector<ClaimPlace> all = {
        {"E03", "theta", {{"quantity", "over_tau"}}},
        {"E12", "lipschitz", {{"quantity", "attention_measured"}}},
        {"E13", "lipschitz", {{"quantity", "attention_measured"}}},
        {"E14", "lipschitz", {{"quantity", "layer_measured"}}},
        {"E15", "lipschitz", {{"quantity", "layer_measured"}}},
        {"E16", "null_space", {{"quantity", "gain"}}},
        {"E17", "paths", {{"quantity", "remainder"}}},
        {"E18", "gradients", {{"quantity", "hidden"}}},
        {"E19", "null_space", {{"quantity", "epsilon_share"}}},
        {"E20", "gradients", {{"quantity", "tokens"}}},
        {"E21", "gradient_map", {{"quantity", "hidden"}}},
        {"E22", "spectra", {{"view", "layers"}}},
        {"E27", "training", kLoss},
        {"E29", "training", kLoss},
        {"E30", "training", kLoss},
        {"E31", "training", {{"quantity", "grad_norm"}}},
        {"E32", "theta", {{"quantity", "mean"}, {"x", "step"}}},
        {"E33", "lipschitz", {{"quantity", "projection"}, {"x", "step"}}},
        {"E34", "lipschitz", {{"quantity", "proxy_stream"}}},
        {"E35", "lipschitz", {{"quantity", "proxy_stream"}}},
        {"E36", "lipschitz", {{"quantity", "proxy_stream"}, {"x", "step"}}},
        {"N03", "null_space", {{"quantity", "epsilon_share"}}},
        {"N05", "jacobian", kSublayers},
        {"N06", "jacobian", {{"map", "layers"}}},
        {"N07", "jacobian", kSublayers},
        {"N08", "null_space", {{"erased", "backward"}}},
        {"N09", "jacobian", kSublayers},
        {"N10", "jacobian", kSublayers},
        {"N11", "jacobian", kWhole},
        {"N12", "jacobian", kWhole},
        {"N13", "jacobian", kWhole},
        {"N14", "jacobian", kWhole},
        {"N15", "training", kLoss},
        {"G03", "gates", {{"quantity", "factor"}}},
        {"G05", "gradients", {{"quantity", "hidden"}}},
        {"G06", "training", kLoss},
        {"G07", "gates", {{"quantity", "act"}}},
        {"G08", "gates", {{"quantity", "alpha"}, {"x", "step"}}},
        {"G09", "growth", {{"quantity", "var"}, {"x", "step"}}},
        {"G10", "growth", {{"quantity", "var"}}},
        {"G11", "gradients", {{"quantity", "params"}}},
        {"G12", "weights", {{"quantity", "sublayer_norm"}}},
        {"G13", "importance", {{"quantity", "layer"}}},
        {"G14", "training", kLoss},
        {"G15", "training", kLoss},
        {"B05", "jacobian", kSublayers},
        {"B06", "jacobian", kWhole},
        {"B07", "jacobian", kWhole},
        {"B08", "null_space", {{"quantity", "fp16_rho_ln"}}},
        {"B09", "null_space", {{"quantity", "gain"}}},
        {"B13", "mismatch", {{"policy", "pure"}}},
        {"K05", "growth", {{"quantity", "ma"}, {"bound", "uniform"}}},
        {"K06", "growth", kMean},
        {"K07", "growth", kMean},
        {"K08", "growth", {{"quantity", "var"}}},
        {"K09", "growth", kMean},
        {"K10", "shift", {{"quantity", "variance_max"}}},
        {"K11", "shift", {{"quantity", "w2"}}},
        {"K15", "jacobian", kWhole},
        {"K16", "growth", kMean},
        {"K17", "training", kLoss},
        {"K18", "training", kLoss},
        {"K20", "growth", kMean},
    };
    return all;
}

const ClaimPlace* claimPlace(const std::string& claim) {
    const auto all = claimPlaces();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const ClaimPlace& place) { return claim == place.claim; });
    return found == all.end() ? nullptr : &*found;
}

}  // namespace normscope::widgets
