// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>
#include <QObject>
#include <QStringList>
#include <QUrl>

class QWidget;

namespace normscope::widgets {
class DropTarget;
}

namespace normscope::app {

class FilesController;
class Lab;

/// Files that are dropped on the window from a file manager: sessions, recordings, folders of a sweep,
/// recipes, models, texts. Interface thread.
class DropController : public QObject {
    Q_OBJECT
  public:
    struct Places {
        QWidget* area;   ///< the panels
        QWidget* strip;  ///< the chips: a session that is dropped there is added to the comparison
        QWidget* window;
        widgets::DropTarget* target;
    };
    DropController(Lab& lab, FilesController& files, const Places& places);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void take(const QStringList& paths, bool add);
    void addRecipe(const QString& path);
    void trainOn(const QString& text_file);

    Lab& lab_;
    FilesController& files_;
    const Places places_;
    QStringList dragged_;  ///< over the window; empty: nothing, or nothing for this controller
};

}  // namespace normscope::app
