// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QApplication>
#include <QPointer>
#include <QWidget>

namespace normscope::widgets {

/// The focus of what lies over the panels goes back to where it was. Qt would give it to the next widget in
/// the order of Tab, a run's chip, which keeps Space, the key of the training, for itself. Interface thread.
class FocusReturn {
  public:
    /// Before `over` is shown.
    void showing(const QWidget& over) {
        QWidget* now = QApplication::focusWidget();
        if (now && !over.isAncestorOf(now) && now != &over) before_ = now;
    }
    /// Before it is hidden.
    void hiding(const QWidget& over) {
        const QWidget* now = QApplication::focusWidget();
        if (!now || (now != &over && !over.isAncestorOf(now))) return;
        if (before_ && before_->isVisible()) before_->setFocus(Qt::OtherFocusReason);
    }

  private:
    QPointer<QWidget> before_;
};

}  // namespace normscope::widgets
