// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/knobs/knob_row.h"

#include <QStringList>

class QComboBox;

namespace normscope::widgets {

/// A word of a fixed set: scheme, precision, data source, initialisation.
class ChoiceKnob : public KnobRow {
    Q_OBJECT
  public:
    /// `words` are the values, `titles` what a person reads, in the same order.
    ChoiceKnob(const QString& label, const QString& name, const QStringList& words, const QStringList& titles,
               QWidget* parent = nullptr);

    /// The setters send no signal.
    void setValue(const QString& word);
    void setDefaultValue(const QString& word);
    /// Greys out the words that are not in the list (an engine that can not do them).
    void setAvailable(const QStringList& words);
    /// What each word stands for, in the order of the words; empty = nothing to say.
    void setWordTips(const QStringList& tips);
    QString value() const;
    QComboBox* box() const { return box_; }

  Q_SIGNALS:
    void valueCommitted(const QString& old_word, const QString& new_word);

  private:
    QComboBox* box_;
    QStringList tips_;
    QString value_, default_;
};

}  // namespace normscope::widgets
