// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/knobs/knob_row.h"

#include "widgets/accessibility/accessible_role.h"
#include "widgets/plots/glyph.h"
#include "widgets/plots/palette_theme.h"

#include <QLabel>
#include <QPainter>

namespace normscope::widgets {
namespace {

// From the window's tokens, less the column's padding of 12.
constexpr int kLabelLeft = 8, kBodyLeft = 92;
constexpr int kDot = 4, kRestart = 9, kRestartGap = 5, kResetWidth = 14, kTypeSize = 12;

}  // namespace

KnobRow::KnobRow(const QString& label, const QString& name, QWidget* parent)
    : QWidget(parent), label_(new QLabel(label, this)) {
    setAccessibleRole(this, QAccessible::Grouping);
    setAccessibleName(name);
    setFixedHeight(kHeight);
    QFont type = font();
    type.setPixelSize(kTypeSize);
    setFont(type);
    reset_ = new GlyphButton(Glyph::Reset, tr("Reset %1 to its default").arg(name), this);
    reset_->setFixedSize(kResetWidth, 18);
    reset_->hide();
    connect(reset_, &QToolButton::clicked, this, &KnobRow::resetRequested);
}

void KnobRow::setRestarts(bool restarts) {
    restarts_ = restarts;
    update();
}

void KnobRow::setComparison(const KnobComparison& comparison) {
    if (comparison == comparison_) return;
    comparison_ = comparison;
    placeParts();
}

QString KnobRow::label() const {
    return label_->text();
}

void KnobRow::setChanged(bool changed) {
    if (changed == changed_) return;
    changed_ = changed;
    label_->setAccessibleDescription(changed ? tr("changed from its default") : QString());
    placeParts();
}

/// Two runs have two values, of which each field can have its default by itself.
bool KnobRow::isResetShown() const {
    return changed_ && comparison_.fields.size() < 2;
}

void KnobRow::placeParts() {
    const QSize text = label_->sizeHint();
    label_->setGeometry(kLabelLeft, (height() - text.height()) / 2, text.width(), text.height());
    showComparison();
    place(QRect(kBodyLeft, 0, std::max(0, width() - kBodyLeft), height()));
    reset_->move(width() - reset_inset_ - kResetWidth, (height() - reset_->height()) / 2);
    reset_->setVisible(isResetShown());
    reset_->raise();
    update();
}

void KnobRow::setEditor(QWidget* editor) {
    if (editor == editor_) return;
    label_->setBuddy(editor);
    editor_ = editor;
}

void KnobRow::describe(QWidget* field, const RunValue* of) const {
    field->setAccessibleName(of ? tr("%1 of %2").arg(accessibleName(), of->name) : accessibleName());
    field->setEnabled(!of || !of->fixed);
}

void KnobRow::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    placeParts();
}

void KnobRow::paintEvent(QPaintEvent*) {
    const QColor muted = themeOf(palette()).muted;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const double middle = height() / 2.0;
    if (changed_) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(muted);
        painter.drawEllipse(QPointF(kDot / 2.0 + 0.5, middle), kDot / 2.0, kDot / 2.0);
    }
    if (restarts_)
        paintGlyph(
            painter,
            QRectF(label_->geometry().right() + kRestartGap, middle - kRestart / 2.0, kRestart, kRestart),
            Glyph::Restart, muted);
}

}  // namespace normscope::widgets
