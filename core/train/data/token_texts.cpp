// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/data/token_texts.h"

#include "core/base/byte_source.h"
#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/base/utf8.h"

#include <algorithm>
#include <cstdio>
#include <span>

namespace normscope {

namespace {

using nlohmann::json;

constexpr std::uint64_t kLargestTokenizer = std::uint64_t{1} << 28;  // bytes; Gemma 3's has 33 million

std::string escaped(unsigned char byte) {
    char text[8];
    std::snprintf(text, sizeof text, "\\x%02x", byte);
    return text;
}

void append(std::string& text, unsigned code) {
    if (code < 0x80) {
        text += static_cast<char>(code);
    } else {
        text += static_cast<char>(0xc0 | code >> 6);
        text += static_cast<char>(0x80 | (code & 0x3f));
    }
}

/// The characters by which byte-level tokenizers write bytes (GPT-2's encoder.py): those that can be seen are
/// themselves, the others follow one another from U+0100 on.
const std::map<std::string, char>& byte_characters() {
    static const std::map<std::string, char> all = [] {
        std::map<std::string, char> characters;
        unsigned next = 0x100;
        for (unsigned byte = 0; byte < 256; ++byte) {
            const bool seen =
                (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
            std::string character;
            append(character, seen ? byte : next++);
            characters[character] = static_cast<char>(byte);
        }
        return characters;
    }();
    return all;
}

std::string from_byte_level(const std::string& token) {
    std::string bytes;
    for (std::size_t at = 0; at < token.size();) {
        const std::size_t length =
            std::max<std::size_t>(1, character_length(std::string_view(token).substr(at)));
        const auto found = byte_characters().find(token.substr(at, length));
        if (found == byte_characters().end()) return token;  // a special token in plain text
        bytes += found->second;
        at += length;
    }
    return bytes;
}

/// "▁the" is " the", and "<0x0A>" a byte.
std::string from_sentence_piece(const std::string& token) {
    unsigned byte = 0;
    char end = 0;
    if (token.size() == 6 && std::sscanf(token.c_str(), "<0x%2X%c", &byte, &end) == 2 && end == '>')
        return std::string(1, static_cast<char>(byte));
    const std::string mark = "\xe2\x96\x81";
    std::string text = token;
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1))
        text.replace(at, mark.size(), " ");
    return text;
}

/// Null where it is no object or has no such member.
const json* member(const json& object, const char* name) {
    if (!object.is_object()) return nullptr;
    const auto found = object.find(name);
    return found == object.end() ? nullptr : &*found;
}

/// Whether a part of the pipeline is of this type, by itself or in a sequence.
bool names_type(const json& tokenizer, const char* part, const std::string& type) {
    const auto is_of_type = [&](const json& one) {
        const json* const word = member(one, "type");
        return word && *word == type;
    };
    const json* const found = member(tokenizer, part);
    if (!found) return false;
    if (is_of_type(*found)) return true;
    for (const char* const list : {"decoders", "pretokenizers"})
        if (const json* const parts = member(*found, list); parts && parts->is_array())
            if (std::any_of(parts->begin(), parts->end(), is_of_type)) return true;
    return false;
}

std::int32_t token_number(const json& value, const std::string& where) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= (1u << 24))
        throw InputError(where, "numbers a token " + json_text(value), "0 … 16777215");
    return value.get<std::int32_t>();
}

}  // namespace

std::string visible_text(const std::string& bytes) {
    std::string text;
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t length = character_length(std::string_view(bytes).substr(at));
        const auto first = static_cast<unsigned char>(bytes[at]);
        if (first == '\n')
            text += "\\n";
        else if (first == '\t')
            text += "\\t";
        else if (first == '\r')
            text += "\\r";
        else if (length == 0 || first < 0x20 || first == 0x7f)
            text += escaped(first);
        else if (length == 2 && first == 0xc2 && static_cast<unsigned char>(bytes[at + 1]) < 0xa0)
            text += escaped(first) + escaped(static_cast<unsigned char>(bytes[at + 1]));  // C1 controls
        else
            text.append(bytes, at, length);
        at += std::max<std::size_t>(1, length);
    }
    return text;
}

TokenTexts TokenTexts::of(const DataSpec& data) {
    TokenTexts texts;
    if (data.source == DataSource::Text)
        for (std::int32_t byte = 0; byte < 256; ++byte)
            texts.texts_[byte] = visible_text(std::string(1, static_cast<char>(byte)));
    if (data.source != DataSource::Tokens || data.tokenizer.empty()) return texts;
    const auto file = file_source(data.tokenizer);
    if (file->size() > kLargestTokenizer)
        throw InputError("data.tokenizer: " + data.tokenizer, "has more than 256 MiB", "a tokenizer.json");
    std::string json(static_cast<std::size_t>(file->size()), '\0');
    file->read(0, std::as_writable_bytes(std::span(json)));
    return of_tokenizer(json, "data.tokenizer: " + data.tokenizer);
}

TokenTexts TokenTexts::of_tokenizer(const std::string& text, const std::string& where) {
    const json tokenizer = strict_json(text, where, JsonKeys::Any);
    const json* const model = member(tokenizer, "model");
    const json* const vocab = model ? member(*model, "vocab") : nullptr;
    if (!vocab || !(vocab->is_object() || vocab->is_array()))
        throw InputError(where, "has no model.vocab", "the tokenizer.json of a model's folder");
    const bool byte_level =
        names_type(tokenizer, "decoder", "ByteLevel") || names_type(tokenizer, "pre_tokenizer", "ByteLevel");
    const auto decoded = [&](const std::string& token) {
        return visible_text(byte_level ? from_byte_level(token) : from_sentence_piece(token));
    };
    TokenTexts texts;
    if (vocab->is_object())
        for (const auto& [token, number] : vocab->items())
            texts.texts_[token_number(number, where)] = decoded(token);
    else
        for (const json& entry : *vocab) {  // Unigram: [token, score], in the order of their numbers
            if (!entry.is_array() || entry.empty() || !entry[0].is_string())
                throw InputError(where, "has an entry of model.vocab without a token", "[token, score]");
            texts.texts_[static_cast<std::int32_t>(texts.texts_.size())] =
                decoded(entry[0].get_ref<const std::string&>());
        }
    if (const json* const added = member(tokenizer, "added_tokens"); added && added->is_array())
        for (const json& one : *added) {
            const json *const id = member(one, "id"), *const content = member(one, "content");
            if (id && content && content->is_string())
                texts.texts_[token_number(*id, where)] = visible_text(content->get_ref<const std::string&>());
        }
    return texts;
}

std::string TokenTexts::of(std::int32_t token) const {
    const auto found = texts_.find(token);
    return found == texts_.end() ? "#" + std::to_string(token) : found->second;
}

}  // namespace normscope
