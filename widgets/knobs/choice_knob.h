// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/knobs/choice_box.h"
#include "widgets/knobs/knob_row.h"

#include <QStringList>
#include <array>

namespace normscope::widgets {

/// A word of a fixed set: scheme, precision, data source, initialisation. Two runs that differ have a box
/// each, side by side, where both titles fit.
class ChoiceKnob : public KnobRow {
    Q_OBJECT
  public:
    /// `words` are the values, `titles` their display texts, in the same order.
    ChoiceKnob(const QString& label, const QString& name, const QStringList& words, const QStringList& titles,
               QWidget* parent = nullptr);

    /// The setters send no signal.
    void setValue(const QString& word);
    void setDefaultValue(const QString& word);
    /// Greys out the words that are not in the list; `why` is their tooltip.
    void setAvailable(const QStringList& words, const QString& why);
    /// The tooltip of each word, in the order of the words; may be empty.
    void setWordTips(const QStringList& tips);
    QString value() const;
    /// Of the shown run.
    ChoiceBox* box() const;
    /// Of the first and of the second run; the second is hidden where one box is enough.
    const std::array<ChoiceBox*, 2>& boxes() const { return boxes_; }
    bool holdsFields() const override;

  Q_SIGNALS:
    void valueCommitted(const QString& old_word, const QString& new_word);

  protected:
    void place(const QRect& body) override;
    void showComparison() override;

  private:
    void showWords();
    std::size_t shownBox() const;

    std::array<ChoiceBox*, 2> boxes_;
    QStringList tips_;
    QString value_, default_;
};

}  // namespace normscope::widgets
