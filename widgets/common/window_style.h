// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QIcon>
#include <QProxyStyle>

namespace normscope::widgets {

/// The style of the window's own buttons (BarButton) for every button of Qt's: those of dialogs, questions
/// and drawers. The default button is solid, the others outlined, a focused one has a ring. The rest is
/// Fusion. Interface thread.
class WindowStyle : public QProxyStyle {
    Q_OBJECT
  public:
    WindowStyle();

    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                       const QWidget* widget = nullptr) const override;
    void drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget = nullptr) const override;
    /// No icons on the buttons of dialogs.
    int styleHint(StyleHint hint, const QStyleOption* option = nullptr, const QWidget* widget = nullptr,
                  QStyleHintReturn* answer = nullptr) const override;
    /// Questions have their words, and no icon next to them.
    QIcon standardIcon(StandardPixmap which, const QStyleOption* option = nullptr,
                       const QWidget* widget = nullptr) const override;
    int pixelMetric(PixelMetric metric, const QStyleOption* option = nullptr,
                    const QWidget* widget = nullptr) const override;
};

}  // namespace normscope::widgets
