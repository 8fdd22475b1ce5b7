// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// Asserts, as release builds do, something false that counts how often it is evaluated.
void assert_in_release_build(int& evaluated);
