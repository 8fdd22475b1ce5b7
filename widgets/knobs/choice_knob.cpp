// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/knobs/choice_knob.h"

#include "widgets/figures/knobs/key_text.h"

#include <QStandardItemModel>
#include <algorithm>

namespace normscope::widgets {
namespace {
constexpr int kBoxHeight = 22, kChoiceGap = 6, kCaretSpace = 16;
}

ChoiceKnob::ChoiceKnob(const QString& label, const QString& name, const QStringList& words,
                       const QStringList& titles, QWidget* parent)
    : KnobRow(label, name, parent), boxes_{new ChoiceBox(this), new ChoiceBox(this)} {
    setResetInset(kCaretSpace);
    value_ = default_ = words.value(0);
    for (ChoiceBox* box : boxes_) {
        for (qsizetype i = 0; i < words.size(); ++i) box->addItem(titles.at(i), words.at(i));
        connect(box, &ChoiceBox::wordChosen, this, [this, box](const QString& from, const QString& to) {
            const std::size_t at = box == boxes_[0] ? 0 : 1;
            if (at < comparison().fields.size())
                return Q_EMIT runValueCommitted(comparison().fields[at].run, from.toStdString(),
                                                to.toStdString());
            value_ = to;
            setChanged(value_ != default_);
            Q_EMIT valueCommitted(from, to);
        });
    }
    boxes_[1]->hide();
    showComparison();
}

std::size_t ChoiceKnob::shownBox() const {
    const auto& fields = comparison().fields;
    return fields.size() == 2 && fields[1].selected ? 1 : 0;
}

/// Arrow keys pass words that the other run has. One box for both runs stays one.
bool ChoiceKnob::holdsFields() const {
    return comparison().fields.size() == 2 &&
           std::any_of(boxes_.begin(), boxes_.end(), [](const ChoiceBox* box) { return box->hasFocus(); });
}

ChoiceBox* ChoiceKnob::box() const {
    return boxes_[shownBox()];
}

void ChoiceKnob::setValue(const QString& word) {
    value_ = word;
    showWords();
    setChanged(value_ != default_);
}

void ChoiceKnob::setDefaultValue(const QString& word) {
    default_ = word;
    setChanged(value_ != default_);
}

void ChoiceKnob::showWords() {
    const auto& fields = comparison().fields;
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
        const bool shown = i == shownBox() || i >= fields.size();
        boxes_[i]->setWord(shown ? value_ : keyText(fields[i].value));
    }
}

void ChoiceKnob::showComparison() {
    const auto& fields = comparison().fields;
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
        const RunValue* of = i < fields.size() ? &fields[i] : nullptr;
        boxes_[i]->setRun(of ? of->colour : -1);
        describe(boxes_[i], of);
    }
    showWords();
    setEditor(box());
}

/// Two boxes have the space in halves, or as their titles need it; where they do not fit, the shown run has
/// all of it.
void ChoiceKnob::place(const QRect& body) {
    const QRect line(body.left(), (body.height() - kBoxHeight) / 2, body.width(), kBoxHeight);
    const bool two = comparison().fields.size() == 2;
    const int first = boxes_[0]->minimumChipWidth(true), second = boxes_[1]->minimumChipWidth(true);
    const int space = line.width() - kChoiceGap;
    if (!two || first + second > space) {
        for (ChoiceBox* box : boxes_) {
            box->setGeometry(line);
            box->setVisible(box == this->box());
        }
        return;
    }
    const int left = std::clamp(space / 2, first, space - second);
    boxes_[0]->setGeometry(line.left(), line.top(), left, kBoxHeight);
    boxes_[1]->setGeometry(line.left() + left + kChoiceGap, line.top(), space - left, kBoxHeight);
    for (ChoiceBox* box : boxes_) box->show();
}

void ChoiceKnob::setAvailable(const QStringList& words, const QString& why) {
    for (ChoiceBox* box : boxes_) {
        auto* items = qobject_cast<QStandardItemModel*>(box->model());
        for (int i = 0; i < box->count(); ++i) {
            const bool available = words.contains(box->itemData(i).toString());
            items->item(i)->setEnabled(available);
            box->setItemData(i, available ? tips_.value(i) : why, Qt::ToolTipRole);
        }
    }
}

void ChoiceKnob::setWordTips(const QStringList& tips) {
    tips_ = tips;
    for (ChoiceBox* box : boxes_)
        for (int i = 0; i < box->count(); ++i) box->setItemData(i, tips_.value(i), Qt::ToolTipRole);
}

QString ChoiceKnob::value() const {
    return value_;
}

}  // namespace normscope::widgets
