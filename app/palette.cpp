// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/palette.h"

#include "widgets/plots/theme.h"

namespace normscope::app {

QPalette windowPalette(bool dark) {
    using widgets::Theme;
    const Theme theme = Theme::make(dark ? Theme::Kind::Dark : Theme::Kind::Light);
    const QColor window = dark ? theme.background.lighter(125) : QColor(0xf0, 0xf1, 0xf3);
    const QColor button = dark ? theme.background.lighter(160) : QColor(0xe4, 0xe6, 0xea);
    QPalette palette(button, window);
    for (const auto role :
         {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::ToolTipText})
        palette.setColor(role, theme.text);
    palette.setColor(QPalette::Base, theme.background);
    palette.setColor(QPalette::AlternateBase, window);
    palette.setColor(QPalette::ToolTipBase, dark ? button : QColor(0xff, 0xff, 0xf0));
    palette.setColor(QPalette::PlaceholderText, theme.muted);
    const QColor accent = dark ? QColor(0x3d, 0x7e, 0xd0) : QColor(0x1f, 0x66, 0xc1);
    palette.setColor(QPalette::Highlight, accent);
    palette.setColor(QPalette::HighlightedText, Qt::white);
    palette.setColor(QPalette::Link, dark ? QColor(0x7f, 0xb4, 0xff) : accent);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, theme.muted);
    return palette;
}

}  // namespace normscope::app
