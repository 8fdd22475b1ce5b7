// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/strict_json.h"

#include "core/base/error.h"

#include <set>
#include <vector>

namespace normscope {

using nlohmann::json;

namespace {
constexpr int kDeepest = 32;
constexpr std::size_t kLongest = 80;
}  // namespace

std::string quoted(const std::string& text) {
    return json(text.size() > kLongest ? text.substr(0, kLongest) + "…" : text)
        .dump(-1, ' ', false, json::error_handler_t::replace);
}

json strict_json(std::string_view text, const std::string& where) {
    std::vector<std::set<std::string>> keys;  // of the open objects
    const auto watch = [&](int depth, json::parse_event_t event, json& value) {
        if (depth > kDeepest)
            throw InputError(where + ": JSON nested deeper than " + std::to_string(kDeepest));
        if (event == json::parse_event_t::object_start) keys.emplace_back();
        if (event == json::parse_event_t::object_end) keys.pop_back();
        if (event == json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
            throw InputError(where + ": " + quoted(value.get<std::string>()) + " appears twice");
        return true;
    };
    try {
        return json::parse(text, watch);
    } catch (const json::parse_error& error) {
        throw InputError(where + ": not valid JSON at byte " + std::to_string(error.byte));
    } catch (const json::exception&) {
        throw InputError(where + ": not valid JSON: a number is out of range");
    }
}

}  // namespace normscope
