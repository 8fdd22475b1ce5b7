// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace normscope::widgets {

/// As the text of an XML element. Quotes stay: a recipe is mostly quotes.
inline QString xmlText(QString text) {
    return text.replace(u'&', QLatin1String("&amp;"))
        .replace(u'<', QLatin1String("&lt;"))
        .replace(u'>', QLatin1String("&gt;"));
}

}  // namespace normscope::widgets
