// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>
#include <QList>

class QAction;
class QLineEdit;
class QListWidget;

namespace normscope::app {

/// Ctrl+K: type a few letters, Enter runs the first command that contains them all. Also the shortcut sheet
/// (Ctrl+/): all commands with their keys.
class CommandSearch : public QDialog {
    Q_OBJECT
  public:
    CommandSearch(const QList<QAction*>& actions, QWidget* parent);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void filter(const QString& typed);
    void runCurrent();

    QList<QAction*> actions_;
    QLineEdit* input_;
    QListWidget* list_;
};

}  // namespace normscope::app
