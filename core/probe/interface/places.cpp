// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/interface/places.h"

#include "core/base/nan.h"

#include <algorithm>
#include <cstring>

namespace normscope {

namespace {

bool is(const Axis& axis, const char* name) {
    return std::strcmp(axis.name, name) == 0;
}

bool along_places(const ArrayInfo& array) {
    if (array.axes.empty() || (array.flags & (kWhole | kNeedsAll))) return false;
    const Axis& first = array.axes.front();
    return is(first, "hidden_state") || is(first, "sublayer") || is(first, "layer") || is(first, "site") ||
           is(first, "group");
}

const char* sublayer_of(const std::string& matrix) {
    return matrix.size() == 2 && std::strchr("qkvo", matrix[1]) ? ".attn." : ".ffn.";
}

std::vector<std::string> words(const ProbeResult& result, const char* label) {
    const auto found = result.labels.find(label);
    return found == result.labels.end() ? std::vector<std::string>() : found->second;
}

/// Whether the places of each entry along the leading axes are selected; each has the same number of
/// values.
std::vector<bool> selected_entries(const ArrayInfo& info, const NamedArray& array, const ProbeResult& result,
                                   const PlaceSelection& selection) {
    const Axis& first = info.axes.front();
    const int count = static_cast<int>(array.shape.front());
    std::vector<bool> selected;
    if (is(first, "site") || is(first, "group")) {
        for (const std::string& name : words(result, is(first, "site") ? "sites" : "groups"))
            selected.push_back(selection.contains(name));
        return selected;
    }
    const Axis* second = info.axes.size() > 1 ? &info.axes[1] : nullptr;
    const std::vector<std::string> matrices = words(result, "matrices");
    const std::string part = second && is(*second, "head") ? "attn" : info.part;
    for (int i = 0; i < count; ++i) {
        if (is(first, "hidden_state")) {
            selected.push_back(selection.contains(state_place(i)));
        } else if (is(first, "sublayer")) {
            selected.push_back(selection.contains(sublayer_place(i)));
        } else if (first.length == axis::layer_pair.length) {
            selected.push_back(selection.contains(layer_place(i)) && selection.contains(layer_place(i + 1)));
        } else if (second && is(*second, "sublayer")) {
            for (int half : {0, 1}) selected.push_back(selection.contains(sublayer_place(2 * i + half)));
        } else if (second && is(*second, "matrix")) {
            for (const std::string& matrix : matrices)
                selected.push_back(selection.contains(layer_place(i) + sublayer_of(matrix) + matrix));
        } else {
            selected.push_back(selection.contains(layer_place(i) + (part.empty() ? "" : "." + part)));
        }
    }
    return selected;
}

double share(double part, double whole) {
    return whole > 0 ? std::min(1.0, part / whole) : 0;
}

}  // namespace

bool has_places(const ProbeInfo& probe) {
    return std::any_of(probe.arrays.begin(), probe.arrays.end(), along_places);
}

void apply_selection(const ProbeInfo& probe, const PlaceSelection& selection, ProbeResult& result) {
    if (selection.everything() || !has_places(probe)) return;
    for (const ArrayInfo& info : probe.arrays) {
        const bool places = along_places(info);
        if (!places && !(info.flags & kNeedsAll)) continue;
        for (NamedArray& array : result.arrays) {
            if (array.name != info.name && array.name != std::string(info.name) + "_error") continue;
            const auto selected =
                places ? selected_entries(info, array, result, selection) : std::vector<bool>{false};
            if (selected.empty()) continue;
            const std::size_t each = array.data.size() / selected.size();
            for (std::size_t i = 0; i < selected.size(); ++i)
                if (!selected[i])
                    std::fill_n(array.data.begin() + static_cast<std::ptrdiff_t>(i * each), each, kNaN);
        }
    }
    result.labels["only"] = selection.patterns();
}

SelectedParts selected_parts(const PlaceSelection& selection, const ProbeShape& shape) {
    SelectedParts part;
    if (selection.everything()) return part;
    const double depth = shape.depth;
    double attention = 0, feed_forward = 0, layers = 0, touched = 0, matrices = 0, sites = 0;
    for (int l = 0; l < shape.depth; ++l) {
        const bool of_attention = selection.contains(sublayer_place(2 * l)),
                   of_feed_forward = selection.contains(sublayer_place(2 * l + 1));
        attention += of_attention;
        feed_forward += of_feed_forward;
        touched += of_attention || of_feed_forward;
        layers += selection.contains(layer_place(l));
        for (const char* end : {".wq", ".wk", ".wv", ".wo"})
            matrices += selection.contains(sublayer_place(2 * l) + end);
        for (const char* end : {".w1", ".w2", ".w_gate", ".w_up", ".w_down"})
            if ((std::strlen(end) == 3) == (shape.feed_forward_maps == 2))
                matrices += selection.contains(sublayer_place(2 * l + 1) + end);
        for (int k : {2 * l, 2 * l + 1})
            sites += selection.contains(sublayer_place(k) + ".norm_in") ||
                     selection.contains(sublayer_place(k) + ".norm_out") ||
                     selection.contains(sublayer_place(k) + ".norm_post");
    }
    for (const char* site : {"emb_norm", "final_norm"}) sites += selection.contains(site);
    part.states = share(selection.contains(state_place(0)) + attention + feed_forward, 2 * depth + 1);
    part.sublayers = share(attention + feed_forward, 2 * depth);
    part.layers = share(layers, depth);
    part.touched = share(touched, depth);
    part.attention = share(attention, depth);
    part.feed_forward = share(feed_forward, depth);
    part.matrices = share(matrices, depth * (4 + shape.feed_forward_maps));
    part.sites = share(sites, 2 * depth);
    return part;
}

double selected_operations(const ProbeInfo& probe, ProbeShape shape, const PlaceSelection& selection) {
    if (has_places(probe)) shape.part = selected_parts(selection, shape);
    return probe.operations(shape);
}

}  // namespace normscope
