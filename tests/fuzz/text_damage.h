// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace normscope::fuzz {

using Random = std::mt19937_64;  // its sequence is fixed by the standard

/// Less than n; 0 where n is 0.
std::size_t below(Random& random, std::size_t n);

/// A JSON text with one to three kinds of damage that know its structure: values nested deeper, members twice
/// or lost, values of other types and of other seeds, numbers at and beyond every limit, NULs, control
/// characters and bytes that are no UTF-8 in texts and keys; or that do not: bits, cuts, pieces moved.
std::string damaged_text(const std::vector<std::string>& seeds, std::size_t seed, Random& random);

/// The same for one text that is no JSON as a whole ("stack.depth=[1]").
std::string damaged_bytes(std::string text, Random& random);

}  // namespace normscope::fuzz
