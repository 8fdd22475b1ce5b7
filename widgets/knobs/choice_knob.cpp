// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/knobs/choice_knob.h"

#include <QComboBox>
#include <QKeyEvent>
#include <QStandardItemModel>
#include <QWheelEvent>

namespace normscope::widgets {
namespace {

/// A combo box that ignores the wheel unless it has the focus, and Home and End, which show the first and
/// the newest step.
class CalmBox : public QComboBox {
  public:
    using QComboBox::QComboBox;

  protected:
    void keyPressEvent(QKeyEvent* event) override {
        if (event->key() == Qt::Key_Home || event->key() == Qt::Key_End)
            event->ignore();
        else
            QComboBox::keyPressEvent(event);
    }
    void wheelEvent(QWheelEvent* event) override {
        if (hasFocus())
            QComboBox::wheelEvent(event);
        else
            event->ignore();
    }
};

}  // namespace

ChoiceKnob::ChoiceKnob(const QString& label, const QString& name, const QStringList& words,
                       const QStringList& titles, QWidget* parent)
    : KnobRow(label, name, parent), box_(new CalmBox(this)) {
    for (qsizetype i = 0; i < words.size(); ++i) box_->addItem(titles.at(i), words.at(i));
    box_->setFocusPolicy(Qt::StrongFocus);
    box_->setMinimumWidth(60);
    box_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);  // a long word does not widen the column
    setEditor(box_, true);
    connect(box_, &QComboBox::activated, this, [this] {
        const QString old_word = value_, word = box_->currentData().toString();
        if (word == old_word) return;
        value_ = word;
        setChanged(value_ != default_);
        Q_EMIT valueCommitted(old_word, word);
    });
    value_ = default_ = words.value(0);
}

void ChoiceKnob::setValue(const QString& word) {
    value_ = word;
    box_->setCurrentIndex(box_->findData(word));
    setChanged(value_ != default_);
}

void ChoiceKnob::setDefaultValue(const QString& word) {
    default_ = word;
    setChanged(value_ != default_);
}

void ChoiceKnob::setAvailable(const QStringList& words) {
    auto* items = qobject_cast<QStandardItemModel*>(box_->model());
    for (int i = 0; i < box_->count(); ++i) {
        const bool available = words.contains(box_->itemData(i).toString());
        items->item(i)->setEnabled(available);
        box_->setItemData(i, available ? tips_.value(i) : tr("Not available on this machine"),
                          Qt::ToolTipRole);
    }
}

void ChoiceKnob::setWordTips(const QStringList& tips) {
    tips_ = tips;
    for (int i = 0; i < box_->count(); ++i) box_->setItemData(i, tips_.value(i), Qt::ToolTipRole);
}

QString ChoiceKnob::value() const {
    return value_;
}

}  // namespace normscope::widgets
