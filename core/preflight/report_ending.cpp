// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/preflight/report_ending.h"

#include "core/base/error.h"

#include <cctype>
#include <filesystem>

namespace normscope {

ReportFormat report_format(const std::string& path) {
    std::string ending = std::filesystem::path(path).extension().string();
    for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (ending == ".pdf") return ReportFormat::Pdf;
    if (ending == ".html") return ReportFormat::Html;
    throw InputError(path, "a report has another ending", ".pdf, .html");
}

}  // namespace normscope
