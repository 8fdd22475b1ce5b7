// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/export/figure_exporter.h"

#include <QDialog>
#include <memory>

class QComboBox;
class QCheckBox;
class QDoubleSpinBox;
class QLabel;

namespace normscope::app {

/// Ctrl+E: size in mm, text in pt, format, legend, with a preview.
class ExportDialog : public QDialog {
    Q_OBJECT
  public:
    ExportDialog(std::shared_ptr<const widgets::Figure> figure, const widgets::PlotViewState& view,
                 QString recipe, QWidget* parent);

    widgets::ExportOptions options() const;

  private:
    void preview();
    void save();

    std::shared_ptr<const widgets::Figure> figure_;
    widgets::PlotViewState view_;
    QString recipe_;
    QComboBox *format_, *colours_, *legend_;
    QDoubleSpinBox *width_, *height_, *font_;
    QCheckBox* title_;
    QLabel* preview_;
};

}  // namespace normscope::app
