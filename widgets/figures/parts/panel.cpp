// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/parts/panel.h"

#include "core/base/error.h"
#include "core/base/strict_json.h"

#include <algorithm>

namespace normscope::widgets {

namespace {

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

}  // namespace

PanelOptions resolveOptions(const PanelInfo& panel, const PanelOptions& given) {
    PanelOptions resolved;
    std::vector<std::string> keys;
    for (const auto& option : panel.options) {
        keys.push_back(option.key);
        resolved[option.key] = option.values.front();
    }
    for (const auto& [key, value] : given) {
        const auto option = std::find_if(panel.options.begin(), panel.options.end(),
                                         [&key = key](const PanelOption& o) { return o.key == key; });
        if (option == panel.options.end())
            throw InputError("panel " + panel.id, "unknown option '" + printable(key) + "'",
                             keys.empty() ? "none" : joined(keys));
        if (const auto old = option->former.find(value); old != option->former.end()) {
            resolved[key] = old->second;
            continue;
        }
        if (std::find(option->values.begin(), option->values.end(), value) == option->values.end())
            throw InputError("panel " + panel.id + ", option " + key,
                             "unknown value '" + printable(value) + "'", joined(option->values));
        resolved[key] = value;
    }
    return resolved;
}

QString optionTitle(const std::string& value) {
    static const std::map<std::string, QString> titles{
        {"rms", "RMS"},
        {"ma", "mean |x|"},
        {"var", "variance"},
        {"block_rms", "largest token RMS"},
        {"hidden", "‖∂L/∂h‖"},
        {"scaled", "‖h‖·‖∂L/∂h‖, scale-free"},
        {"params", "‖∂L/∂W‖, parameters"},
        {"tokens", "‖g‖ of the median token"},
        {"factors", "factors: norms, shortcuts, branches"},
        {"sublayers", "sub-layers"},
        {"last", "last token"},
        {"positions", "single tokens"},
        {"full", "full map"},
        {"mean", "mean"},
        {"mean_20", "mean of 20 steps"},
        {"mean_100", "mean of 100 steps"},
        {"grad_norm", "gradient norm"},
        {"lr", "learning rate"},
        {"val_accuracy", "accuracy"},
        {"tokens_per_s", "tokens/s"},
        {"gain", "gain 1/σ_ε"},
        {"epsilon_share", "ε ÷ (var + ε)"},
        {"fp16_rho_ln", "ρ_LN in FP16"},
        {"bf16_rho_ln", "ρ_LN in BF16"},
        {"bf16", "BF16"},
        {"fp16", "FP16"},
        {"relative_mean", "mean θ ÷ uniform"},
        {"relative_low", "5 % quantile of θ ÷ uniform"},
        {"relative_max", "largest θ ÷ uniform"},
        {"relative_below_099", "share of rows with θ < 0.99 · uniform"},
        {"over_tau", "mean θ/τ"},
        {"below_099", "share of rows with θ < 0.99"},
        {"row", "one row with its S*"},
        {"similarity", "cosine of two tokens"},
        {"outlier", "max |x| ÷ median |x|"},
        {"heaviest_norm", "heaviest token ÷ mean"},
        {"max_logit", "largest |logit|"},
        {"sink_mass", "mass on the first token"},
        {"headroom", "all, a map of headroom"},
        {"ratio", "‖Δθ‖ ÷ ‖θ‖"},
        {"under_eps", "√v̂ < ε"},
        {"bf16_unmoved", "unmoved in BF16"},
        {"branch_ratio", "‖branch‖ ÷ ‖x‖"},
        {"branch_cosine", "cos(branch, x)"},
    };
    const auto found = titles.find(value);
    return found != titles.end() ? found->second : QString::fromStdString(value).replace(u'_', u' ');
}

bool drawsAny(const PanelInfo& panel, const QStringList& changed) {
    if (panel.draws_steps && changed.contains(QLatin1String("training"))) return true;
    return std::any_of(panel.probes.begin(), panel.probes.end(), [&](const std::string& probe) {
        return changed.contains(QString::fromStdString(probe));
    });
}

PanelInput withoutAxesOption(const PanelInfo& panel, const PanelInput& input) {
    resolveOptions(panel, input.options);
    PanelInput own = input;
    own.options.erase(kAxesOption);
    return own;
}

Figure startFigure(const PanelInfo& panel) {
    Figure figure;
    figure.panel = QString::fromStdString(panel.id);
    figure.title = panel.title;
    return figure;
}

}  // namespace normscope::widgets
