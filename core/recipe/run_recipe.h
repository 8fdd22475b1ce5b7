// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/recipe.h"

#include <memory>
#include <string>

namespace normscope {

/// The recipe of a recorded run: parsed once, where its file is read, and shared from then on. A text that
/// this version cannot read (written by another one) is kept unchanged, with the reason, so that the run can
/// still be opened and saved.
class RunRecipe {
  public:
    RunRecipe() = default;  ///< none
    RunRecipe(const Recipe& recipe) : recipe_(std::make_shared<const Recipe>(recipe)) {}
    static RunRecipe read(std::string text);

    /// Null where there is none that can be read.
    const Recipe* get() const { return recipe_.get(); }
    /// Throws InputError with the reason where there is none; `where` begins the message.
    const Recipe& value(const std::string& where) const;
    /// Why it cannot be read, in one line; empty where it can.
    const std::string& problem() const { return problem_; }
    /// As a file keeps it, in one line.
    std::string text() const;

    bool operator==(const RunRecipe& other) const;

  private:
    std::shared_ptr<const Recipe> recipe_;
    std::string unread_, problem_ = "there is none";
};

}  // namespace normscope
