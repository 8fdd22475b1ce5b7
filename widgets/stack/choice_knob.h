// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/stack/knob_row.h"

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
    QString value() const;
    QComboBox* box() const { return box_; }

  Q_SIGNALS:
    void valueCommitted(const QString& old_word, const QString& new_word);

  private:
    QComboBox* box_;
    QString value_, default_;
};

}  // namespace normscope::widgets
