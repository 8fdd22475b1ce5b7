// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <QString>

namespace normscope::test {

/// The message of the InputError that the call throws; "accepted" where it throws none.
template <class Call>
QString rejected(Call&& call) {
    try {
        call();
    } catch (const InputError& error) {
        return QString::fromUtf8(error.what());
    }
    return "accepted";
}

}  // namespace normscope::test
