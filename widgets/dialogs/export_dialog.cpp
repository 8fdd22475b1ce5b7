// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/dialogs/export_dialog.h"

#include "widgets/dialogs/axis_limits.h"
#include "widgets/dialogs/save_dialog.h"
#include "widgets/export/figure_exporter.h"
#include "widgets/figures/save_bytes.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <algorithm>
#include <array>

namespace normscope::widgets {

namespace {

constexpr std::array<const char*, 3> kEndings{"svg", "pdf", "png"};  // in the order of FileFormat

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

ExportDialog::ExportDialog(std::shared_ptr<const Figure> figure, const PlotViewState& view, QString recipe,
                           FigureSpec spec, QWidget* parent)
    : QDialog(parent),
      figure_(std::move(figure)),
      view_(view),
      recipe_(std::move(recipe)),
      spec_(std::move(spec)) {
    setObjectName(QStringLiteral("exportDialog"));
    setWindowTitle(tr("Export %1").arg(figure_->title));
    const ExportOptions standard;
    format_ = new QComboBox(this);
    format_->addItems({QStringLiteral("SVG"), QStringLiteral("PDF"), QStringLiteral("PNG, 300 dpi")});
    colours_ = new QComboBox(this);
    colours_->setObjectName(QStringLiteral("exportColours"));
    for (const auto& [title, kind] : {std::pair{tr("for print"), Theme::Kind::Print},
                                      {tr("light, as on screen"), Theme::Kind::Light},
                                      {tr("dark, as on screen"), Theme::Kind::Dark}})
        colours_->addItem(title, static_cast<int>(kind));
    legend_ = new QComboBox(this);
    legend_->addItems({tr("at the line ends"), tr("below"), tr("none")});
    width_ = number(this, 10, 2000, standard.size_mm.width(), tr("mm"), "exportWidth");
    height_ = number(this, 10, 2000, standard.size_mm.height(), tr("mm"), "exportHeight");
    font_ = number(this, 2, 100, standard.font_pt, tr("pt"), "exportFont");
    const auto check = [this](const QString& text, bool on, const char* name) {
        auto* box = new QCheckBox(text, this);
        box->setChecked(on);
        box->setObjectName(QLatin1String(name));
        return box;
    };
    title_ = check(tr("Title"), true, "exportTitle");
    ratio_ = check(tr("Strip of ratios"), true, "exportRatio");
    ratio_->setEnabled(std::any_of(figure_->plots.begin(), figure_->plots.end(),
                                   [](const Plot& plot) { return plot.is_ratio; }));
    ratio_->setChecked(ratio_->isEnabled());  // else the specification would ask for a strip of its own
    outlines_ = check(tr("Text as outlines"), false, "exportOutlines");
    with_spec_ = check(tr("Specification (.json) next to it"), !spec_.sessions.isEmpty(), "exportSpec");
    with_spec_->setEnabled(!spec_.sessions.isEmpty());
    with_spec_->setToolTip(spec_.sessions.isEmpty()
                               ? tr("Save the session first (Ctrl+S): a specification names its file")
                               : tr("normscope figure --spec FILE.json redraws this figure"));
    title_text_ = new QLineEdit(this);
    title_text_->setObjectName(QStringLiteral("exportTitleText"));
    title_text_->setPlaceholderText(figure_->title);
    title_text_->setAccessibleName(tr("Text of the title"));
    title_text_->setMaxLength(200);
    limits_ = new AxisLimits(*figure_, view_, this);
    problems_ = new QLabel(this);
    problems_->setObjectName(QStringLiteral("exportProblems"));
    problems_->setWordWrap(true);
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
    form->addRow(title_, title_text_);
    form->addRow(tr("Limits"), limits_);
    for (QCheckBox* box : {ratio_, outlines_, with_spec_}) form->addRow(QString(), box);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Save | QDialogButtonBox::Cancel, this);
    save_ = buttons->button(QDialogButtonBox::Save);
    connect(buttons, &QDialogButtonBox::accepted, this, &ExportDialog::save);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* left = new QVBoxLayout;
    left->addLayout(form);
    left->addWidget(problems_);
    left->addStretch(1);
    left->addWidget(buttons);
    auto* row = new QHBoxLayout(this);
    row->addLayout(left);
    row->addWidget(scroll, 1);

    for (QDoubleSpinBox* box : {width_, height_, font_})
        connect(box, &QDoubleSpinBox::valueChanged, this, &ExportDialog::preview);
    for (QComboBox* box : {colours_, legend_})
        connect(box, &QComboBox::currentIndexChanged, this, &ExportDialog::preview);
    for (QCheckBox* box : {title_, ratio_, outlines_})
        connect(box, &QCheckBox::toggled, this, &ExportDialog::preview);
    connect(title_, &QCheckBox::toggled, title_text_, &QWidget::setEnabled);
    connect(title_text_, &QLineEdit::textChanged, this, &ExportDialog::preview);
    connect(limits_, &AxisLimits::changed, this, &ExportDialog::preview);
    preview();
}

ExportOptions ExportDialog::options() const {
    ExportOptions options;
    options.format = static_cast<FileFormat>(format_->currentIndex());
    options.size_mm = {width_->value(), height_->value()};
    options.font_pt = font_->value();
    options.theme = static_cast<Theme::Kind>(colours_->currentData().toInt());
    options.legend = static_cast<LegendPlace>(legend_->currentIndex());
    options.title = title_->isChecked();
    options.title_text = title_text_->text().trimmed();
    options.ratio = ratio_->isChecked();
    options.text_paths = outlines_->isChecked();
    options.view = limits_->applied();
    options.metadata = recipe_;
    return options;
}

void ExportDialog::preview() {
    ExportOptions wanted = options();
    wanted.format = FileFormat::Png;
    wanted.dpi = std::clamp(static_cast<int>(physicalDpiX()), 30, 2400);  // true size on this screen
    wanted.metadata.clear();
    QPixmap pixmap;
    pixmap.loadFromData(renderFigure(*figure_, wanted), "PNG");
    collisions_ = collisionsOf(*figure_, wanted);
    QPainter painter(&pixmap);
    painter.scale(wanted.dpi / kPaperUnitsPerInch, wanted.dpi / kPaperUnitsPerInch);
    painter.setPen(QPen(Theme::make(wanted.theme).bad, 8));
    for (const Collision& collision : collisions_) painter.drawRect(collision.where.adjusted(-8, -8, 8, 8));
    painter.end();
    preview_->setPixmap(pixmap);
    QStringList texts = collisionTexts(collisions_);
    if (const QString problem = limits_->problem(); !problem.isEmpty()) texts.prepend(problem);
    save_->setEnabled(limits_->problem().isEmpty());
    problems_->setText(
        texts.isEmpty() ? tr("No text overlaps at this size")
        : texts.size() <= 3
            ? texts.join(u'\n')
            : tr("%1\nand %n more", nullptr, int(texts.size()) - 3).arg(texts.mid(0, 3).join(u'\n')));
}

FigureSpec ExportDialog::specFor(const QString& path) const {
    FigureSpec spec = spec_;
    const QDir folder = QFileInfo(path).absoluteDir();
    for (QString& session : spec.sessions)
        session = folder.relativeFilePath(QFileInfo(session).absoluteFilePath());
    spec.paper = options();
    return spec;
}

void ExportDialog::save() {
    const QString ending = QLatin1String(kEndings[static_cast<std::size_t>(format_->currentIndex())]);
    const auto specOf = [](const QString& path) {
        const QFileInfo file(path);
        return file.dir().filePath(file.completeBaseName() + QStringLiteral(".json"));
    };
    const QString path =
        chooseSavePath(this, tr("Export figure"), figure_->panel + QLatin1Char('.') + ending, ending,
                       QStringLiteral("*.") + ending, [&](const QString& figure) {
                           return with_spec_->isChecked() ? QStringList{specOf(figure)} : QStringList();
                       });
    if (path.isEmpty()) return;
    try {
        exportFigure(*figure_, options(), path);
        if (with_spec_->isChecked()) {
            const QString json = specOf(path);
            saveBytes(json, figureSpecToJson(specFor(json)));
        }
        accept();
    } catch (const std::exception& error) {
        QMessageBox::warning(this, windowTitle(), QString::fromUtf8(error.what()));
    }
}

}  // namespace normscope::widgets
