// SPDX-License-Identifier: GPL-3.0-or-later
// The texts of core/session/hdf5.h. All have a fixed length: variable-length strings are lost under SWMR.
#include "core/session/hdf5.h"

#include <algorithm>
#include <cstring>

namespace normscope::hdf5 {
namespace {

constexpr std::size_t largest_attribute = std::size_t{1} << 28;  ///< bytes; more is a damaged file

std::vector<char> packed(const std::vector<std::string>& texts, std::size_t bytes) {
    std::vector<char> block(std::max<std::size_t>(texts.size() * bytes, 1));
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::string cut = cut_text(texts[i], bytes);
        std::copy(cut.begin(), cut.end(), block.begin() + static_cast<std::ptrdiff_t>(i * bytes));
    }
    return block;
}

std::vector<std::string> unpacked(const std::vector<char>& block, std::size_t count, std::size_t bytes) {
    std::vector<std::string> texts(count);
    for (std::size_t i = 0; i < count; ++i)
        texts[i] = std::string(block.data() + i * bytes, strnlen(block.data() + i * bytes, bytes));
    return texts;
}

bool is_fixed_text(hid_t type) {
    return H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0;
}

/// The memory type for stored texts: HDF5 does not convert between ASCII and UTF-8, so the stored character
/// set is used.
Handle text_type_like(hid_t stored) {
    Handle type = text_type(H5Tget_size(stored));
    H5Tset_cset(type, H5Tget_cset(stored));
    return type;
}

void put_attribute(hid_t object, const std::string& name, hid_t type, hid_t space, const void* data) {
    const Handle attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT));
    if (!attribute.valid() || H5Awrite(attribute, type, data) < 0) fail_writing(object, name);
}

void put_dataset(hid_t parent, const std::string& name, hid_t type, hid_t space, const void* data) {
    const Handle dataset(
        H5Dcreate2(parent, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    if (!dataset.valid() || H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
        fail_writing(parent, name);
}

Handle list_space(std::size_t length) {
    const hsize_t count = length;
    return Handle(H5Screate_simple(1, &count, nullptr));
}

}  // namespace

Handle text_type(std::size_t bytes) {
    Handle type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type, std::max<std::size_t>(bytes, 1));
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

std::string cut_text(const std::string& text, std::size_t bytes) {
    if (text.size() <= bytes) return text;
    while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
    return text.substr(0, bytes);
}

void write_attribute(hid_t object, const std::string& name, const std::string& text) {
    put_attribute(object, name, text_type(text.size()), Handle(H5Screate(H5S_SCALAR)), text.c_str());
}

void write_attribute(hid_t object, const std::string& name, const std::vector<std::string>& texts) {
    std::size_t bytes = 1;
    for (const auto& text : texts) bytes = std::max(bytes, text.size());
    put_attribute(object, name, text_type(bytes), list_space(texts.size()), packed(texts, bytes).data());
}

std::vector<std::string> read_texts_attribute(hid_t object, const std::string& name) {
    const Handle attribute = open_attribute(object, name);
    const Handle stored(H5Aget_type(attribute)), space(H5Aget_space(attribute));
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    if (!is_fixed_text(stored) || count < 0) fail_reading(object, name, "is not a fixed-length text");
    const std::size_t bytes = H5Tget_size(stored), n = static_cast<std::size_t>(count);
    if (n > largest_attribute / bytes) fail_reading(object, name, "is impossibly large");
    std::vector<char> block(std::max<std::size_t>(n * bytes, 1));
    if (n > 0 && H5Aread(attribute, text_type_like(stored), block.data()) < 0)
        fail_reading(object, name, last_error());
    return unpacked(block, n, bytes);
}

std::string read_text_attribute(hid_t object, const std::string& name) {
    const auto texts = read_texts_attribute(object, name);
    if (texts.size() != 1) fail_reading(object, name, "is not one text");
    return texts[0];
}

void write_texts(hid_t parent, const std::string& name, std::size_t bytes,
                 const std::vector<std::string>& texts) {
    put_dataset(parent, name, text_type(bytes), list_space(texts.size()), packed(texts, bytes).data());
}

void write_text(hid_t parent, const std::string& name, const std::string& text) {
    put_dataset(parent, name, text_type(text.size()), Handle(H5Screate(H5S_SCALAR)), text.c_str());
}

std::vector<std::string> read_texts(hid_t parent, const std::string& name) {
    const Handle dataset = open_dataset(parent, name), stored(H5Dget_type(dataset));
    if (!is_fixed_text(stored)) fail_reading(parent, name, "is not a fixed-length text");
    const std::size_t bytes = H5Tget_size(stored);
    const Shape shape = dataset_shape(dataset);
    check_storage(dataset, shape, bytes);
    const std::size_t count = element_count(shape);
    std::vector<char> block(std::max<std::size_t>(count * bytes, 1));
    if (count > 0) {
        if (H5Dread(dataset, text_type_like(stored), H5S_ALL, H5S_ALL, H5P_DEFAULT, block.data()) < 0)
            fail_reading(parent, name, last_error());
    }
    return unpacked(block, count, bytes);
}

std::string read_text(hid_t parent, const std::string& name) {
    const auto texts = read_texts(parent, name);
    if (texts.size() != 1) fail_reading(parent, name, "is not one text");
    return texts[0];
}

}  // namespace normscope::hdf5
