// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/export_dialog.h"

#include "app/settings.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollArea>
#include <array>

namespace normscope::app {

namespace {

constexpr std::array<const char*, 3> kEndings{"svg", "pdf", "png"};  // in the order of widgets::FileFormat

QDoubleSpinBox* number(QWidget* parent, double low, double high, double value, const QString& unit,
                       const char* name) {
    auto* box = new QDoubleSpinBox(parent);
    box->setRange(low, high);
    box->setDecimals(1);
    box->setValue(value);
    box->setSuffix(QLatin1Char(' ') + unit);
    box->setObjectName(QLatin1String(name));
    return box;
}

}  // namespace

ExportDialog::ExportDialog(std::shared_ptr<const widgets::Figure> figure, const widgets::PlotViewState& view,
                           QString recipe, QWidget* parent)
    : QDialog(parent), figure_(std::move(figure)), view_(view), recipe_(std::move(recipe)) {
    setObjectName(QStringLiteral("exportDialog"));
    setWindowTitle(tr("Export %1").arg(figure_->title));
    const widgets::ExportOptions standard;
    format_ = new QComboBox(this);
    format_->addItems({QStringLiteral("SVG"), QStringLiteral("PDF"), QStringLiteral("PNG, 300 dpi")});
    colours_ = new QComboBox(this);
    colours_->setObjectName(QStringLiteral("exportColours"));
    for (const auto& [title, kind] : {std::pair{tr("for print"), widgets::Theme::Kind::Print},
                                      {tr("light, as on screen"), widgets::Theme::Kind::Light},
                                      {tr("dark, as on screen"), widgets::Theme::Kind::Dark}})
        colours_->addItem(title, static_cast<int>(kind));
    legend_ = new QComboBox(this);
    legend_->addItems({tr("at the line ends"), tr("below"), tr("none")});
    width_ = number(this, 10, 2000, standard.size_mm.width(), tr("mm"), "exportWidth");
    height_ = number(this, 10, 2000, standard.size_mm.height(), tr("mm"), "exportHeight");
    font_ = number(this, 2, 100, standard.font_pt, tr("pt"), "exportFont");
    title_ = new QCheckBox(tr("Title"), this);
    title_->setChecked(true);
    preview_ = new QLabel(this);
    preview_->setAlignment(Qt::AlignCenter);
    auto* scroll = new QScrollArea(this);
    scroll->setWidget(preview_);
    scroll->setWidgetResizable(true);
    scroll->setMinimumSize(420, 320);

    auto* form = new QFormLayout;
    form->addRow(tr("Format"), format_);
    form->addRow(tr("Width"), width_);
    form->addRow(tr("Height"), height_);
    form->addRow(tr("Text"), font_);
    form->addRow(tr("Colours"), colours_);
    form->addRow(tr("Run names"), legend_);
    form->addRow(QString(), title_);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Save | QDialogButtonBox::Cancel, this);
    connect(buttons, &QDialogButtonBox::accepted, this, &ExportDialog::save);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* left = new QVBoxLayout;
    left->addLayout(form);
    left->addStretch(1);
    left->addWidget(buttons);
    auto* row = new QHBoxLayout(this);
    row->addLayout(left);
    row->addWidget(scroll, 1);

    for (QDoubleSpinBox* box : {width_, height_, font_})
        connect(box, &QDoubleSpinBox::valueChanged, this, &ExportDialog::preview);
    for (QComboBox* box : {colours_, legend_})
        connect(box, &QComboBox::currentIndexChanged, this, &ExportDialog::preview);
    connect(title_, &QCheckBox::toggled, this, &ExportDialog::preview);
    preview();
}

widgets::ExportOptions ExportDialog::options() const {
    widgets::ExportOptions options;
    options.format = static_cast<widgets::FileFormat>(format_->currentIndex());
    options.size_mm = {width_->value(), height_->value()};
    options.font_pt = font_->value();
    options.theme = static_cast<widgets::Theme::Kind>(colours_->currentData().toInt());
    options.legend = static_cast<widgets::LegendPlace>(legend_->currentIndex());
    options.title = title_->isChecked();
    options.view = view_;
    options.metadata = recipe_;
    return options;
}

void ExportDialog::preview() {
    widgets::ExportOptions wanted = options();
    wanted.format = widgets::FileFormat::Png;
    wanted.dpi = std::clamp(static_cast<int>(physicalDpiX()), 30, 2400);  // true size on this screen
    wanted.metadata.clear();
    QPixmap pixmap;
    pixmap.loadFromData(widgets::renderFigure(*figure_, wanted), "PNG");
    preview_->setPixmap(pixmap);
}

void ExportDialog::save() {
    Settings settings;
    const QString ending = QLatin1String(kEndings[static_cast<std::size_t>(format_->currentIndex())]);
    const QString proposal = QDir(settings.lastFolder()).filePath(figure_->panel + QLatin1Char('.') + ending);
    const QString path =
        QFileDialog::getSaveFileName(this, tr("Export figure"), proposal, QStringLiteral("*.") + ending);
    if (path.isEmpty()) return;
    settings.setLastFolder(QFileInfo(path).absolutePath());
    try {
        widgets::exportFigure(*figure_, options(), path);
        accept();
    } catch (const std::exception& error) {
        QMessageBox::warning(this, windowTitle(), QString::fromUtf8(error.what()));
    }
}

}  // namespace normscope::app
