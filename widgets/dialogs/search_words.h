// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

namespace normscope::widgets {

/// What a typed word may mean: the word itself, then the words that this window has for it ("lr": "learning
/// rate"). An entry is found if it contains any of them.
QStringList meaningsOf(const QString& word);

/// A typed text as words, each with its meanings. A text of several words that is one term of the field
/// ("flash attention", "number of layers") is one word.
std::vector<QStringList> searchWords(const QString& typed);

/// Why nothing is found: "Dropout is not in this lab" for a term of the field that the laboratory does not
/// have; empty for any other text.
QString notInThisLab(const QString& typed);

}  // namespace normscope::widgets
