// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/story_strip.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

namespace normscope::app {

StoryStrip::StoryStrip(QWidget* parent) : QFrame(parent) {
    setObjectName(QStringLiteral("storyStrip"));
    setFrameShape(QFrame::StyledPanel);
    setAccessibleName(tr("Story"));
    title_ = new QLabel(this);
    QFont bold = title_->font();
    bold.setBold(true);
    title_->setFont(bold);
    text_ = new QLabel(this);
    text_->setObjectName(QStringLiteral("storyText"));
    text_->setWordWrap(true);
    text_->setTextFormat(Qt::PlainText);
    text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(10, 4, 6, 4);
    auto* words = new QVBoxLayout;
    words->setSpacing(2);
    words->addWidget(title_);
    words->addWidget(text_);
    row->addLayout(words, 1);
    const auto button = [&](const QString& text, const char* name, void (StoryStrip::*slot)()) {
        auto* made = new QToolButton(this);
        made->setText(text);
        made->setObjectName(QLatin1String(name));
        connect(made, &QToolButton::clicked, this, slot);
        row->addWidget(made, 0, Qt::AlignVCenter);
        return made;
    };
    back_ = button(tr("Back"), "storyBack", &StoryStrip::previous);
    forward_ = button(tr("Next"), "storyNext", &StoryStrip::next);
    button(tr("Close"), "storyClose", &StoryStrip::end);
    hide();
}

void StoryStrip::tell(const Story& story) {
    story_ = story;
    show();
    moveTo(0);
}

void StoryStrip::moveTo(std::size_t step) {
    if (!story_ || step >= story_->steps.size()) return;
    at_ = step;
    title_->setText(tr("%1 · %2 of %3")
                        .arg(QString::fromStdString(story_->title))
                        .arg(at_ + 1)
                        .arg(story_->steps.size()));
    text_->setText(QString::fromStdString(story_->steps[at_].text));
    setAccessibleDescription(text_->text());
    back_->setEnabled(at_ > 0);
    forward_->setEnabled(at_ + 1 < story_->steps.size());
    Q_EMIT stepTold(story_->steps[at_].step.value_or(-1));
}

void StoryStrip::next() { moveTo(at_ + 1); }

void StoryStrip::previous() {
    if (at_ > 0) moveTo(at_ - 1);
}

void StoryStrip::end() {
    story_.reset();
    hide();
}

}  // namespace normscope::app
