// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/spec/figure_spec.h"
#include "widgets/plots/collisions.h"

#include <QDialog>
#include <memory>

class QComboBox;
class QCheckBox;
class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace normscope::widgets {

class AxisLimits;

/// Ctrl+E: title, limits of the axes, size in mm, text in pt, format, legend, with a preview in true size
/// that marks what overlaps. The specification, from which `normscope figure --spec` redraws the figure, is
/// saved next to it.
class ExportDialog : public QDialog {
    Q_OBJECT
  public:
    /// `spec` describes the figure but for its paper; without sessions (none saved yet) it is not offered.
    ExportDialog(std::shared_ptr<const Figure> figure, const PlotViewState& view, QString recipe,
                 FigureSpec spec, QWidget* parent);

    ExportOptions options() const;
    /// The specification as it would be saved to this file.
    FigureSpec specFor(const QString& path) const;
    /// What overlaps in the figure as it would be written; the preview marks it.
    const std::vector<Collision>& collisions() const { return collisions_; }

  private:
    void preview();
    void save();

    std::shared_ptr<const Figure> figure_;
    PlotViewState view_;
    QString recipe_;
    FigureSpec spec_;
    std::vector<Collision> collisions_;
    QComboBox *format_, *colours_, *legend_;
    QDoubleSpinBox *width_, *height_, *font_;
    QCheckBox *title_, *ratio_, *outlines_, *with_spec_;
    QLineEdit* title_text_;
    AxisLimits* limits_;
    QPushButton* save_;
    QLabel *preview_, *problems_;
};

}  // namespace normscope::widgets
