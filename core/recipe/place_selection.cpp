// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/recipe/place_selection.h"

#include "core/base/error.h"
#include "core/base/trimmed.h"

#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <sstream>

namespace normscope {

namespace {

constexpr std::size_t kLongest = 64;  // fnmatch may take long over many stars
constexpr const char* kPlaceSelectionForm =
    "patterns separated by commas, such as blocks.0, blocks.*.norm_in";

bool is_allowed(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string("_.*?[]!-").find(c) != std::string::npos;
}

bool matches(const std::string& pattern, const std::string& name) {
    return fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
}

bool selects(const std::string& pattern, const std::string& place) {
    for (std::size_t dot = place.find('.'); dot != std::string::npos; dot = place.find('.', dot + 1))
        if (matches(pattern, place.substr(0, dot))) return true;
    return matches(pattern, place);
}

bool selects_any(const std::string& pattern, const std::vector<std::string>& places) {
    return std::any_of(places.begin(), places.end(),
                       [&](const std::string& place) { return selects(pattern, place); });
}

/// What the message for an unknown place names.
std::string examples(int depth) {
    const std::string last = std::to_string(std::max(depth, 1) - 1);
    return "patterns over names such as blocks.0" + (depth > 1 ? " to blocks." + last : std::string()) +
           ", blocks." + last + ".attn, blocks.*.norm_in, blocks.*.ffn.w1, embedding, final_norm, head";
}

}  // namespace

PlaceSelection PlaceSelection::parse(const std::string& text, const std::string& where) {
    PlaceSelection selection;
    if (trimmed(text).empty()) return selection;
    std::istringstream parts(text + ",");
    for (std::string part; std::getline(parts, part, ',');) {
        const std::string pattern = trimmed(part);
        if (pattern.empty()) throw InputError(where, "an empty pattern", kPlaceSelectionForm);
        if (pattern.size() > kLongest)
            throw InputError(where, "a pattern of " + std::to_string(pattern.size()) + " characters",
                             "at most " + std::to_string(kLongest));
        if (!std::all_of(pattern.begin(), pattern.end(), is_allowed))
            throw InputError(where, "a character that no name has", "letters, digits, _ . * ? [ ] ! -");
        selection.patterns_.push_back(pattern);
    }
    return selection;
}

bool PlaceSelection::contains(const std::string& place) const {
    return everything() || std::any_of(patterns_.begin(), patterns_.end(),
                                       [&](const std::string& pattern) { return selects(pattern, place); });
}

void PlaceSelection::check(int depth, const std::string& where) const {
    if (everything()) return;
    const auto places = place_names(depth);
    for (const std::string& pattern : patterns_)
        if (!selects_any(pattern, places))
            throw InputError(where, "\"" + pattern + "\" selects no place of this stack", examples(depth));
}

PlaceSelection PlaceSelection::within(int depth) const {
    if (everything()) return {};
    const auto places = place_names(depth);
    PlaceSelection kept = *this;
    std::erase_if(kept.patterns_, [&](const std::string& pattern) { return !selects_any(pattern, places); });
    return kept;
}

std::string PlaceSelection::text() const {
    std::string text;
    for (const std::string& pattern : patterns_) text += (text.empty() ? "" : ", ") + pattern;
    return text;
}

std::string layer_place(int layer) {
    return "blocks." + std::to_string(layer);
}

std::string sublayer_place(int sublayer) {
    return layer_place(sublayer / 2) + (sublayer % 2 == 0 ? ".attn" : ".ffn");
}

std::string state_place(int state) {
    return state == 0 ? "embedding" : sublayer_place(state - 1);
}

std::vector<std::string> place_names(int depth) {
    // The last four are groups of tensors, as the probe updates has them.
    std::vector<std::string> names{"tok_emb",       "pos_emb",           "head.weight",    "head.bias",
                                   "cls_tok",       "embedding",         "norms",          "scales",
                                   "head",          "emb_norm",          "final_norm",     "emb_norm.weight",
                                   "emb_norm.bias", "final_norm.weight", "final_norm.bias"};
    for (const char* end : {"weight", "bias"}) names.push_back(std::string("patch_emb.") + end);
    const auto add_norm = [&](const std::string& norm) {
        names.push_back(norm);
        for (const char* end : {".weight", ".bias"}) names.push_back(norm + end);
    };
    for (int layer = 0; layer < depth; ++layer) {
        names.push_back(layer_place(layer));
        names.push_back(layer_place(layer) + ".gate");
        for (int sublayer = 2 * layer; sublayer < 2 * layer + 2; ++sublayer) {
            const std::string at = sublayer_place(sublayer);
            names.push_back(at);
            for (const char* norm : {".norm_in", ".norm_out", ".norm_post"}) add_norm(at + norm);
            names.push_back(at + ".scale");
        }
        for (const char* end : {".wq", ".wk", ".wv", ".wo", ".bq", ".bk", ".bv", ".bo"})
            names.push_back(sublayer_place(2 * layer) + end);
        for (const char* norm : {".q_norm", ".k_norm"}) add_norm(sublayer_place(2 * layer) + norm);
        for (const char* end :
             {".w1", ".b1", ".w2", ".b2", ".w_gate", ".w_up", ".w_down", ".b_gate", ".b_up", ".b_down"})
            names.push_back(sublayer_place(2 * layer + 1) + end);
    }
    return names;
}

}  // namespace normscope
