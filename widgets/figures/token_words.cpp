// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/token_words.h"

#include "core/probe/interface/token_labels.h"

namespace normscope::widgets {

QStringList tokenWords(const ProbeResult& sample, int sequence) {
    const auto label = sample.labels.find(kTokensLabel);
    QStringList words;
    if (label == sample.labels.end() || sequence < 0 || std::size_t(sequence) >= label->second.size())
        return words;
    for (const std::string& word : divided_tokens(label->second[std::size_t(sequence)]))
        words << QString::fromStdString(word);
    return words;
}

}  // namespace normscope::widgets
