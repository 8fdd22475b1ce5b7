// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/knobs/knob_row.h"

#include "widgets/plots/glyph.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>

namespace normscope::widgets {
namespace {

// From the window's tokens: dot, label and restart mark; the reset button at the right end.
constexpr int kLabelWidth = 92, kMarkWidth = 8, kRestartWidth = 9, kResetWidth = 14, kTypeSize = 12;

/// Keeps its space while hidden, so that rows do not move.
void keepPlace(QWidget* widget) {
    QSizePolicy policy = widget->sizePolicy();
    policy.setRetainSizeWhenHidden(true);
    widget->setSizePolicy(policy);
}

class RestartMark : public QWidget {
  public:
    explicit RestartMark(QWidget* parent) : QWidget(parent) { setFixedSize(kRestartWidth, kRestartWidth); }

  protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        paintGlyph(painter, rect(), Glyph::Restart, palette().color(QPalette::PlaceholderText));
    }
};

}  // namespace

KnobRow::KnobRow(const QString& label, const QString& name, QWidget* parent) : QWidget(parent) {
    setAccessibleName(name);
    setFixedHeight(kHeight);
    QFont type = font();
    type.setPixelSize(kTypeSize);
    setFont(type);
    // The left part has one width in every row, so that the sliders lie below each other.
    auto* left = new QWidget(this);
    left->setFixedWidth(kLabelWidth);
    dot_ = new QLabel(QStringLiteral("●"), left);
    dot_->setFixedWidth(kMarkWidth);
    QFont small = dot_->font();
    small.setPixelSize(8);
    dot_->setFont(small);
    dot_->setForegroundRole(QPalette::PlaceholderText);
    dot_->setAccessibleName(tr("changed from its default"));
    label_ = new QLabel(label, left);
    restart_ = new RestartMark(left);
    restart_->setToolTip(tr("A change starts a new run"));
    restart_->setVisible(false);
    differs_ = new QLabel(QStringLiteral("≠"), left);
    differs_->setFixedWidth(kMarkWidth);
    differs_->setAccessibleName(tr("differs"));
    differs_->setToolTip(tr("The compared runs differ here. A change sets all that are linked."));
    QFont bold = differs_->font();
    bold.setBold(true);
    differs_->setFont(bold);
    differs_->setVisible(false);
    reset_ = new GlyphButton(Glyph::Reset, tr("Reset %1 to its default").arg(name), this);
    reset_->setFixedSize(kResetWidth, 18);
    keepPlace(reset_);
    connect(reset_, &QToolButton::clicked, this, &KnobRow::resetRequested);

    auto* marks = new QHBoxLayout(left);
    marks->setContentsMargins(0, 0, 0, 0);
    marks->setSpacing(1);
    marks->addWidget(dot_);
    marks->addWidget(differs_);
    marks->addWidget(label_);
    marks->addWidget(restart_);
    marks->addStretch(1);
    line_ = new QHBoxLayout(this);
    line_->setContentsMargins(0, 0, 0, 0);
    line_->setSpacing(2);
    line_->addWidget(left);
    line_->addWidget(reset_);
    keepPlace(dot_);
    setChanged(false);
}

void KnobRow::setRestarts(bool restarts) {
    restart_->setVisible(restarts);
}

void KnobRow::setDiffering(bool differing) {
    differs_->setVisible(differing);
    showMarks();
}

bool KnobRow::isDiffering() const {
    return !differs_->isHidden();
}

bool KnobRow::isChanged() const {
    return !reset_->isHidden();
}

QString KnobRow::label() const {
    return label_->text();
}

void KnobRow::setChanged(bool changed) {
    reset_->setVisible(changed);
    showMarks();
}

/// ≠ takes the place of the dot: the label does not move.
void KnobRow::showMarks() {
    const bool differs = isDiffering();
    QSizePolicy policy = dot_->sizePolicy();
    policy.setRetainSizeWhenHidden(!differs);
    dot_->setSizePolicy(policy);
    dot_->setVisible(isChanged() && !differs);
}

void KnobRow::setEditor(QWidget* editor, bool wide) {
    editor->setAccessibleName(accessibleName());
    label_->setBuddy(editor);
    line_->insertWidget(line_->indexOf(reset_), editor, wide ? 1 : 0);
    editor_ = editor;
}

void KnobRow::setBody(QWidget* body) {
    body->setAccessibleName(accessibleName());
    line_->insertWidget(line_->indexOf(editor_), body, 1);
}

}  // namespace normscope::widgets
