// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace normscope {

/// The places of a stack that a probe measures: shell patterns (POSIX fnmatch; `*` matches dots too) over the
/// names of its tensors and of what holds them: "blocks.3", "blocks.3.attn", "blocks.*.norm_in". A pattern
/// selects the places whose name, or a prefix of it that ends before a dot, it matches: "blocks.3" selects
/// all of block 3. Without patterns everything is selected.
class PlaceSelection {
  public:
    PlaceSelection() = default;
    /// Patterns separated by commas; an empty text selects everything. Throws InputError whose message begins
    /// with `where`.
    static PlaceSelection parse(const std::string& text, const std::string& where);

    const std::vector<std::string>& patterns() const { return patterns_; }
    bool everything() const { return patterns_.empty(); }
    bool contains(const std::string& place) const;
    /// InputError names the first pattern that selects no place of a stack of this depth.
    void check(int depth, const std::string& where) const;
    /// The same without the patterns that select no place of a stack of this depth.
    PlaceSelection within(int depth) const;
    /// "blocks.0, blocks.11.*"
    std::string text() const;
    bool operator==(const PlaceSelection&) const = default;

  private:
    std::vector<std::string> patterns_;
};

/// "blocks.3"
std::string layer_place(int layer);
/// "blocks.3.attn", "blocks.3.ffn" of the sub-layer, counted from 0.
std::string sublayer_place(int sublayer);
/// "embedding" of hidden state 0, else the sub-layer before the hidden state.
std::string state_place(int state);
/// The names that a stack of this depth has under any scheme, activation and position, so that a selection is
/// valid for all runs that differ in these alone.
std::vector<std::string> place_names(int depth);

}  // namespace normscope
