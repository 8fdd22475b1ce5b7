// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/findings/why_box.h"

#include "widgets/common/text_size.h"
#include "widgets/figures/panels/panel_registry.h"
#include "widgets/plots/colour_map.h"
#include "widgets/plots/palette_theme.h"
#include "widgets/runs/bar_button.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>

namespace normscope::widgets {

namespace {

constexpr int kWhyWidth = 560, kWhyMargin = 14, kWhyGap = 10;  // px
constexpr int kWhyTitle = 14, kWhyText = 14, kWhySmall = 11;
constexpr int kWhyPlotWidth = 190;  // of the buttons, so that the texts have one width

}  // namespace

WhyBox::WhyBox(QWidget* window) : QFrame(window) {
    setObjectName(QStringLiteral("whyBox"));
    setFrameShape(QFrame::Box);
    setAutoFillBackground(true);
    setFocusPolicy(Qt::StrongFocus);
    setFixedWidth(kWhyWidth);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(0, 0, 0, 0);
    hide();
}

QLabel* WhyBox::addText(const QString& text, int px, bool muted) {
    auto* label = new QLabel(text, page_);
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setFont(sized(font(), px));
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    if (muted) label->setForegroundRole(QPalette::PlaceholderText);
    text_ += (text_.isEmpty() ? QString() : QStringLiteral("\n")) + text;
    return label;
}

void WhyBox::addHead(const WhyContent& content) {
    auto* row = new QHBoxLayout;
    auto* dot = new QLabel(page_);
    dot->setFixedSize(4, 18);
    dot->setStyleSheet(QStringLiteral("background: %1").arg(themeOf(palette()).run(content.hue).name()));
    row->addWidget(dot);
    QLabel* title = addText(tr("%1: %2").arg(content.name, content.title), kWhyTitle, false);
    QFont semibold = title->font();
    semibold.setWeight(QFont::DemiBold);
    title->setFont(semibold);
    row->addWidget(title, 1);
    auto* close = new BarButton(tr("Close"), BarButton::Look::Flat, page_);
    close->setObjectName(QStringLiteral("whyClose"));
    close->setNote(tr("Esc"));
    connect(close, &QPushButton::clicked, this, &WhyBox::hide);
    row->addWidget(close);
    column_->addLayout(row);
}

void WhyBox::addLine(const WhyLine& line) {
    auto* row = new QHBoxLayout;
    row->setSpacing(kWhyGap);
    row->addWidget(addText(QString::fromStdString(line.text), kWhyText, false), 1);
    auto* plot = new BarButton(
        tr("%1, step %2").arg(panelInfo(line.panel).title).arg(std::max<std::int64_t>(line.evidence.step, 0)),
        BarButton::Look::Outlined, page_);
    plot->setObjectName(QStringLiteral("whyPlot"));
    plot->setToolTip(tr("Shows the plot of this number at its step"));
    plot->setFixedWidth(std::max(kWhyPlotWidth, plot->fullWidth()));
    connect(plot, &QPushButton::clicked, this, [this, line] {
        hide();
        Q_EMIT plotRequested(QString::fromStdString(line.panel), QString::fromStdString(line.quantity),
                             std::max<std::int64_t>(line.evidence.step, 0));
    });
    row->addWidget(plot, 0, Qt::AlignTop);
    column_->addLayout(row);
}

void WhyBox::showAt(const QPoint& top_left, const WhyContent& content) {
    delete page_;
    text_.clear();
    page_ = new QWidget(this);
    column_ = new QVBoxLayout(page_);
    column_->setContentsMargins(kWhyMargin, kWhyMargin, kWhyMargin, kWhyMargin);
    column_->setSpacing(kWhyGap);
    addHead(content);
    for (const WhyLine& line : content.card.lines) addLine(line);
    QStringList known;
    for (const std::string& more : {content.card.not_measured, content.card.false_alarms})
        if (!more.empty()) known << QString::fromStdString(more);
    if (!known.isEmpty()) column_->addWidget(addText(known.join(u' '), kWhySmall, true));
    layout()->addWidget(page_);
    page_->show();
    setAccessibleName(tr("Why: %1").arg(content.name));
    setAccessibleDescription(text_);
    setFixedHeight(page_->layout()->totalHeightForWidth(kWhyWidth - 2 * frameWidth()) + 2 * frameWidth());
    const QWidget* window = parentWidget();
    move(std::clamp(top_left.x(), 0, std::max(0, window->width() - width())),
         std::clamp(top_left.y(), 0, std::max(0, window->height() - height())));
    raise();
    show();
    setFocus();
}

void WhyBox::setVisible(bool visible) {
    if (visible != isVisible()) visible ? focus_.showing(*this) : focus_.hiding(*this);
    QFrame::setVisible(visible);
}

QString WhyBox::text() const {
    return text_;
}

/// Esc is the box's, also where the window has a command on it.
bool WhyBox::event(QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride &&
        static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
        event->accept();
        return true;
    }
    return QFrame::event(event);
}

void WhyBox::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape)
        hide();
    else
        QFrame::keyPressEvent(event);
}

}  // namespace normscope::widgets
