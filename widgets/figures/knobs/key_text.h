// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/keys.h"

#include <QString>

namespace normscope::widgets {

/// The value as `--set` takes it: a word or a text, a number, "true" or "false". Empty for an absent one.
QString keyText(const FieldValue& value);

/// A number of a slider in the type of its key. A key of whole numbers rejects any other.
FieldValue keyValue(KeyRef key, double number);

}  // namespace normscope::widgets
