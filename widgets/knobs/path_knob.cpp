// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/knobs/path_knob.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QPushButton>

namespace normscope::widgets {

PathKnob::PathKnob(const QString& label, const QString& name, QWidget* parent)
    : KnobRow(label, name, parent), button_(new QPushButton(this)) {
    button_->setFixedWidth(kChoiceWidth);
    setEditor(button_);
    connect(button_, &QPushButton::clicked, this, &PathKnob::ask);
    setValue(QString());
}

void PathKnob::setValue(const QString& path) {
    value_ = path;
    const QString shown = path.isEmpty() ? tr("Choose…") : QFileInfo(path).fileName();
    button_->setText(button_->fontMetrics().elidedText(shown, Qt::ElideMiddle, kChoiceWidth - 16));
    button_->setToolTip(path);
    setChanged(value_ != default_);
}

void PathKnob::setDefaultValue(const QString& path) {
    default_ = path;
    setChanged(value_ != default_);
}

void PathKnob::ask() {
    const QString path = QFileDialog::getOpenFileName(this, tr("Text to train on"), value_);
    if (path.isEmpty() || path == value_) return;
    const QString old_path = value_;
    setValue(path);
    Q_EMIT valueCommitted(old_path, path);
}

}  // namespace normscope::widgets
