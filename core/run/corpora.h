// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/train/data/corpus.h"

namespace normscope {

/// The texts in use, each made once: runs that learn the same text share it, and a knob that leaves the data alone reads
/// no file again. A text is kept for as long as somebody holds it; a file that was written since is read again. One
/// thread.
class Corpora {
  public:
    /// Throws InputError as make_corpus does.
    std::shared_ptr<const Corpus> get(const DataSpec& spec, int context);

  private:
    struct Entry {
        DataSpec spec;
        int context = 0;
        std::int64_t written = 0, bytes = 0;  ///< of the file; 0 for generated texts
        std::weak_ptr<const Corpus> corpus;
    };
    std::vector<Entry> entries_;
};

}  // namespace normscope
