// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/data_spec.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace normscope {

/// The texts of a vocabulary's tokens, to be read by people. Constant after construction, for use from any
/// thread.
class TokenTexts {
  public:
    /// Of a data source: the characters of bytes (text), those of `data.tokenizer` (tokens); of others, and
    /// without a tokenizer, none. InputError where the tokenizer cannot be read.
    static TokenTexts of(const DataSpec& data);
    /// Of the tokenizer.json that the tokenizers library writes: byte-level BPE (GPT-2, LLaMA 3, Qwen), BPE
    /// and Unigram of SentencePiece (LLaMA 2, Gemma, T5), WordPiece, words. `where` begins the messages of
    /// InputError.
    static TokenTexts of_tokenizer(const std::string& json, const std::string& where);

    bool empty() const { return texts_.empty(); }
    /// Visible UTF-8: spaces as they are, line breaks and other control characters as \n, \t, \x1b, bytes
    /// that are no character by themselves as \xe2. Of a token that has none its number, "#123".
    std::string of(std::int32_t token) const;

  private:
    std::map<std::int32_t, std::string> texts_;
};

/// UTF-8 that can be seen in one line (TokenTexts::of).
std::string visible_text(const std::string& bytes);

}  // namespace normscope
