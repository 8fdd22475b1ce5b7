// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace normscope::app {

/// A page of the reference: MyST Markdown.
struct Page {
    std::string name;   ///< of its file, without ".md"
    std::string title;  ///< also that of its line in the index
    std::string text;   ///< without the title
};

/// A text in a paragraph or a cell: what Markdown would read as markup is escaped, line ends become spaces.
std::string plain(const std::string& text);
/// A code span.
std::string code(const std::string& text);
/// "## title", with empty lines around it.
std::string heading(int level, const std::string& title);
std::string paragraph(const std::string& markdown);

using Cells = std::vector<std::string>;
/// A table; cells are Markdown. Every row has as many cells as `head`.
std::string table(const Cells& head, const std::vector<Cells>& rows);

/// Writes DIR/NAME.md, the folder included. Throws SystemError.
void write_page(const std::string& folder, const Page& page);

}  // namespace normscope::app
