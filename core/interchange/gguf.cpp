// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/interchange/gguf.h"

#include "core/base/error.h"
#include "core/base/number_text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <set>
#include <type_traits>

namespace normscope {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

constexpr std::uint64_t kLongestName = 1 << 16, kMaxEntries = 1 << 20;
constexpr const char* kWhole = "a file that was written to its end";

/// Reads a file from its begin on, in pieces.
class Cursor {
  public:
    Cursor(const ByteSource& file, std::string where) : file_(file), where_(std::move(where)) {}

    std::uint64_t at() const { return at_; }
    template <class T>
    T value() {
        T number;
        copy(std::as_writable_bytes(std::span(&number, 1)));
        return number;
    }
    std::string text(std::uint64_t most) {
        const auto length = value<std::uint64_t>();
        require(length, 1);
        if (length > most)
            throw InputError(where_, "has a name of " + std::to_string(length) + " bytes",
                             "at most " + std::to_string(most));
        std::string read(static_cast<std::size_t>(length), '\0');
        copy(std::as_writable_bytes(std::span(read.data(), read.size())));
        return read;
    }
    void skip(std::uint64_t count, std::uint64_t size) {
        require(count, size);
        at_ += count * size;
    }

  private:
    void require(std::uint64_t count, std::uint64_t size) const {
        if (count > (file_.size() - at_) / size)
            throw InputError(where_, "ends within its header, at byte " + std::to_string(file_.size()),
                             kWhole);
    }
    void copy(std::span<std::byte> to) {
        require(to.size(), 1);
        while (!to.empty()) {
            if (at_ < begin_ || at_ >= begin_ + piece_.size()) fill();
            const auto from = static_cast<std::size_t>(at_ - begin_),
                       count = std::min(to.size(), piece_.size() - from);
            std::memcpy(to.data(), piece_.data() + from, count);
            to = to.subspan(count);
            at_ += count;
        }
    }
    void fill() {
        constexpr std::uint64_t kPiece = 1 << 16;
        piece_.resize(static_cast<std::size_t>(std::min(kPiece, file_.size() - at_)));
        begin_ = at_;
        file_.read(begin_, piece_);
    }

    const ByteSource& file_;
    const std::string where_;
    std::uint64_t at_ = 0, begin_ = 0;
    std::vector<std::byte> piece_;
};

/// As it was before it was rounded to float32: the shortest decimal number that rounds to it.
double widened(float value) {
    char text[32];
    const auto written = std::to_chars(text, text + sizeof text, value);
    double wide = value;
    std::from_chars(text, written.ptr, wide);
    return wide;
}

enum class Type : std::uint32_t { U8, I8, U16, I16, U32, I32, F32, Bool, Text, List, U64, I64, F64 };

/// Bytes of a number; 0 of texts, lists and unknown types.
std::uint64_t size_of(Type type) {
    switch (type) {
        case Type::U8:
        case Type::I8:
        case Type::Bool:
            return 1;
        case Type::U16:
        case Type::I16:
            return 2;
        case Type::U32:
        case Type::I32:
        case Type::F32:
            return 4;
        case Type::U64:
        case Type::I64:
        case Type::F64:
            return 8;
        default:
            return 0;
    }
}

json value_of(Cursor& in, Type type, const std::string& where) {
    const auto number = [](auto value) {
        // Whole numbers that are not negative have one form.
        if constexpr (std::is_signed_v<decltype(value)>)
            if (value < 0) return json(static_cast<std::int64_t>(value));
        return json(static_cast<std::uint64_t>(value));
    };
    switch (type) {
        case Type::U8:
            return number(in.value<std::uint8_t>());
        case Type::I8:
            return number(in.value<std::int8_t>());
        case Type::U16:
            return number(in.value<std::uint16_t>());
        case Type::I16:
            return number(in.value<std::int16_t>());
        case Type::U32:
            return number(in.value<std::uint32_t>());
        case Type::I32:
            return number(in.value<std::int32_t>());
        case Type::U64:
            return number(in.value<std::uint64_t>());
        case Type::I64:
            return number(in.value<std::int64_t>());
        case Type::F32:
            return widened(in.value<float>());
        case Type::F64:
            return in.value<double>();
        case Type::Bool:
            return in.value<std::uint8_t>() != 0;
        case Type::Text:
            return in.text(std::uint64_t{1} << 24);  // templates of chats are long
        case Type::List:
            break;
        default:
            throw InputError(where,
                             "has a value of the unknown type " + std::to_string(static_cast<unsigned>(type)),
                             "types 0 … 12");
    }
    const auto of = static_cast<Type>(in.value<std::uint32_t>());
    const auto count = in.value<std::uint64_t>();
    if (of == Type::Text) {
        for (std::uint64_t i = 0; i < count; ++i) in.skip(in.value<std::uint64_t>(), 1);
    } else if (size_of(of) > 0) {
        in.skip(count, size_of(of));
    } else {
        throw InputError(where, "is a list of type " + std::to_string(static_cast<unsigned>(of)),
                         "numbers, flags or texts");
    }
    return count;
}

/// A type of tensor that is no quantisation; nullptr else.
const char* dtype_of(std::uint32_t type) {
    switch (type) {
        case 0:
            return "F32";
        case 1:
            return "F16";
        case 28:
            return "F64";
        case 30:
            return "BF16";
        default:
            return nullptr;
    }
}

struct Place {
    std::uint64_t begin, end;
    std::string name;
};

void require_apart(std::vector<Place> places, const std::string& where) {
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.begin < b.begin; });
    for (std::size_t i = 1; i < places.size(); ++i)
        if (places[i].begin < places[i - 1].end)
            throw InputError(where + ": " + quoted(std::as_const(places[i].name)),
                             "overlaps " + quoted(std::as_const(places[i - 1].name)), "bytes of its own");
}

}  // namespace

GgufFile parse_gguf(const std::shared_ptr<const ByteSource>& file, const std::string& where) {
    Cursor in(*file, where);
    char magic[4];
    for (char& c : magic) c = in.value<char>();
    if (std::memcmp(magic, "GGUF", 4) != 0)
        throw InputError(where, "is no GGUF file by its content", "a GGUF file");
    const auto version = in.value<std::uint32_t>();
    if (version != 2 && version != 3)
        throw InputError(where, "is of version " + std::to_string(version),
                         "versions 2 and 3, little-endian");
    const auto count = in.value<std::uint64_t>(), keys = in.value<std::uint64_t>();
    if (count > kMaxEntries || keys > kMaxEntries)
        throw InputError(where,
                         "states " + std::to_string(count) + " tensors and " + std::to_string(keys) + " keys",
                         "at most " + std::to_string(kMaxEntries) + " each");
    GgufFile found;
    for (std::uint64_t i = 0; i < keys; ++i) {
        const std::string key = in.text(kLongestName);
        const auto type = static_cast<Type>(in.value<std::uint32_t>());
        if (!found.metadata.emplace(key, value_of(in, type, where + ": " + quoted(key))).second)
            throw InputError(where + ": " + quoted(key), "is stated twice", "each key once");
    }
    std::vector<std::pair<SafetensorsEntry, std::uint64_t>> tensors;  // and their offsets
    std::string quantised;
    std::size_t quantised_count = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        SafetensorsEntry entry;
        entry.name = in.text(kLongestName);
        entry.file = file;
        const std::string name = where + ": " + quoted(std::as_const(entry.name));
        const auto axes = in.value<std::uint32_t>();
        if (axes > 4) throw InputError(name, "has " + std::to_string(axes) + " axes", "at most 4");
        std::uint64_t numbers = 1;
        for (std::uint32_t k = 0; k < axes; ++k) {
            const auto extent = in.value<std::uint64_t>();
            if (__builtin_mul_overflow(numbers, extent, &numbers))
                throw InputError(name, "has a shape of more than 2^64 numbers", "");
            entry.shape.insert(entry.shape.begin(), extent);  // theirs begins with the fastest axis
        }
        const auto type = in.value<std::uint32_t>();
        const auto offset = in.value<std::uint64_t>();
        if (const char* word = dtype_of(type)) {
            entry.dtype = word;
            const std::uint64_t size = type == 0 ? 4 : type == 28 ? 8 : 2;
            if (__builtin_mul_overflow(numbers, size, &entry.bytes))
                throw InputError(name, "has a shape of more than 2^64 bytes", "");
        } else if (++quantised_count == 1) {
            quantised = quoted(std::as_const(entry.name)) + " of type " + std::to_string(type);
        }
        tensors.emplace_back(std::move(entry), offset);
    }
    if (quantised_count > 0)
        throw InputError(
            where,
            "holds " + std::to_string(quantised_count) + " quantised tensors, the first is " + quantised,
            "F32, F16, BF16, F64: the model before it was quantised");
    const auto stated = found.metadata.find("general.alignment");
    const std::uint64_t alignment = stated == found.metadata.end() ? 32
                                    : stated->second.is_number_unsigned()
                                        ? stated->second.get<std::uint64_t>()
                                        : 0;
    if (alignment == 0 || alignment > (1 << 20))
        throw InputError(where + ": general.alignment", json_text(stated->second) + " is out of range",
                         "1 … " + std::to_string(1 << 20));
    const std::uint64_t data = (in.at() + alignment - 1) / alignment * alignment;
    std::vector<Place> places;
    for (auto& [entry, offset] : tensors) {
        const std::string name = where + ": " + quoted(std::as_const(entry.name));
        if (offset % alignment != 0 || data > file->size() || offset > file->size() - data ||
            entry.bytes > file->size() - data - offset)
            throw InputError(name,
                             "is at byte " + std::to_string(offset) + " of the data, " +
                                 std::to_string(entry.bytes) + " bytes",
                             "inside the file, at multiples of " + std::to_string(alignment));
        entry.at = data + offset;
        if (entry.bytes > 0) places.push_back({entry.at, entry.at + entry.bytes, entry.name});
        if (!found.tensors.add(std::move(entry)))
            throw InputError(name, "is there twice", "each tensor once");
    }
    require_apart(std::move(places), where);
    return found;
}

namespace {

/// transformers' name of a tensor of llama.cpp; empty for one that is not known.
std::string name_of(const std::string& theirs) {
    struct Known {
        const char *theirs, *ours;
    };
    static constexpr Known kOutside[] = {{"token_embd.weight", "model.embed_tokens.weight"},
                                         {"output_norm.weight", "model.norm.weight"},
                                         {"output.weight", "lm_head.weight"}};
    static constexpr Known kOfLayer[] = {
        {"attn_norm", "input_layernorm"},    {"ffn_norm", "post_attention_layernorm"},
        {"attn_q", "self_attn.q_proj"},      {"attn_k", "self_attn.k_proj"},
        {"attn_v", "self_attn.v_proj"},      {"attn_output", "self_attn.o_proj"},
        {"attn_q_norm", "self_attn.q_norm"}, {"attn_k_norm", "self_attn.k_norm"},
        {"ffn_gate", "mlp.gate_proj"},       {"ffn_up", "mlp.up_proj"},
        {"ffn_down", "mlp.down_proj"}};
    for (const Known& known : kOutside)
        if (theirs == known.theirs) return known.ours;
    if (!theirs.starts_with("blk.")) return {};
    const std::size_t dot = theirs.find('.', 4), last = theirs.rfind('.');
    if (dot == std::string::npos || last <= dot) return {};
    const std::string layer = theirs.substr(4, dot - 4), middle = theirs.substr(dot + 1, last - dot - 1),
                      end = theirs.substr(last);
    const bool number = !layer.empty() &&
                        std::all_of(layer.begin(), layer.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!number || (end != ".weight" && end != ".bias")) return {};
    for (const Known& known : kOfLayer)
        if (middle == known.theirs)
            return std::string("model.layers.").append(layer).append(".").append(known.ours).append(end);
    return {};
}

/// The metadata of one architecture; every key is read or rejected.
class Metadata {
  public:
    Metadata(const GgufFile& file, std::string architecture, std::string where)
        : file_(file), prefix_(std::move(architecture) + "."), where_(std::move(where)) {}

    const json* find(const std::string& key) {
        read_.insert(prefix_ + key);
        const auto found = file_.metadata.find(prefix_ + key);
        return found == file_.metadata.end() ? nullptr : &found->second;
    }
    const json& at(const std::string& key) {
        const json* value = find(key);
        if (!value) throw InputError(where_ + ": " + prefix_ + key, "is missing", "a number");
        return *value;
    }
    [[noreturn]] void reject(const std::string& key, const std::string& allowed) {
        throw InputError(where_ + ": " + prefix_ + key, json_text(at(key)) + " cannot be expressed", allowed);
    }
    void finish() const {
        std::string unknown;
        for (const auto& [key, value] : file_.metadata)
            if (key.starts_with(prefix_) && !read_.count(key))
                unknown += (unknown.empty() ? "" : ", ") + quoted(key) + " " + json_text(value);
        if (!unknown.empty())
            throw InputError(where_ + ": " + unknown, "is not known and may change what the model computes",
                             "a file without");
    }

  private:
    const GgufFile& file_;
    const std::string prefix_, where_;
    std::set<std::string> read_;
};

/// config.json as transformers would write it.
std::string config_of(const GgufFile& file, const std::string& architecture, const std::string& where) {
    Metadata in(file, architecture, where);
    ordered_json config{{"model_type", architecture},
                        {"hidden_size", in.at("embedding_length")},
                        {"num_hidden_layers", in.at("block_count")},
                        {"num_attention_heads", in.at("attention.head_count")},
                        {"intermediate_size", in.at("feed_forward_length")},
                        {"max_position_embeddings", in.at("context_length")},
                        {"rms_norm_eps", in.at("attention.layer_norm_rms_epsilon")},
                        {"tie_word_embeddings", !file.tensors.find("output.weight")}};
    if (const json* shared = in.find("attention.head_count_kv")) config["num_key_value_heads"] = *shared;
    const json* const base = in.find("rope.freq_base");
    config["rope_theta"] = base ? *base : json(10000.0);
    const json *const key = in.find("attention.key_length"), *const value = in.find("attention.value_length");
    if (key) config["head_dim"] = *key;
    if (key && value && *key != *value) in.reject("attention.value_length", "attention.key_length");
    // Of heads that rotate in part the order of the rows is another.
    const json &heads = config["num_attention_heads"], &width = config["hidden_size"];
    if (const json* rotating = in.find("rope.dimension_count")) {
        const bool whole = key ? *rotating == *key
                               : heads.is_number_unsigned() && heads > 0 && width.is_number_unsigned() &&
                                     *rotating == width.get<std::uint64_t>() / heads.get<std::uint64_t>();
        if (!whole) in.reject("rope.dimension_count", "the width of a head");
    }
    if (const json* embedding = in.find("vocab_size")) config["vocab_size"] = *embedding;
    const SafetensorsEntry* const tokens = file.tensors.find("token_embd.weight");
    if (tokens && !tokens->shape.empty()) config["vocab_size"] = tokens->shape.front();
    const json* const kind = in.find("rope.scaling.type");
    const json* const factor = in.find("rope.scaling.factor");
    in.find("rope.scaling.original_context_length");
    in.find("rope.scaling.finetuned");
    if (kind && *kind == "linear" && factor)
        config["rope_scaling"] = {{"rope_type", "linear"}, {"factor", *factor}};
    else if (kind && *kind != "none")
        in.reject("rope.scaling.type", "none, linear with a factor");
    if (const json* old = in.find("rope.scale_linear"); old && *old != 1.0)
        in.reject("rope.scale_linear", "1");
    for (const char* const experts : {"expert_count", "expert_used_count"})
        if (const json* of = in.find(experts); of && *of != 0) in.reject(experts, "0");
    in.find("tensor_data_layout");  // a name
    if (const json* window = in.find("attention.sliding_window"); window && *window != 0)
        config["sliding_window"] = *window;
    in.finish();
    return json_text(config);
}

}  // namespace

ModelFiles gguf_model(const std::shared_ptr<const ByteSource>& file, const std::string& where) {
    const GgufFile found = parse_gguf(file, where);
    const auto text = [&](const char* key) {
        const auto value = found.metadata.find(key);
        return value != found.metadata.end() && value->second.is_string() ? value->second.get<std::string>()
                                                                          : std::string();
    };
    const std::string architecture = text("general.architecture");
    constexpr const char* kArchitectures[] = {"llama", "qwen2", "qwen3"};
    if (std::none_of(std::begin(kArchitectures), std::end(kArchitectures),
                     [&](const char* known) { return architecture == known; }))
        throw InputError(where + ": general.architecture", quoted(architecture) + " is not read from GGUF",
                         "llama, qwen2, qwen3; others as safetensors");
    if (const auto parts = found.metadata.find("split.count");
        parts != found.metadata.end() && parts->second > 1)
        throw InputError(where, "is one of " + json_text(parts->second) + " parts",
                         "the parts merged into one file");
    ModelFiles model;
    model.where = where;
    model.config_where = where;
    model.neighbours = architecture == "llama";
    for (const SafetensorsEntry& entry : found.tensors.tensors()) {
        SafetensorsEntry named = entry;
        named.name = name_of(entry.name);
        if (named.name.empty())
            throw InputError(
                where + ": " + quoted(std::as_const(entry.name)),
                "is not known and may change what the model computes",
                "the tensors of " + architecture + " without scaled rotary frequencies and experts");
        model.tensors.add(std::move(named));
    }
    model.config = config_of(found, architecture, where);
    return model;
}

}  // namespace normscope
