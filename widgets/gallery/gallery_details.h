// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QWidget>
#include <memory>
#include <vector>

class QLabel;
class QPushButton;
class QScrollArea;

namespace normscope::widgets {

struct Figure;
class GalleryMeasures;
struct GalleryRow;
class PlotView;

/// The selected entry of the gallery: the paper's statement, its sweep in words, its measures with the figure
/// of the selected one, and the buttons that train it.
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
    /// The figure of the selected measure, or of the first; hidden before a run has ended.
    PlotView* figure() const { return figure_; }

  Q_SIGNALS:
    void runRequested(const QString& id);       ///< its runs that have not ended
    void runAgainRequested(const QString& id);  ///< all of them, in a new folder
    void stopRequested();
    void sweepRequested(const QString& id);
    void removeRequested(const QString& id);  ///< of an entry of the user
    void exportRequested(const QString& id);  ///< the figure that is shown

  protected:
    void changeEvent(QEvent* event) override;

  private:
    void showButtons(const GalleryRow& row);
    void showFigure();
    void followTheme();

    bool running_ = false;
    QString id_;
    QLabel *title_, *reason_, *problem_, *statement_, *sweep_, *arms_, *recipe_;
    QPushButton *run_, *again_, *map_, *remove_;
    QScrollArea* scrolled_;
    GalleryMeasures* measures_;
    PlotView* figure_;
    QPushButton* export_;
    std::vector<std::shared_ptr<const Figure>> figures_;  ///< of the measures; empty: none has a value yet
};

}  // namespace normscope::widgets
