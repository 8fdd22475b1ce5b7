// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/drawers/help_drawer.h"

#include "widgets/drawers/example_image.h"
#include "widgets/figures/figure.h"
#include "widgets/figures/panels/panel_reading.h"
#include "widgets/plots/glyph.h"
#include "widgets/plots/palette_theme.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QRegularExpression>
#include <QTextBrowser>
#include <QUrl>
#include <algorithm>

namespace normscope::widgets {

namespace {

/// "h_k" and "2^-11" with lowered and raised letters, as HTML.
QString typeset(const QString& formula) {
    static const QRegularExpression lowered(QStringLiteral("_([\\p{L}\\p{N}∞]+)"));
    static const QRegularExpression raised(QStringLiteral("\\^(-?[\\p{L}\\p{N}]+|\\([^)]*\\))"));
    QString html = formula.toHtmlEscaped();
    html.replace(lowered, QStringLiteral("<sub>\\1</sub>"));
    html.replace(raised, QStringLiteral("<sup>\\1</sup>"));
    return html;
}

/// A heading with its text; nothing where there is no text.
QString section(const QString& heading, const QString& text, const QString& style = {}) {
    if (text.isEmpty()) return {};
    QString html = QStringLiteral("<p style='margin: 10px 0 2px 0'><b>%1</b></p>").arg(heading);
    for (const QString& line : text.split(u'\n', Qt::SkipEmptyParts))
        html += QStringLiteral("<p style='margin: 0 0 6px 0; %1'>%2</p>").arg(style, typeset(line));
    return html;
}

}  // namespace

HelpDrawer::HelpDrawer(QWidget* over, QWidget* parent)
    : Drawer(over, kWidth, parent), title_(new QLabel(this)), text_(new QTextBrowser(this)) {
    setObjectName(QStringLiteral("helpDrawer"));
    setAccessibleName(tr("Help"));
    QFont bold = title_->font();
    bold.setBold(true);
    title_->setFont(bold);
    text_->setObjectName(QStringLiteral("helpText"));
    text_->setFrameShape(QFrame::NoFrame);
    text_->setAccessibleName(tr("Help"));
    auto* copy = new QPushButton(tr("Copy"), this);
    connect(copy, &QPushButton::clicked, this, [this] { QApplication::clipboard()->setText(text()); });
    auto* close = new GlyphButton(Glyph::Cross, tr("Close (Esc)"), this);
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    auto* heading = new QHBoxLayout;
    heading->addWidget(title_, 1);
    heading->addWidget(copy);
    heading->addWidget(close);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(14, 8, 8, 8);
    column->addLayout(heading);
    column->addWidget(text_, 1);
}

void HelpDrawer::explain(const Figure& figure) {
    title_->setText(figure.title);
    QString quantity = figure.quantity;
    if (!figure.unit.isEmpty()) quantity += QStringLiteral(" [%1]").arg(figure.unit);
    const PanelReading reading = panelReading(figure.panel.toStdString());
    const std::pair<QString, QString> parts[] = {
        {tr("Look for"), reading.look_for}, {tr("Means"), reading.means},  {tr("Quantity"), quantity},
        {tr("Formula"), figure.formula},    {tr("Source"), figure.source}, {tr("Erratum"), figure.erratum},
        {tr("Shown now"), figure.summary},
    };
    QString html;
    plain_ = figure.title;
    for (const auto& [heading, text] : parts) {
        html +=
            section(heading, text, heading == tr("Formula") ? QStringLiteral("font-size: 14px") : QString());
        if (!text.isEmpty()) plain_ += u'\n' + heading + u'\n' + text;
        if (heading == tr("Means")) html += exampleHtml(figure.panel);
    }
    text_->setHtml(html);
    appear();
}

/// The image is a resource of the text; what it shows is in the plain text too. Empty where there is none.
QString HelpDrawer::exampleHtml(const QString& panel) {
    const std::optional<PanelExample> example = panelExample(panel.toStdString());
    if (!example) return {};
    constexpr int kExampleWidth = kWidth - 60;  // next to a scroll bar
    QFont small = font();
    small.setPixelSize(11);
    const QImage image = exampleImage(*example, panel == QLatin1String("training"), themeOf(palette()), small,
                                      kExampleWidth, devicePixelRatioF());
    text_->document()->addResource(QTextDocument::ImageResource, QUrl(QStringLiteral("example")), image);
    QString caption = tr("The default comparison after its last step, on one scale");
    if (!example->reduced_by.isEmpty()) caption += QStringLiteral("; ") + example->reduced_by;
    plain_ += u'\n' + tr("Example") + u'\n' + exampleText(*example) + u'\n' + caption;
    return section(tr("Example"), caption) +
           QStringLiteral("<p><img src='example' width='%1' height='%2'></p>")
               .arg(kExampleWidth)
               .arg(qRound(image.height() / image.devicePixelRatio()));
}

QString HelpDrawer::text() const {
    return plain_;
}

}  // namespace normscope::widgets
