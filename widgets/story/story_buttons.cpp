// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/story/story_buttons.h"

#include "widgets/common/text_size.h"
#include "widgets/plots/glyph.h"
#include "widgets/plots/palette_theme.h"

#include <QAbstractButton>
#include <QEvent>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <algorithm>
#include <numeric>

namespace normscope::widgets {

namespace {

constexpr int kButtons = 3;                                                          // of single stories
constexpr int kStoryButtonsHeight = 30, kStoryButtonsGap = 6, kStoryButtonsTop = 3;  // px
constexpr int kStoryButtonsPad = 10, kStoryButtonsGlyph = 12, kGlyphGap = 6;         // in a button
constexpr int kStoryButtonsText = 12, kStoryButtonsSmall = 11, kCaption = 96;  // texts; the caption's width

}  // namespace

/// A glyph and a title, the whole of it.
class StoryButton : public QAbstractButton {
  public:
    StoryButton(Glyph glyph, const QString& title, QWidget* parent) : QAbstractButton(parent), glyph_(glyph) {
        setAttribute(Qt::WA_Hover);
        setFocusPolicy(Qt::TabFocus);
        setText(title);
        setFont(sized(font(), kStoryButtonsText));
    }
    /// A number at the right, in the muted colour.
    void setCount(qsizetype count) { count_ = QString::number(count); }
    QSize sizeHint() const override {
        const int count = count_.isEmpty() ? 0 : kGlyphGap + fontMetrics().horizontalAdvance(count_);
        return {2 * kStoryButtonsPad + kStoryButtonsGlyph + kGlyphGap +
                    fontMetrics().horizontalAdvance(text()) + count + 2,
                kStoryButtonsHeight};
    }

  protected:
    bool event(QEvent* event) override {
        if (keepsSpace(this, event)) {
            event->accept();
            return true;
        }
        return QAbstractButton::event(event);
    }
    void paintEvent(QPaintEvent*) override {
        const Theme theme = themeOf(palette());
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(hasFocus() || underMouse() ? theme.text : theme.grid, hasFocus() ? 2 : 1));
        painter.setBrush(isDown() ? theme.grid : theme.background);
        painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 6, 6);
        paintGlyph(painter,
                   QRectF(kStoryButtonsPad, (height() - kStoryButtonsGlyph) / 2.0, kStoryButtonsGlyph,
                          kStoryButtonsGlyph),
                   glyph_, theme.text);
        const QRect line(kStoryButtonsPad + kStoryButtonsGlyph + kGlyphGap, 0,
                         width() - 2 * kStoryButtonsPad - kStoryButtonsGlyph - kGlyphGap, height());
        painter.setPen(theme.text);
        painter.drawText(line, Qt::AlignVCenter | Qt::AlignLeft, text());
        painter.setPen(theme.muted);
        painter.drawText(line, Qt::AlignVCenter | Qt::AlignRight, count_);
    }

  private:
    Glyph glyph_;
    QString count_;
};

StoryButtons::StoryButtons(QWidget* parent)
    : QWidget(parent),
      all_(new StoryButton(Glyph::Caret, tr("All stories"), this)),
      caption_(new QLabel(this)),
      menu_(new QMenu(this)) {
    setObjectName(QStringLiteral("storyButtons"));
    setAccessibleName(tr("Stories"));
    all_->setObjectName(QStringLiteral("allStories"));
    all_->setToolTip(tr("Comparisons, explained step by step"));
    caption_->setFont(sized(font(), kStoryButtonsSmall));
    caption_->setForegroundRole(QPalette::PlaceholderText);  // muted
    caption_->setWordWrap(true);
    caption_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    connect(all_, &QAbstractButton::clicked, this,
            [this] { menu_->popup(all_->mapToGlobal(QPoint(0, all_->height()))); });
    connect(menu_, &QMenu::triggered, this,
            [this](QAction* action) { Q_EMIT storyChosen(action->data().toString()); });
}

void StoryButtons::setStories(const QStringList& names, const QStringList& titles, const QString& caption) {
    qDeleteAll(first_);
    first_.clear();
    menu_->clear();
    for (qsizetype i = 0; i < names.size(); ++i) {
        menu_->addAction(titles[i])->setData(names[i]);
        if (i >= kButtons) continue;
        auto* button = new StoryButton(Glyph::Play, titles[i], this);
        button->setObjectName(QStringLiteral("story%1").arg(i + 1));
        button->setAccessibleName(tr("Story: %1").arg(titles[i]));
        connect(button, &QAbstractButton::clicked, this,
                [this, name = names[i]] { Q_EMIT storyChosen(name); });
        first_.push_back(button);
    }
    all_->setCount(names.size());
    all_->setAccessibleName(tr("All stories, %1").arg(names.size()));
    if (!first_.empty()) setTabOrder(first_.back(), all_);
    caption_->setText(caption);
}

/// Those of a grid of so many columns and two rows, in the order of reading; of none, "All stories" alone.
std::vector<StoryButton*> StoryButtons::buttonsIn(int columns) const {
    const auto stories = std::min(first_.size(), std::size_t(columns == 0 ? 0 : 2 * columns - 1));
    std::vector<StoryButton*> buttons(first_.begin(), first_.begin() + std::ptrdiff_t(stories));
    buttons.push_back(all_);
    return buttons;
}

std::vector<int> StoryButtons::columnWidths(int columns) const {
    const std::vector<StoryButton*> buttons = buttonsIn(columns);
    std::vector<int> widths(std::size_t(std::max(1, columns)));
    for (std::size_t i = 0; i < buttons.size(); ++i) {
        int& width = widths[i % widths.size()];
        width = std::max(width, buttons[i]->sizeHint().width());
    }
    return widths;
}

int StoryButtons::minimumChipWidth() const {
    return columnWidths(0).front();
}

void StoryButtons::setSpace(int space) {
    for (const int columns : {2, 1, 0}) {
        const std::vector<int> widths = columnWidths(columns);
        const int width = std::accumulate(widths.begin(), widths.end(),
                                          static_cast<int>(widths.size() - 1) * kStoryButtonsGap);
        if (width > space) continue;
        place(columns, columns == 2 && width + 2 * kStoryButtonsGap + kCaption <= space);
        return show();
    }
    hide();
}

void StoryButtons::place(int columns, bool caption) {
    const std::vector<int> widths = columnWidths(columns);
    const std::vector<StoryButton*> shown = buttonsIn(columns);
    for (StoryButton* button : first_)
        button->setVisible(std::find(shown.begin(), shown.end(), button) != shown.end());
    int left = 0;
    for (std::size_t column = 0; column < widths.size(); ++column) {
        for (std::size_t i = column; i < shown.size(); i += widths.size())
            shown[i]->setGeometry(left,
                                  kStoryButtonsTop + static_cast<int>(i / widths.size()) *
                                                         (kStoryButtonsHeight + kStoryButtonsGap),
                                  widths[column], kStoryButtonsHeight);
        left += widths[column] + kStoryButtonsGap;
    }
    caption_->setVisible(caption);
    caption_->setGeometry(left + kStoryButtonsGap, kStoryButtonsTop, kCaption,
                          2 * kStoryButtonsHeight + kStoryButtonsGap);
    setFixedWidth(caption ? left + kStoryButtonsGap + kCaption : left - kStoryButtonsGap);
}

}  // namespace normscope::widgets
