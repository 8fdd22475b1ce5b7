// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/pages/markdown.h"

#include "core/base/error.h"

#include <filesystem>
#include <fstream>
#include <string_view>

namespace normscope::app {

std::string plain(const std::string& text) {
    constexpr std::string_view kMarkup = "\\`*_[]<>$#";
    std::string out;
    for (const char c : text) {
        if (kMarkup.find(c) != std::string_view::npos) out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

std::string code(const std::string& text) {
    return "`" + text + "`";
}

std::string heading(int level, const std::string& title) {
    return "\n" + std::string(static_cast<std::size_t>(level), '#') + " " + title + "\n\n";
}

std::string paragraph(const std::string& markdown) {
    return markdown + "\n\n";
}

namespace {

/// A vertical line would end the cell.
std::string cell(const std::string& markdown) {
    std::string out;
    for (const char c : markdown) {
        if (c == '|') out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

std::string line(const Cells& cells) {
    std::string out = "|";
    for (const std::string& markdown : cells) out += " " + cell(markdown) + " |";
    return out + "\n";
}

}  // namespace

std::string table(const Cells& head, const std::vector<Cells>& rows) {
    std::string out = line(head) + "|";
    for (std::size_t i = 0; i < head.size(); ++i) out += "---|";
    out += "\n";
    for (const Cells& row : rows) out += line(row);
    return out + "\n";
}

void write_page(const std::string& folder, const Page& page) {
    std::error_code problem;
    std::filesystem::create_directories(folder, problem);
    const std::string path = folder + "/" + page.name + ".md";
    std::ofstream file(path, std::ios::binary);
    file << "# " << page.title << "\n\n" << page.text;
    if (!file.flush()) throw SystemError(path + ": cannot be written");
}

}  // namespace normscope::app
