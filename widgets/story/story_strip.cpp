// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/story/story_strip.h"

#include "widgets/accessibility/accessible_role.h"
#include "widgets/plots/glyph.h"
#include "widgets/plots/palette_theme.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QResizeEvent>
#include <QToolButton>
#include <algorithm>

namespace normscope::widgets {

namespace {

QString verdictText(StoryVerdict verdict) {
    switch (verdict) {
        case StoryVerdict::Holds:
            return StoryStrip::tr("Holds here.");
        case StoryVerdict::Fails:
            return StoryStrip::tr("Does not hold here.");
        default:
            return StoryStrip::tr("Not yet.");
    }
}

constexpr int kSpacing = 16;

}  // namespace

/// A disc a step: the one shown is solid, of the others those are ticked whose expectation held.
class StoryDots : public QWidget {
  public:
    explicit StoryDots(QWidget* parent) : QWidget(parent) { setTextSize(12); }
    void setSteps(std::vector<bool> held, std::size_t at) {
        held_ = std::move(held);
        count_ = static_cast<int>(held_.size());
        at_ = static_cast<int>(at);
        updateGeometry();
        update();
    }
    void setTextSize(int px) {
        QFont type = font();
        type.setPixelSize(px);
        type.setBold(true);
        setFont(type);
        side_ = px * 4 / 3 + 2;
        setFixedHeight(side_);
        updateGeometry();
    }
    QSize sizeHint() const override { return {count_ * (side_ + gap()) - gap(), side_}; }
    QSize minimumSizeHint() const override { return sizeHint(); }

  protected:
    void paintEvent(QPaintEvent*) override {
        const Theme theme = themeOf(palette());
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setFont(font());
        for (int i = 0; i < count_; ++i) {
            const QRectF disc(i * (side_ + gap()) + 0.5, 0.5, side_ - 1, side_ - 1);
            painter.setPen(QPen(i <= at_ ? palette().color(QPalette::Highlight) : theme.axis, 1));
            painter.setBrush(i == at_  ? palette().color(QPalette::Highlight)
                             : i < at_ ? palette().color(QPalette::Button)
                                       : QColor(Qt::transparent));
            painter.drawEllipse(disc);
            const double inset = 0.22 * side_;
            if (i != at_ && held_[static_cast<std::size_t>(i)]) {
                paintGlyph(painter, disc.adjusted(inset, inset, -inset, -inset), Glyph::Check, theme.text);
                continue;
            }
            painter.setPen(i == at_ ? palette().color(QPalette::HighlightedText) : theme.muted);
            painter.drawText(disc, Qt::AlignCenter, QString::number(i + 1));
        }
    }

  private:
    int gap() const { return side_ / 3; }
    std::vector<bool> held_;
    int count_ = 0, at_ = 0, side_ = 18;
};

StoryStrip::StoryStrip(QWidget* parent) : QFrame(parent) {
    setObjectName(QStringLiteral("storyStrip"));
    setFrameShape(QFrame::StyledPanel);
    setAccessibleRole(this, QAccessible::Grouping);
    setAccessibleName(tr("Story"));
    title_ = new QLabel(this);
    title_->setObjectName(QStringLiteral("storyTitle"));
    dots_ = new StoryDots(this);
    const auto label = [this](const char* name) {
        auto* made = new QLabel(this);
        made->setObjectName(QLatin1String(name));
        made->setWordWrap(true);
        made->setTextFormat(Qt::PlainText);
        made->setTextInteractionFlags(Qt::TextSelectableByMouse);
        return made;
    };
    text_ = label("storyText");
    expect_ = label("storyExpectation");
    expect_->setForegroundRole(QPalette::PlaceholderText);
    auto* row = new QHBoxLayout(this);
    row->setSpacing(kSpacing);
    auto* left = new QVBoxLayout;
    left->setSpacing(4);
    left->addStretch(1);
    left->addWidget(title_);
    left->addWidget(dots_);
    left->addStretch(1);
    row->addLayout(left);
    auto* words = new QVBoxLayout;
    words->setSpacing(2);
    words->addStretch(1);
    words->addWidget(text_);
    words->addWidget(expect_);
    words->addStretch(1);
    row->addLayout(words, 1);
    const auto button = [&](const QString& text, const char* name, void (StoryStrip::*slot)()) {
        auto* made = new QToolButton(this);
        made->setText(text);
        made->setObjectName(QLatin1String(name));
        made->setFocusPolicy(Qt::TabFocus);
        connect(made, &QToolButton::clicked, this, slot);
        row->addWidget(made, 0, Qt::AlignVCenter);
        buttons_.push_back(made);
        return made;
    };
    back_ = button(tr("Back"), "storyBack", &StoryStrip::previous);
    forward_ = button(tr("Next"), "storyNext", &StoryStrip::next);
    back_->setToolTip(tr("The previous step (Page up)"));
    forward_->setToolTip(tr("The next step (Page down)"));
    button(tr("Close"), "storyClose", &StoryStrip::end);
    setTextSize(12);
    hide();
}

void StoryStrip::start(const Story& story) {
    story_ = story;
    held_.assign(story.steps.size(), false);
    show();
    moveTo(0);
    keepHeight();
}

void StoryStrip::moveTo(std::size_t step) {
    if (!story_ || step >= story_->steps.size()) return;
    at_ = step;
    finding_ = {};
    title_->setText(QString::fromStdString(story_->title));
    if (story_->steps[at_].holds.empty()) held_[at_] = true;  // expects nothing
    showSteps();
    text_->setText(QString::fromStdString(story_->steps[at_].text));
    showExpectation();
    back_->setEnabled(at_ > 0);
    forward_->setEnabled(at_ + 1 < story_->steps.size());
    Q_EMIT stepShown();
}

std::string StoryStrip::panel() const {
    for (std::size_t step = story_ ? at_ + 1 : 0; step > 0; --step)
        if (const std::string& panel = story_->steps[step - 1].panel; !panel.empty()) return panel;
    return "gradients";
}

void StoryStrip::setFinding(const StoryFinding& finding) {
    finding_ = finding;
    if (finding.verdict == StoryVerdict::Holds) held_[at_] = true;
    showSteps();
    showExpectation();
}

void StoryStrip::setHeld(std::vector<bool> held) {
    if (!story_ || held.size() != held_.size()) return;
    held_ = std::move(held);
    showSteps();
}

void StoryStrip::showSteps() {
    dots_->setSteps(held_, at_);
    QString name = tr("Step %1 of %2").arg(at_ + 1).arg(held_.size());
    for (std::size_t i = 0; i < held_.size(); ++i)
        if (held_[i] && i != at_) name += tr(", %1 held").arg(i + 1);
    dots_->setAccessibleName(name);
}

QString StoryStrip::expectation(const StoryStep& step, StoryVerdict verdict) const {
    if (step.holds.empty()) return {};
    return tr("Expected: %1 %2").arg(QString::fromStdString(step.expect), verdictText(verdict));
}

void StoryStrip::showExpectation() {
    expect_->setText(expectation(story_->steps[at_], finding_.verdict));
    expect_->setVisible(!expect_->text().isEmpty());
    expect_->setToolTip(QString::fromStdString(finding_.line));
    setAccessibleDescription(text_->text() + u' ' + expect_->text());
}

void StoryStrip::setTextSize(int px) {
    const auto size = [px](QWidget* widget, bool bold) {
        QFont type = widget->font();
        type.setPixelSize(px);
        type.setBold(bold);
        widget->setFont(type);
    };
    size(title_, true);
    size(text_, true);
    size(expect_, false);
    for (QToolButton* button : buttons_) size(button, false);
    dots_->setTextSize(px);
    layout()->setContentsMargins(3 * px / 2 - 8, 4, 3 * px / 2 - 8, 4);
    keepHeight();
}

/// The height of the longest step, so that the plots stay where they are.
void StoryStrip::keepHeight() {
    if (!story_) return;
    layout()->activate();
    const int width = std::max(100, text_->width());
    const auto height = [width](const QLabel* label, const QString& text) {
        return text.isEmpty() ? 0
                              : QFontMetrics(label->font())
                                    .boundingRect(QRect(0, 0, width, 10000), Qt::TextWordWrap, text)
                                    .height();
    };
    int most = title_->sizeHint().height() + dots_->height() + 4;
    for (const StoryStep& step : story_->steps)
        most = std::max(most, height(text_, QString::fromStdString(step.text)) +
                                  height(expect_, expectation(step, StoryVerdict::Fails)) + 2);
    setFixedHeight(most + 14);
}

void StoryStrip::resizeEvent(QResizeEvent* event) {
    QFrame::resizeEvent(event);
    if (event->oldSize().width() != event->size().width()) keepHeight();
}

void StoryStrip::next() {
    moveTo(at_ + 1);
}

void StoryStrip::previous() {
    if (at_ > 0) moveTo(at_ - 1);
}

void StoryStrip::end() {
    story_.reset();
    hide();
    Q_EMIT ended();
}

}  // namespace normscope::widgets
