// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/comparison_title.h"

#include "widgets/common/text_size.h"
#include "widgets/plots/glyph.h"
#include "widgets/plots/palette_theme.h"

#include <QAction>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <algorithm>

namespace normscope::widgets {
namespace {

constexpr int kComparisonTitleButton = 28, kComparisonTitleMargin = 6, kComparisonTitleGap = 6;

/// "Undo Δt 0.2 (Ctrl+Z)".
QString tipOf(const QAction& action) {
    const QString key = action.shortcut().toString(QKeySequence::NativeText);
    return key.isEmpty() ? action.text() : QStringLiteral("%1 (%2)").arg(action.text(), key);
}

}  // namespace

ComparisonTitle::ComparisonTitle(QWidget* parent) : QWidget(parent), menu_(new QMenu(this)) {
    auto* line = new QHBoxLayout(this);
    line->setContentsMargins(kComparisonTitleMargin, 0, kComparisonTitleMargin, 0);
    line->setSpacing(0);
    const auto button = [&](Glyph glyph, const QString& name, const char* object) {
        auto* made = new GlyphButton(glyph, name, this);
        made->setObjectName(QLatin1String(object));
        made->setFixedSize(kComparisonTitleButton, kComparisonTitleButton);
        line->addWidget(made);
        return made;
    };
    const auto label = [&](int px, QFont::Weight weight) {
        auto* made = new QLabel(this);
        made->setFont(sized(made->font(), px, weight));
        made->setTextFormat(Qt::PlainText);
        line->addWidget(made);
        return made;
    };
    auto* open = button(Glyph::Menu, tr("Menu"), "windowMenuButton");
    menu_->setObjectName(QStringLiteral("windowMenu"));
    connect(open, &QToolButton::clicked, this,
            [this, open] { menu_->popup(open->mapToGlobal(QPoint(0, open->height()))); });
    line->addSpacing(kComparisonTitleGap);
    name_ = label(14, QFont::DemiBold);
    name_->setObjectName(QStringLiteral("comparisonName"));
    name_->setAccessibleName(tr("Comparison"));
    line->addSpacing(kComparisonTitleGap);
    state_ = label(11, QFont::Normal);
    state_->setObjectName(QStringLiteral("savedState"));
    state_->setAccessibleName(tr("Session file"));
    state_->setForegroundRole(QPalette::PlaceholderText);
    line->addStretch(1);
    undo_ = button(Glyph::Undo, tr("Undo"), "undoButton");
    redo_ = button(Glyph::Redo, tr("Redo"), "redoButton");
}

void ComparisonTitle::setNames(const QStringList& names) {
    if (names == names_) return;
    names_ = names;
    name_->setToolTip(names.join(u'\n'));
    showName();
}

void ComparisonTitle::setState(const QString& word) {
    state_->setText(word);
}

void ComparisonTitle::setUndoActions(QAction* undo, QAction* redo) {
    for (const auto& [button, action] : {std::pair{undo_, undo}, std::pair{redo_, redo}}) {
        const auto follow = [button = button, action = action] {
            button->setGlyph(button->glyph(), tipOf(*action));
            button->setEnabled(action->isEnabled());
        };
        connect(action, &QAction::changed, button, follow);
        connect(button, &QToolButton::clicked, action, &QAction::trigger);
        follow();
    }
}

/// Divided from the column below and from the runs.
void ComparisonTitle::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(0, height() - 1, width(), 1, themeOf(palette()).grid);
    painter.fillRect(width() - 1, 0, 1, height(), themeOf(palette()).grid);
}

void ComparisonTitle::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    showName();
}

/// Leaves space for the longest word of the state: that word changes no name.
void ComparisonTitle::showName() {
    const int space = width() - 2 * kComparisonTitleMargin - 3 * kComparisonTitleButton -
                      3 * kComparisonTitleGap - state_->fontMetrics().horizontalAdvance(tr("not saved"));
    const auto fits = [&](const QString& name) {
        return name_->fontMetrics().horizontalAdvance(name) <= space;
    };
    const auto first = std::find_if(names_.begin(), names_.end(), fits);
    name_->setText(first != names_.end() ? *first : names_.value(names_.size() - 1));
}

}  // namespace normscope::widgets
