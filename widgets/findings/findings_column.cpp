// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/findings/findings_column.h"

#include "widgets/accessibility/accessible_role.h"
#include "widgets/common/text_size.h"
#include "widgets/plots/colour_map.h"
#include "widgets/plots/glyph.h"
#include "widgets/plots/palette_theme.h"

#include <QHelpEvent>
#include <QLabel>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

namespace normscope::widgets {

namespace {

constexpr int kRule = 3, kFindingsColumnIndent = 12;  // px, the rule and the left edge of the texts
constexpr int kFindingsColumnGap = 8, kUnitGap = 4;   // between numbers, before a unit
constexpr int kMinCell = 76;                          // "loss, step 888" does not shift its neighbours
constexpr int kFindingsColumnSmall = 11, kFindingsColumnText = 12, kFindingsColumnNumber = 20;
constexpr int kNumberTop = 14, kCaptionTop = 41, kNoteTop = 56, kFindingsColumnLine = 15;
constexpr int kFindingsColumnGlyph = 10, kGlyphPitch = 13, kFindingsColumnWordGap = 4;
constexpr int kMinGroup = 122;  // groups form even columns
constexpr std::size_t kMaxGlyphs = 6;
constexpr int kFindingsColumnMaxName = 220;  // px, before it is elided

QFont semibold(const QFont& font, int px) {
    QFont made = sized(font, px);
    made.setWeight(QFont::DemiBold);
    return made;
}

int widthIn(const QFont& font, const QString& text) {
    return text.isEmpty() ? 0 : QFontMetrics(font).horizontalAdvance(text) + 1;
}

int valueWidth(const BandNumber& number, const QFont& font) {
    const int unit = widthIn(sized(font, kFindingsColumnSmall), number.unit);
    return widthIn(semibold(font, kFindingsColumnNumber), number.value) + (unit > 0 ? kUnitGap + unit : 0);
}

int cellWidth(const BandNumber& number, const QFont& font) {
    const QFont small = sized(font, kFindingsColumnSmall);
    return std::max(
        {kMinCell, valueWidth(number, font), widthIn(small, number.caption), widthIn(small, number.note)});
}

/// One of each number, left to right, also of those that the column is too narrow for.
std::vector<QRect> cells(const ColumnContent& content, const QFont& font) {
    std::vector<QRect> all;
    int left = kFindingsColumnIndent;
    for (const BandNumber& number : content.numbers) {
        all.emplace_back(left, kNumberTop, cellWidth(number, font),
                         kNoteTop + kFindingsColumnLine - kNumberTop);
        left += all.back().width() + kFindingsColumnGap;
    }
    return all;
}

/// One a run while they are few, else one of each kind.
std::vector<RunState> glyphsOf(const ColumnContent& content) {
    std::vector<RunState> states = content.outcomes;
    if (states.size() <= kMaxGlyphs) return states;
    std::sort(states.begin(), states.end());
    states.erase(std::unique(states.begin(), states.end()), states.end());
    return states;
}

bool isFailure(RunState state) {
    return state == RunState::Diverged || state == RunState::Collapsed || state == RunState::Stalled ||
           state == RunState::Failed;
}

QFont outcomeFont(const ColumnContent& content, const QFont& font) {
    return std::any_of(content.outcomes.begin(), content.outcomes.end(), isFailure)
               ? semibold(font, kFindingsColumnSmall)
               : sized(font, kFindingsColumnSmall);
}

}  // namespace

FindingsColumn::FindingsColumn(QWidget* parent) : QWidget(parent), headline_(new QLabel(this)) {
    setAccessibleRole(this, QAccessible::Grouping);
    headline_->setObjectName(QStringLiteral("headline"));
    headline_->setTextFormat(Qt::RichText);
    headline_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    headline_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::LinksAccessibleByMouse |
                                       Qt::LinksAccessibleByKeyboard);
    headline_->setFocusPolicy(Qt::TabFocus);
    headline_->hide();
    connect(headline_, &QLabel::linkActivated, this, &FindingsColumn::whyRequested);
}

int FindingsColumn::widthOf(const ColumnContent& content, const QFont& font) {
    if (!content.headline.title.empty()) return kHeadlineWidth;
    const auto all = cells(content, font);
    const int numbers = all.empty() ? 0 : all.back().right() + 1;
    const int outcomes =
        content.outcomes.empty()
            ? 0
            : std::max(kMinGroup,
                       kFindingsColumnIndent + static_cast<int>(glyphsOf(content).size()) * kGlyphPitch +
                           kFindingsColumnWordGap + widthIn(outcomeFont(content, font), content.outcome));
    const int name =
        std::min(kFindingsColumnMaxName, widthIn(semibold(font, kFindingsColumnSmall), content.name));
    return std::max({numbers, outcomes, kFindingsColumnIndent + name});
}

void FindingsColumn::setContent(const ColumnContent& content) {
    if (content == content_) return;
    content_ = content;
    QStringList description;
    for (const BandNumber& number : content.numbers)
        description
            << QStringList{number.caption, number.value, number.unit, number.note}.join(u' ').simplified();
    if (!content.outcome.isEmpty()) description << content.outcome;
    fitHeadline();
    if (!content.headline.title.empty()) description.prepend(QString::fromStdString(content.headline.title));
    if (!content.findings.isEmpty()) description << content.findings.split(u'\n');
    setAccessibleName(content.name);
    setAccessibleDescription(description.join(QStringLiteral(". ")));
    update();
}

QColor FindingsColumn::nameColour() const {
    return readable(themeOf(palette()).run(content_.hue), palette().color(QPalette::Window));
}

QString FindingsColumn::text() const {
    QStringList lines{content_.name};
    lines << QString::fromStdString(content_.headline.title);
    for (const BandNumber& number : content_.numbers)
        lines << QStringList{number.value, number.unit, number.caption, number.note}.join(u' ').simplified();
    lines << content_.outcome;
    lines.removeAll(QString());
    return lines.join(u'\n');
}

QString FindingsColumn::tipAt(const QPoint& at) const {
    QString tip = content_.name;
    const auto all = cells(content_, font());
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].contains(at)) tip = content_.numbers[i].tip;
    return content_.findings.isEmpty() ? tip : tip + QStringLiteral("\n\n") + content_.findings;
}

/// The name, the title as far as it fits, and the link: a line.
void FindingsColumn::fitHeadline() {
    const QString title = QString::fromStdString(content_.headline.title);
    headline_->setVisible(!title.isEmpty());
    if (title.isEmpty()) return;
    headline_->setGeometry(kFindingsColumnIndent, -1, width() - kFindingsColumnIndent,
                           kFindingsColumnLine + 3);
    const QFont name = semibold(font(), kFindingsColumnSmall), text = semibold(font(), kFindingsColumnText);
    const QString link = tr("Why?");
    const int space = headline_->width() - widthIn(name, content_.name) - widthIn(text, link) -
                      4 * QFontMetrics(text).horizontalAdvance(u' ');
    headline_->setText(
        QStringLiteral("<span style='font-size: %1px; font-weight: 600; color: %2'>%3</span>&nbsp; "
                       "<span style='font-size: %4px; font-weight: 600'>%5&nbsp; <a href='why' style='color: "
                       "%6'>%7</a></span>")
            .arg(kFindingsColumnSmall)
            .arg(nameColour().name(), content_.name.toHtmlEscaped())
            .arg(kFindingsColumnText)
            .arg(QFontMetrics(text).elidedText(title, Qt::ElideRight, std::max(0, space)).toHtmlEscaped(),
                 palette().color(QPalette::WindowText).name(), link));
    headline_->setAccessibleName(tr("%1: %2. Why?").arg(content_.name, title));
}

bool FindingsColumn::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), tipAt(help->pos()), this);
    return true;
}

void FindingsColumn::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) fitHeadline();
}

void FindingsColumn::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fitHeadline();
}

void FindingsColumn::paintEvent(QPaintEvent*) {
    const Theme theme = themeOf(palette());
    QPainter painter(this);
    painter.fillRect(0, 2, kRule, height() - 4, theme.run(content_.hue));
    if (headline_->isHidden()) {
        painter.setFont(semibold(font(), kFindingsColumnSmall));
        painter.setPen(nameColour());
        painter.drawText(
            QRect(kFindingsColumnIndent, 0, width() - kFindingsColumnIndent, kFindingsColumnLine),
            Qt::AlignLeft | Qt::AlignVCenter,
            painter.fontMetrics().elidedText(content_.name, Qt::ElideRight, width() - kFindingsColumnIndent));
    }
    const auto all = cells(content_, font());
    for (std::size_t i = 0; i < all.size() && all[i].right() < width(); ++i)
        paintNumber(painter, content_.numbers[i], all[i]);
    if (!content_.outcome.isEmpty()) paintOutcomes(painter);
}

void FindingsColumn::paintNumber(QPainter& painter, const BandNumber& number, const QRect& cell) const {
    const Theme theme = themeOf(palette());
    const QFont large = semibold(font(), kFindingsColumnNumber), small = sized(font(), kFindingsColumnSmall);
    const int baseline = cell.top() + QFontMetrics(large).ascent();
    painter.setFont(large);
    painter.setPen(number.draft ? theme.muted : theme.text);
    painter.drawText(cell.left(), baseline, number.value);
    painter.setFont(small);
    painter.setPen(theme.muted);
    painter.drawText(cell.left() + widthIn(large, number.value) + kUnitGap, baseline, number.unit);
    const int ascent = QFontMetrics(small).ascent();
    painter.drawText(cell.left(), kCaptionTop + ascent, number.caption);
    painter.drawText(cell.left(), kNoteTop + ascent, number.note);
}

void FindingsColumn::paintOutcomes(QPainter& painter) const {
    const Theme theme = themeOf(palette());
    int left = kFindingsColumnIndent;
    for (const RunState state : glyphsOf(content_)) {
        paintGlyph(painter, QRectF(left, kNoteTop + 2, kFindingsColumnGlyph, kFindingsColumnGlyph),
                   outcomeGlyph(state), theme.text);
        left += kGlyphPitch;
    }
    painter.setFont(outcomeFont(content_, font()));
    painter.setPen(theme.text);
    painter.drawText(left + kFindingsColumnWordGap, kNoteTop + painter.fontMetrics().ascent(),
                     content_.outcome);
}

}  // namespace normscope::widgets
