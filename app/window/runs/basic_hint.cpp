// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/runs/basic_hint.h"

#include "app/lab/lab.h"

#include <QLabel>

namespace normscope::app {

namespace {

constexpr int kSide = 16, kAbove = 6;

}  // namespace

BasicHint::BasicHint(const Lab& lab, QWidget* parent)
    : QObject(parent), lab_(lab), label_(new QLabel(parent)) {
    label_->setObjectName(QStringLiteral("basicHint"));
    label_->setContentsMargins(kSide, kAbove, kSide, kAbove);
    label_->setBackgroundRole(QPalette::Base);
    label_->setAutoFillBackground(true);
    label_->hide();
    for (const auto signal : {&Lab::runsChanged, &Lab::trainingChanged})
        connect(&lab, signal, this, &BasicHint::follow);
    follow();
}

void BasicHint::follow() {
    const Comparison& now = lab_.comparison();
    label_->setText(now.anyTraining() ? tr("Space pauses. Drag Δt meanwhile: the next step already has it.")
                    : now.exploring()
                        ? tr("Press Space to train, and see whether layer 1 still gets a gradient.")
                        : tr("Drag the step marker below: both panels show that step."));
}

}  // namespace normscope::app
