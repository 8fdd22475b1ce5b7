// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

/// Fails the test function unless the run in `file` finished with the steps, losses, gradients and last
/// weights, bit for bit, of the run in `whole`, and has every sample once.
void compare_runs(const QString& file, const QString& whole);
