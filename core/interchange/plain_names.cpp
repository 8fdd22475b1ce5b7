// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/interchange/plain_names.h"

#include "core/base/error.h"
#include "core/base/strict_json.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace normscope {

namespace {

constexpr std::string_view kWrappers[] = {"_orig_mod.", "module.", "_fsdp_wrapped_module.",
                                          "_checkpoint_wrapped_module."};
/// Outermost words of training programs: a LightningModule's model, a value-head model of TRL, ….
constexpr std::string_view kHolders[] = {"model.", "pretrained_model.", "base_model.", "net.", "backbone."};

/// Whether tensors of a known model have these names (tensor_names.cpp).
bool looks_known(const std::set<std::string>& names) {
    return names.count("tok_emb") || names.count("model.layers.0.post_attention_layernorm.weight") ||
           names.count("model.embed_tokens.weight") || names.count("wte.weight") ||
           names.count("transformer.wte.weight");
}

std::string without_wrappers(std::string name, std::set<std::string>& removed) {
    for (const std::string_view wrapper : kWrappers)
        for (std::size_t at = name.find(wrapper); at != std::string::npos; at = name.find(wrapper)) {
            if (at > 0 && name[at - 1] != '.') break;  // the end of another word
            name.erase(at, wrapper.size());
            removed.insert(std::string(wrapper));
        }
    return name;
}

}  // namespace

Safetensors with_plain_names(const Safetensors& file, const std::string& where,
                             std::vector<std::string>& notes) {
    std::set<std::string> removed;
    std::vector<std::string> names;
    for (const SafetensorsEntry& entry : file.tensors())
        names.push_back(without_wrappers(entry.name, removed));
    const auto known = [&] { return looks_known({names.begin(), names.end()}); };
    for (bool found = true; found && !known();) {
        found = false;
        for (const std::string_view holder : kHolders) {
            const bool all = !names.empty() && std::all_of(names.begin(), names.end(), [&](const auto& name) {
                return name.starts_with(holder) || name.starts_with("lm_head.") ||
                       name.starts_with("v_head.");
            });
            if (!all || std::none_of(names.begin(), names.end(),
                                     [&](const auto& name) { return name.starts_with(holder); }))
                continue;
            for (std::string& name : names)
                if (name.starts_with(holder)) name.erase(0, holder.size());
            removed.insert(std::string(holder));
            found = true;
            break;
        }
    }
    Safetensors plain;
    for (const auto& [key, value] : file.metadata) {
        std::set<std::string> unused;
        plain.metadata[without_wrappers(key, unused)] = value;
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        SafetensorsEntry entry = file.tensors()[i];
        entry.name = names[i];
        if (!plain.add(std::move(entry)))
            throw InputError(where + ": " + quoted(file.tensors()[i].name),
                             "has the name of another tensor, " + quoted(std::as_const(names[i])) +
                                 ", without its prefixes",
                             "each tensor once");
    }
    if (!removed.empty()) {
        std::string list;
        for (const std::string& word : removed) list += (list.empty() ? "" : ", ") + word;
        notes.push_back("names were read without " + list);
    }
    return plain;
}

}  // namespace normscope
