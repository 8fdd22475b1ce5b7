// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_result.h"

#include <cstddef>
#include <string>
#include <vector>

namespace normscope {

/// The sizes of a stack that lengths of axes follow from; 0 where unknown (a file without a readable recipe).
struct StackSizes {
    std::size_t depth = 0, heads = 0, d_model = 0;
};

/// An axis of a probe's array: the name that files carry and, where the stack decides it, the length.
struct Axis {
    const char* name;
    std::size_t (*length)(const StackSizes&) = nullptr;  ///< 0: unknown, or not for the stack to decide

    std::size_t expected(const StackSizes& sizes) const { return length ? length(sizes) : 0; }
};

namespace axis {
inline constexpr Axis hidden_state{"hidden_state",
                                   [](const StackSizes& s) { return s.depth ? 2 * s.depth + 1 : 0; }};
inline constexpr Axis sublayer{"sublayer", [](const StackSizes& s) { return 2 * s.depth; }};
inline constexpr Axis layer{"layer", [](const StackSizes& s) { return s.depth; }};
inline constexpr Axis layer_pair{"layer", [](const StackSizes& s) { return s.depth ? s.depth - 1 : 0; }};
inline constexpr Axis half{"sublayer", [](const StackSizes&) { return std::size_t{2}; }};  ///< attention, FFN
inline constexpr Axis end{"end", [](const StackSizes&) { return std::size_t{2}; }};  ///< largest, smallest
inline constexpr Axis head{"head", [](const StackSizes& s) { return s.heads; }};
inline constexpr Axis width{"index", [](const StackSizes& s) { return s.d_model; }};
inline constexpr Axis index{"index"};
inline constexpr Axis key{"key"};
inline constexpr Axis site{"site"};
inline constexpr Axis group{"group"};
inline constexpr Axis position{"position"};
inline constexpr Axis sequence{"sequence"};
}  // namespace axis

enum ArrayFlags : unsigned {
    kAveraged = 1,   ///< over sequences: NAME_error, of the same shape, accompanies it
    kMayBeNan = 2,   ///< NaN where the quantity is not defined or was not measured
    kAdded = 4,      ///< files of earlier versions lack it
    kOptional = 8,   ///< some shapes do not have it
    kWhole = 16,     ///< along the stack, yet of everything up to there: measured whole under a selection
    kNeedsAll = 32,  ///< of all places together: NaN under a selection
};

/// One array that a probe gives. The entries along the first axis (and the halves, matrices of a layer)
/// belong to places of the stack; under a selection (core/probe/interface/places.h) the others are NaN. An
/// array without such an axis, or kWhole, is of all places under any selection, unless it is kNeedsAll.
struct ArrayInfo {
    const char* name;
    std::vector<Axis> axes;  ///< without the samples'
    const char* meaning;     ///< a line of documentation
    unsigned flags = 0;
    const char* unit = "1";
    const char* part = "";  ///< along the layers: the part of a layer that it is of, "attn", "ffn", "gate"
};

/// A text stored with the arrays, one or several words; an attribute of the group in a file.
struct LabelInfo {
    const char* name;
    const char* meaning;
};

struct ProbeInfo;

/// How `result` differs from what its probe's row declares, one line each, "NAME: what": shapes, missing
/// arrays. For files: what a later version may add is not held against them.
std::vector<std::string> shape_problems(const ProbeInfo& probe, const ProbeResult& result,
                                        const StackSizes& sizes);

/// The same for a result that this program has just measured: arrays and labels that are not declared, axis
/// names, units and the order of things too.
std::vector<std::string> schema_problems(const ProbeInfo& probe, const ProbeResult& result,
                                         const StackSizes& sizes);

/// The declared array of that name; nullptr for an unknown one and for a NAME_error.
const ArrayInfo* find_array(const ProbeInfo& probe, const std::string& name);

/// The documentation of a probe, lines without line ends: id, title, what it needs, its arrays and labels.
std::vector<std::string> describe_probe(const ProbeInfo& probe);

}  // namespace normscope
