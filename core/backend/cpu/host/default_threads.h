// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace normscope {

/// The threads of a ThreadPool that is given no number: one per core that the process may use
/// (available_cores.h) until a program that takes --threads sets it. 0 = one per core again. Any thread.
void set_default_threads(int threads);
int default_threads();

}  // namespace normscope
