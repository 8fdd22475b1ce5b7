// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/spec/figure_spec.h"

#include <QDialog>
#include <memory>

class QComboBox;
class QCheckBox;
class QDoubleSpinBox;
class QLabel;

namespace normscope::app {

/// Ctrl+E: size in mm, text in pt, format, legend, with a preview in true size that marks what overlaps. The
/// specification, from which `normscope figure --spec` redraws the figure, is saved next to it.
class ExportDialog : public QDialog {
    Q_OBJECT
  public:
    /// `spec` describes the figure but for its paper; without sessions (none saved yet) it is not offered.
    ExportDialog(std::shared_ptr<const widgets::Figure> figure, const widgets::PlotViewState& view,
                 QString recipe, widgets::FigureSpec spec, QWidget* parent);

    widgets::ExportOptions options() const;
    /// The specification as it would be saved to this file.
    widgets::FigureSpec specFor(const QString& path) const;
    /// What overlaps in the figure as it would be written; the preview marks it.
    const std::vector<widgets::Collision>& collisions() const { return collisions_; }

  private:
    void preview();
    void save();

    std::shared_ptr<const widgets::Figure> figure_;
    widgets::PlotViewState view_;
    QString recipe_;
    widgets::FigureSpec spec_;
    std::vector<widgets::Collision> collisions_;
    QComboBox *format_, *colours_, *legend_;
    QDoubleSpinBox *width_, *height_, *font_;
    QCheckBox *title_, *ratio_, *outlines_, *with_spec_;
    QLabel *preview_, *problems_;
};

}  // namespace normscope::app
