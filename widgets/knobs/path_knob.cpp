// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/knobs/path_knob.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QPushButton>
#include <algorithm>

namespace normscope::widgets {

namespace {
constexpr int kButtonHeight = 22, kPathReset = 18, kPadding = 8;
}

PathKnob::PathKnob(const QString& label, const QString& name, QWidget* parent)
    : KnobRow(label, name, parent), button_(new QPushButton(this)) {
    setEditor(button_);
    describe(button_, nullptr);
    connect(button_, &QPushButton::clicked, this, &PathKnob::chooseFile);
    setValue(QString());
}

void PathKnob::setValue(const QString& path) {
    value_ = path;
    const QString shown = path.isEmpty() ? tr("Choose…") : QFileInfo(path).fileName();
    button_->setText(
        button_->fontMetrics().elidedText(shown, Qt::ElideMiddle, button_->width() - 2 * kPadding));
    button_->setToolTip(path);
    setChanged(value_ != default_);
}

/// The button is of the shown run, and where the runs differ it is named after it.
void PathKnob::showComparison() {
    const auto& fields = comparison().fields;
    const auto shown =
        std::find_if(fields.begin(), fields.end(), [](const RunValue& of) { return of.selected; });
    describe(button_, shown == fields.end() ? nullptr : &*shown);
}

void PathKnob::place(const QRect& body) {
    button_->setGeometry(body.left(), (body.height() - kButtonHeight) / 2, body.width() - kPathReset,
                         kButtonHeight);
    setValue(value_);
}

void PathKnob::setDefaultValue(const QString& path) {
    default_ = path;
    setChanged(value_ != default_);
}

void PathKnob::chooseFile() {
    if (auto* open = window()->findChild<QFileDialog*>(QStringLiteral("fileDialog")))
        return open->activateWindow();
    auto* dialog = new QFileDialog(
        window(), folder_ ? tr("Choose the folder of CIFAR-10's files") : tr("Choose a text file"), value_);
    dialog->setObjectName(QStringLiteral("fileDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(folder_ ? QFileDialog::Directory : QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& path) {
        if (path.isEmpty() || path == value_) return;
        const QString old_path = value_;
        setValue(path);
        Q_EMIT valueCommitted(old_path, path);
    });
    dialog->open();
}

}  // namespace normscope::widgets
