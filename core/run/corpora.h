// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/data/corpus.h"

#include <memory>
#include <string>
#include <vector>

namespace normscope {

/// The corpora in use, each created once: runs on the same text share it, and a knob that does not change the
/// data reads no file again. A corpus is kept while it is referenced; a modified file is read again. One
/// thread.
class Corpora {
  public:
    /// Throws InputError as make_corpus does.
    std::shared_ptr<const Corpus> get(const DataSpec& spec, const StackSpec& stack);

  private:
    struct Entry {
        DataSpec spec;
        int context = 0, vocab = 0;  ///< vocab: of token files, which are held against it
        StackInput input = StackInput::Tokens;
        ImageSpec image;
        std::string files;  ///< path, moment of writing and size of each; empty where generated
        std::weak_ptr<const Corpus> corpus;
    };
    std::vector<Entry> entries_;
};

}  // namespace normscope
