// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/text_damage.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace normscope::fuzz {

namespace {

using Json = nlohmann::ordered_json;

std::string written(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Texts that are written as they are where a value or a member is placed: what a value cannot express.
class Raw {
  public:
    Json place(std::string text) {
        texts_.push_back(std::move(text));
        return marker(texts_.size() - 1);
    }
    void place_member(Json& object, std::string text) {
        texts_.push_back(std::move(text));
        object[marker(texts_.size() - 1)] = nullptr;
    }
    std::string written(const Json& tree) const {
        std::string text = fuzz::written(tree);
        for (std::size_t i = texts_.size(); i-- > 0;) {
            const std::string mark = "\"\\u0001" + std::to_string(i) + "\"";
            for (const std::string& end : {std::string(":null"), std::string()})
                for (std::size_t at; (at = text.find(mark + end)) != std::string::npos;)
                    text.replace(at, mark.size() + end.size(), texts_[i]);
        }
        return text;
    }

  private:
    static std::string marker(std::size_t i) { return "\x01" + std::to_string(i); }
    std::vector<std::string> texts_;
};

void collect(Json& value, std::vector<Json*>& all) {
    all.push_back(&value);
    if (value.is_structured())
        for (auto& item : value) collect(item, all);
}

std::string nested(Random& random) {
    // Rarely so deep that a recursive reader or writer ends the program.
    const std::size_t depths[] = {1, 2, 5, 20, 31, 32, 33, 40, 1000};
    const std::size_t depth = below(random, 2000) == 0 ? 200'000 : depths[below(random, std::size(depths))];
    const bool object = below(random, 3) == 0, closed = below(random, 4) != 0;
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) text += object ? "{\"a\":" : "[";
    text += object ? "1" : "";
    if (closed) text += std::string(depth, object ? '}' : ']');
    return text;
}

std::string number(Random& random) {
    const char* numbers[] = {"0",
                             "-0",
                             "-1",
                             "1e308",
                             "1e309",
                             "1e999",
                             "-1e999",
                             "1e-400",
                             "5e-324",
                             "2147483647",
                             "2147483648",
                             "-2147483649",
                             "4294967296",
                             "9007199254740993",
                             "9223372036854775807",
                             "9223372036854775808",
                             "-9223372036854775808",
                             "-9223372036854775809",
                             "18446744073709551615",
                             "18446744073709551616",
                             "99999999999999999999999999",
                             "1.5",
                             "0.1e1",
                             "NaN",
                             "Infinity",
                             "01",
                             "+1",
                             "1.",
                             "0x10",
                             "100000",
                             "100001",
                             "4096",
                             "65536"};
    return below(random, 20) == 0 ? std::string(1 + below(random, 5000), '9')
                                  : numbers[below(random, std::size(numbers))];
}

std::string text(Random& random) {
    const char* texts[] = {"\"\"",
                           "\"\\u0000\"",
                           "\"a\\u0000b\"",
                           "\"a\\nb\"",
                           "\"\\ud800\"",
                           "\"\xff\"",
                           "\"\xc0\xaf\"",
                           "\"\xed\xa0\x80\"",
                           "\"\\u2028\"",
                           "\"\\\"\"",
                           "\"auto\"",
                           "\"/\"",
                           "\"..\"",
                           "\"a.b\"",
                           "\"growth\"",
                           "\"pre\"",
                           "\"stack.depth\"",
                           "\"1e999\"",
                           "\"[[[[\"",
                           "\"0:9\"",
                           "\"lin:0:1:3\"",
                           "\"log:1:2:100001\"",
                           "\"stack.depth=1,2\"",
                           "\"blocks.*\"",
                           "\"text\"",
                           "\"\x7f\"",
                           "\"unterminated",
                           "'a'"};
    if (below(random, 10) == 0) return "\"" + std::string(1 + below(random, 20'000), 'x') + "\"";
    return texts[below(random, std::size(texts))];
}

std::string other_type(Random& random) {
    const char* values[] = {"null",  "true",    "false", "[]",   "{}",  "[null]", "{\"a\": 1}",
                            "[1,2]", "[\"a\"]", "[[]]",  "[{}]", "nul", ""};
    return values[below(random, std::size(values))];
}

/// Damage to one place of the tree.
void damage(Json& tree, const Json& other, Raw& raw, Random& random) {
    std::vector<Json*> all, others;
    collect(tree, all);
    Json foreign = other;
    collect(foreign, others);
    Json& at = *all[below(random, all.size())];
    const auto some_structure = [&]() -> Json& {
        for (int i = 0; i < 20; ++i)
            if (Json* found = all[below(random, all.size())]; found->is_structured() && !found->empty())
                return *found;
        return tree;
    };
    switch (below(random, 11)) {
        case 0:
            at = raw.place(nested(random));
            break;
        case 1:
        case 2:
            at = raw.place(number(random));
            break;
        case 3:
            at = raw.place(text(random));
            break;
        case 4:
            at = raw.place(other_type(random));
            break;
        case 5: {  // a value of another seed
            Json value = *others[below(random, others.size())];
            at = std::move(value);
            break;
        }
        case 6: {  // twice: the same member, or its key with another value; a list's entry again
            Json& in = some_structure();
            if (in.is_array() && !in.empty()) {
                Json again = in[below(random, in.size())];
                in.push_back(std::move(again));
            } else if (in.is_object() && !in.empty()) {
                auto member = in.begin();
                std::advance(member, static_cast<std::ptrdiff_t>(below(random, in.size())));
                const std::string value = below(random, 2) ? written(member.value()) : number(random);
                raw.place_member(in, written(Json(member.key())) + ":" + value);
            }
            break;
        }
        case 7: {  // lost
            Json& in = some_structure();
            if (!in.is_structured() || in.empty()) break;
            const std::size_t n = below(random, in.size());
            if (in.is_array())
                in.erase(n);
            else
                in.erase(std::next(in.begin(), static_cast<std::ptrdiff_t>(n)).key());
            break;
        }
        case 8: {  // another key
            Json& in = some_structure();
            if (in.is_object()) raw.place_member(in, text(random) + ":" + number(random));
            break;
        }
        case 9: {  // two values change places
            Json& with = *all[below(random, all.size())];
            if (at.is_structured() || with.is_structured()) break;
            std::swap(at, with);
            break;
        }
        default:  // a text changed by a few bytes
            if (at.is_string()) at = damaged_bytes(at.get<std::string>(), random);
    }
}

}  // namespace

std::size_t below(Random& random, std::size_t n) {
    return n == 0 ? 0 : static_cast<std::size_t>(random() % n);
}

std::string damaged_bytes(std::string text, Random& random) {
    const std::string pieces[] = {
        "{",    "}",  "[",  "]",  "\"", ",", ":", "null", "1e999",  "-1", std::string(1, '\0'),
        "\xff", "\n", "\r", "\\", ".",  "=", "0", "true", "\\u0000"};
    for (std::size_t i = 0, n = 1 + below(random, 3); i < n; ++i) {
        const std::size_t at = below(random, text.size() + 1);
        switch (below(random, 6)) {
            case 0:
                if (at < text.size()) text[at] = static_cast<char>(random());
                break;
            case 1:
                if (at < text.size()) text[at] ^= static_cast<char>(1U << below(random, 8));
                break;
            case 2:
                text.insert(at, pieces[below(random, std::size(pieces))]);
                break;
            case 3:
                text.erase(at, 1 + below(random, 20));
                break;
            case 4:
                text.resize(at);
                break;
            default: {  // a piece again
                const std::string piece = text.substr(at, 1 + below(random, 60));
                text.insert(below(random, text.size() + 1), piece);
            }
        }
    }
    return text;
}

std::string damaged_text(const std::vector<std::string>& seeds, std::size_t seed, Random& random) {
    Raw raw;
    Json tree = Json::parse(seeds[seed]);
    std::string written;
    if (below(random, 5) != 0) {
        const Json other = Json::parse(seeds[below(random, seeds.size())]);
        for (std::size_t i = 0, n = 1 + below(random, 3); i < n; ++i) damage(tree, other, raw, random);
        written = raw.written(tree);
    } else {
        written = damaged_bytes(tree.dump(), random);
    }
    if (below(random, 25) == 0) written += below(random, 2) ? std::string("\0{", 2) : "]";
    return written;
}

}  // namespace normscope::fuzz
