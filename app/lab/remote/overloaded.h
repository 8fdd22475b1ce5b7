// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace normscope::app {

/// Several lambdas as one function, for std::visit: one for each alternative, `auto` for the others.
template <class... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace normscope::app
