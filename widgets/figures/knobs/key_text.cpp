// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/knobs/key_text.h"

#include <cmath>

namespace normscope::widgets {

QString keyText(const FieldValue& value) {
    if (is_absent(value)) return {};
    const auto* text = std::get_if<std::string>(&value);
    return QString::fromStdString(text ? *text : value_text(value));
}

FieldValue keyValue(KeyRef key, double number) {
    if (!key->type.is_integer() || number != std::floor(number) || std::abs(number) > 9007199254740992.0)
        return number;
    if (number < 0) return static_cast<std::int64_t>(number);
    return static_cast<std::uint64_t>(number);
}

}  // namespace normscope::widgets
