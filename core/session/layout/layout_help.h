// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>

namespace normscope {

/// One object of a session file, for the reference: a group, a data set or an attribute. run_group.h writes
/// and reads them.
struct LayoutRow {
    const char* path;     ///< "/runs/{id}/steps/loss"; {…} is any name; an attribute follows an '@'
    const char* type;     ///< "float64 [steps]", "group", "text"
    const char* meaning;  ///< with the unit
};

/// Every object that a recording or a saved session may have, but the arrays of the probes (ProbeInfo) and
/// the tensors (core/model/parameters.h).
std::span<const LayoutRow> session_layout();

}  // namespace normscope
