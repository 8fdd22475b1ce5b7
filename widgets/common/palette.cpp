// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/palette.h"

#include "widgets/plots/theme.h"

namespace normscope::widgets {

QPalette windowPalette(bool dark) {
    const Theme theme = Theme::make(dark ? Theme::Kind::Dark : Theme::Kind::Light);
    const QColor window = dark ? theme.background.lighter(125) : QColor(0xf0, 0xf1, 0xf3);
    const QColor button = dark ? theme.background.lighter(160) : QColor(0xe4, 0xe6, 0xea);
    QPalette palette(button, window);
    for (const auto role :
         {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::ToolTipText})
        palette.setColor(role, theme.text);
    palette.setColor(QPalette::Base, theme.background);
    palette.setColor(QPalette::AlternateBase, window);
    palette.setColor(QPalette::ToolTipBase, dark ? button : theme.background);
    palette.setColor(QPalette::PlaceholderText, theme.muted);
    // Controls are neutral: hue belongs to the runs.
    const QColor solid = dark ? QColor(0xd9, 0xdc, 0xe0) : QColor(0x2b, 0x2f, 0x34);
    palette.setColor(QPalette::Highlight, solid);
    palette.setColor(QPalette::HighlightedText, dark ? QColor(0x14, 0x16, 0x18) : QColor(Qt::white));
    palette.setColor(QPalette::Link, theme.text);
    palette.setColor(QPalette::LinkVisited, theme.text);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, theme.muted);
    return palette;
}

}  // namespace normscope::widgets
