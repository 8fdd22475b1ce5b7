// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>
#include <QList>
#include <functional>
#include <vector>

class QAction;
class QLineEdit;
class QListWidget;

namespace normscope::widgets {

/// Something else that Ctrl+K finds: a knob, a panel, a preset.
struct SearchEntry {
    QString text;
    std::function<void()> run;
};

/// Ctrl+K: type a few letters, Enter runs the first entry that contains them all. Also the shortcut sheet
/// (Ctrl+/): all commands with their keys.
class CommandSearch : public QDialog {
    Q_OBJECT
  public:
    /// The commands come first, then the entries.
    CommandSearch(const QList<QAction*>& actions, std::vector<SearchEntry> entries, QWidget* parent);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void filter(const QString& typed);
    void runCurrent();

    std::vector<SearchEntry> all_;
    QLineEdit* input_;
    QListWidget* list_;
};

}  // namespace normscope::widgets
