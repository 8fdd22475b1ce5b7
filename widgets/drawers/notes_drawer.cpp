// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/drawers/notes_drawer.h"

#include "widgets/plots/glyph.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QSignalBlocker>
#include <QVBoxLayout>

namespace normscope::widgets {

namespace {

constexpr int kNotesWidth = 340;

void fill(QPlainTextEdit* edit, const QString& text) {
    if (edit->toPlainText() == text) return;
    const QSignalBlocker quiet(edit);
    edit->setPlainText(text);
}

}  // namespace

NotesDrawer::NotesDrawer(QWidget* over, QWidget* parent) : Drawer(over, kNotesWidth, parent) {
    setObjectName(QStringLiteral("notesDrawer"));
    setAccessibleName(tr("Notes"));
    const auto editor = [this](const char* name, const QString& title, const QString& hint) {
        auto* edit = new QPlainTextEdit(this);
        edit->setObjectName(QLatin1String(name));
        edit->setAccessibleName(title);
        edit->setPlaceholderText(hint);
        edit->setTabChangesFocus(true);
        return edit;
    };
    auto* title = new QLabel(tr("Notes"), this);
    QFont bold = title->font();
    bold.setBold(true);
    title->setFont(bold);
    auto* close = new GlyphButton(Glyph::Cross, tr("Close (Esc)"), this);
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    auto* heading = new QHBoxLayout;
    heading->addWidget(title, 1);
    heading->addWidget(close);
    comparison_ = editor("comparisonNote", tr("Note on this comparison"), tr("What the comparison is for"));
    run_name_ = new QLabel(this);
    run_name_->setTextFormat(Qt::PlainText);
    run_ = editor("runNote", tr("Note on the selected run"), tr("What was tried, what was seen"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(14, 8, 8, 12);
    column->addLayout(heading);
    column->addWidget(new QLabel(tr("This comparison"), this));
    column->addWidget(comparison_, 1);
    column->addWidget(run_name_);
    column->addWidget(run_, 1);
    connect(comparison_, &QPlainTextEdit::textChanged, this,
            [this] { Q_EMIT comparisonEdited(comparison_->toPlainText()); });
    connect(run_, &QPlainTextEdit::textChanged, this, [this] { Q_EMIT runEdited(run_->toPlainText()); });
}

void NotesDrawer::open() {
    appear();
    run_->setFocus();
}

void NotesDrawer::show(const QString& of_comparison, const QString& run, const QString& of_run) {
    run_name_->setText(tr("Run %1").arg(run));
    run_->setAccessibleName(tr("Note on %1").arg(run));
    fill(comparison_, of_comparison);
    fill(run_, of_run);
}

}  // namespace normscope::widgets
