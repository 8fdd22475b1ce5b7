// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/knobs/knob_row.h"

#include "widgets/plots/glyph.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>

namespace normscope::widgets {
namespace {

/// Keeps its place while hidden, so that no row jumps under the hand.
void keepPlace(QWidget* widget) {
    QSizePolicy policy = widget->sizePolicy();
    policy.setRetainSizeWhenHidden(true);
    widget->setSizePolicy(policy);
}

class RestartMark : public QWidget {
  public:
    explicit RestartMark(QWidget* parent) : QWidget(parent) { setFixedSize(12, 12); }

  protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        paintGlyph(painter, rect(), Glyph::Restart, palette().color(QPalette::PlaceholderText));
    }
};

}  // namespace

KnobRow::KnobRow(const QString& label, const QString& name, QWidget* parent) : QWidget(parent) {
    setAccessibleName(name);
    dot_ = new QLabel(QStringLiteral("●"), this);
    dot_->setFixedWidth(10);
    QFont small = dot_->font();
    small.setPixelSize(8);
    dot_->setFont(small);
    dot_->setForegroundRole(QPalette::Link);
    dot_->setAccessibleName(tr("changed from its default"));
    label_ = new QLabel(label, this);
    restart_ = new RestartMark(this);
    restart_->setToolTip(tr("A change starts a new run"));
    restart_->setVisible(false);
    differs_ = new QLabel(QStringLiteral("≠"), this);
    differs_->setAccessibleName(tr("differs"));
    differs_->setToolTip(tr("Differs: the compared runs do not agree. A change sets all that are linked."));
    QFont bold = differs_->font();
    bold.setBold(true);
    differs_->setFont(bold);
    differs_->setVisible(false);
    reset_ = new GlyphButton(Glyph::Reset, tr("Reset %1 to its default").arg(name), this);
    reset_->setFixedSize(18, 18);
    keepPlace(reset_);
    connect(reset_, &QToolButton::clicked, this, &KnobRow::resetRequested);

    line_ = new QHBoxLayout;
    line_->setSpacing(3);
    line_->addWidget(dot_);
    line_->addWidget(label_);
    line_->addWidget(restart_);
    line_->addWidget(differs_);
    line_->addStretch(1);
    line_->addWidget(reset_);
    lines_ = new QVBoxLayout(this);
    lines_->setContentsMargins(0, 0, 0, 0);
    lines_->setSpacing(0);
    lines_->addLayout(line_);
    keepPlace(dot_);
    setChanged(false);
}

void KnobRow::setRestarts(bool restarts) {
    restart_->setVisible(restarts);
}

void KnobRow::setDiffering(bool differing) {
    differs_->setVisible(differing);
}

bool KnobRow::isDiffering() const {
    return !differs_->isHidden();
}

bool KnobRow::isChanged() const {
    return !dot_->isHidden();
}

QString KnobRow::label() const {
    return label_->text();
}

void KnobRow::setChanged(bool changed) {
    dot_->setVisible(changed);
    reset_->setVisible(changed);
}

void KnobRow::setEditor(QWidget* editor) {
    editor->setAccessibleName(accessibleName());
    label_->setBuddy(editor);
    line_->insertWidget(line_->indexOf(reset_), editor);
}

void KnobRow::setBody(QWidget* body) {
    body->setAccessibleName(accessibleName());
    lines_->addWidget(body);
}

}  // namespace normscope::widgets
