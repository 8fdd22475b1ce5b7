// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QWidget>

class QLabel;
class QPushButton;
class QScrollArea;

namespace normscope::app {

class GalleryMeasures;
class GalleryRuns;

/// The selected entry of the gallery: the paper's statement, its sweep in words, its measures, and the
/// buttons that train it.
class GalleryDetails : public QWidget {
    Q_OBJECT
  public:
    GalleryDetails(GalleryRuns& runs, QWidget* parent);

    /// Of this entry; empty: none.
    void setEntry(const QString& id);
    /// What is measured, and what can be done now.
    void refresh();
    const QString& id() const { return id_; }
    GalleryMeasures* measures() const { return measures_; }

  Q_SIGNALS:
    void sweepRequested(const QString& folder);

  private:
    void press();
    void showButtons();

    GalleryRuns& runs_;
    QString id_;
    QLabel *title_, *reason_, *problem_, *statement_, *sweep_;
    QPushButton *run_, *again_, *map_;
    QScrollArea* scrolled_;
    GalleryMeasures* measures_;
};

}  // namespace normscope::app
