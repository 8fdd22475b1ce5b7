// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QApplication>
#include <QEvent>
#include <QStringList>
#include <QTest>

namespace normscope::test {

/// The widgets, by class, that are painted from now on: a widget, or with its children.
class Paints : public QObject {
  public:
    explicit Paints(const QWidget* root, bool with_children = true) : root_(root), children_(with_children) {
        QTest::qWait(50);  // what is still to be painted of before
        qApp->installEventFilter(this);
    }
    /// After the next images of the window.
    QStringList painted() {
        QTest::qWait(50);
        return painted_;
    }
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() != QEvent::Paint || !watched->isWidgetType()) return false;
        const auto* widget = static_cast<const QWidget*>(watched);
        if (widget == root_ || (children_ && root_->isAncestorOf(widget)))
            painted_ << QString::fromLatin1(widget->metaObject()->className());
        return false;
    }

  private:
    const QWidget* root_;
    bool children_;
    QStringList painted_;
};

}  // namespace normscope::test
