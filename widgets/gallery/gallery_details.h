// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QWidget>

class QLabel;
class QPushButton;
class QScrollArea;

namespace normscope::widgets {

class GalleryMeasures;
struct GalleryRow;

/// The selected entry of the gallery: the paper's statement, its sweep in words, its measures, and the
/// buttons that train it.
class GalleryDetails : public QWidget {
    Q_OBJECT
  public:
    explicit GalleryDetails(QWidget* parent);

    /// Of this entry, what is measured, and what can be done now; null: none.
    void setRow(const GalleryRow* row);
    /// The list was replaced: the next entry is read again, also under the same id.
    void forget() { id_.clear(); }
    const QString& id() const { return id_; }
    GalleryMeasures* measures() const { return measures_; }

  Q_SIGNALS:
    void runRequested(const QString& id);       ///< its runs that have not ended
    void runAgainRequested(const QString& id);  ///< all of them, in a new folder
    void stopRequested();
    void sweepRequested(const QString& id);
    void removeRequested(const QString& id);  ///< of an entry of the user

  private:
    void showButtons(const GalleryRow& row);

    bool running_ = false;
    QString id_;
    QLabel *title_, *reason_, *problem_, *statement_, *sweep_, *arms_, *recipe_;
    QPushButton *run_, *again_, *map_, *remove_;
    QScrollArea* scrolled_;
    GalleryMeasures* measures_;
};

}  // namespace normscope::widgets
