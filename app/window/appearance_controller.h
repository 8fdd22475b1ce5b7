// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

class QMainWindow;

namespace normscope::widgets {
class Banner;
class KnobPanel;
class PanelGrid;
class Presentation;
class RunStrip;
class SideRail;
class TransportBar;
}  // namespace normscope::widgets

namespace normscope::app {

class SweepController;

/// How the window looks: theme, columns, the panel that fills it, presentation mode. Interface thread.
class AppearanceController : public QObject {
    Q_OBJECT
  public:
    struct Views {
        widgets::RunStrip* strip;
        QWidget* left;  ///< the column of stack and knobs
        widgets::PanelGrid* grid;
        widgets::SideRail* rail;
        widgets::TransportBar* transport;
        widgets::Presentation* presentation;
        widgets::Banner* banner;
        widgets::KnobPanel* knobs;
        QWidget* hint;  ///< the sentence of the basic window
    };
    AppearanceController(SweepController& sweeps, const Views& views, QMainWindow* window);

    bool isDark() const { return dark_; }
    void setDark(bool dark);
    /// Sets the theme from the command line: an opened session does not change it, the user can.
    void orderTheme(bool dark);
    /// Sets the theme of an opened session.
    void restoreTheme(bool dark);
    void toggleTheme();
    /// Two panels, four knobs and a sentence on what to do, or the whole window. Kept for the next start.
    void setBasic(bool basic);
    bool isBasic() const { return basic_; }
    void toggleBasic() { setBasic(!basic_); }
    /// Three columns and the right rail, for any width.
    void setWide(bool wide);
    void toggleRail();
    void togglePresentation();
    /// The current panel fills the window, or all are shown again.
    void focusCurrent();
    /// Closes what lies over the panels, else shows all panels: one thing each time.
    void resetFocus();
    /// The widths of the columns follow that of the window.
    void arrange();

  Q_SIGNALS:
    void presentationChanged();

  private:
    bool fitsWide() const;
    /// In the basic window, above its panels alone.
    void showHint();

    SweepController& sweeps_;
    const Views views_;
    QMainWindow* window_;
    bool dark_ = false, theme_ordered_ = false, wide_by_user_ = false, basic_ = false;
};

}  // namespace normscope::app
