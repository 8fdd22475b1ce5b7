// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/damage.h"

#include "core/session/hdf5.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>

namespace normscope::fuzz {

namespace {

using hdf5::Handle;
using Random = std::mt19937_64;  // its sequence is fixed by the standard

std::size_t below(Random& random, std::size_t n) {
    return n == 0 ? 0 : static_cast<std::size_t>(random() % n);
}

std::string read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string damage_bytes(std::string& bytes, Random& random) {
    const std::size_t size = bytes.size();
    const auto block = [&] { return std::size_t{16} << below(random, 9); };
    switch (below(random, 6)) {
        case 0: {
            const std::size_t count = std::size_t{1} << below(random, 5);
            for (std::size_t i = 0; i < count; ++i)
                bytes[below(random, size)] ^= static_cast<char>(1U << below(random, 8));
            return "bits";
        }
        case 1: {
            const std::size_t count = std::size_t{1} << below(random, 5);
            for (std::size_t i = 0; i < count; ++i) bytes[below(random, size)] = static_cast<char>(random());
            return "bytes";
        }
        case 2:
            bytes.resize(below(random, size));
            return "cut";
        case 3: {
            const std::size_t n = std::min(block(), size / 4), a = below(random, size / 2 - n),
                              b = size / 2 + below(random, size / 2 - n);
            std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(a),
                             bytes.begin() + static_cast<std::ptrdiff_t>(a + n),
                             bytes.begin() + static_cast<std::ptrdiff_t>(b));
            return "swapped blocks";
        }
        case 4: {
            const std::size_t n = std::min(block(), size), at = below(random, size - n + 1);
            std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), n, below(random, 2) ? '\0' : '\xff');
            return "blank block";
        }
        default: {  // an address somewhere in the file, or one outside it
            const std::uint64_t place =
                below(random, 3) ? below(random, size) : ~std::uint64_t{0} >> below(random, 60);
            const std::size_t at = below(random, size - 8);
            for (std::size_t i = 0; i < 8; ++i) bytes[at + i] = static_cast<char>(place >> (8 * i));
            return "address";
        }
    }
}

struct Objects {
    std::vector<std::string> all, data_sets;
    std::vector<std::pair<std::string, std::string>> attributes;  ///< object, name
};

Objects objects_of(hid_t file) {
    Objects objects;
    const auto visit = [](hid_t at, const char* name, const H5O_info_t* info, void* to) -> herr_t {
        auto& o = *static_cast<Objects*>(to);
        if (info->type == H5O_TYPE_DATASET) o.data_sets.emplace_back(name);
        if (std::string(name) != ".") o.all.emplace_back(name);
        const Handle object(H5Oopen(at, name, H5P_DEFAULT));
        const hsize_t count = info->num_attrs;
        for (hsize_t i = 0; i < count; ++i) {
            char text[256] = {};
            H5Aget_name_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, i, text, sizeof text, H5P_DEFAULT);
            o.attributes.emplace_back(name, text);
        }
        return 0;
    };
    H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, visit, &objects, H5O_INFO_ALL);
    return objects;
}

double impossible(Random& random) {
    const double values[] = {std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity(),
                             -1,
                             -std::numeric_limits<double>::infinity(),
                             1e308,
                             -1e308,
                             5e-324,
                             9.3e18,
                             -9.3e18,
                             4294967296.0,
                             0};
    return values[below(random, std::size(values))];
}

std::string change_text(std::string text, Random& random) {
    const char* pieces[] = {"{", "}",          "[",  "null", "-1", "1e999", "\"", "99999999999999999999",
                            "0", "2147483647", "\n", "\xff", ",",  "true"};
    if (text.empty()) return pieces[below(random, std::size(pieces))];
    for (std::size_t i = 0, n = 1 + below(random, 3); i < n; ++i) {
        const std::size_t at = below(random, text.size());
        switch (below(random, 4)) {
            case 0:
                text[at] = static_cast<char>(random());
                break;
            case 1:
                text.insert(at, pieces[below(random, std::size(pieces))]);
                break;
            case 2:
                text.erase(at, 1 + below(random, 20));
                break;
            default: {  // a digit more in the first number from here on
                const std::size_t digit = text.find_first_of("0123456789", at);
                if (digit != std::string::npos)
                    text.replace(digit, 1, pieces[below(random, std::size(pieces))]);
            }
        }
        if (text.empty()) break;
    }
    return text;
}

void replace_data_set(hid_t file, const std::string& name, Random& random) {
    H5Ldelete(file, name.c_str(), H5P_DEFAULT);
    const std::size_t shapes[] = {0, 1, 2, 3, 7, 1000};
    hdf5::Shape shape(below(random, 4));
    for (std::size_t& n : shape) n = shapes[below(random, std::size(shapes) - (shape.size() > 1))];
    const std::size_t count = hdf5::element_count(shape);
    if (below(random, 3) == 0) {
        const std::vector<std::int32_t> values(count + 1, static_cast<std::int32_t>(random()));
        hdf5::write_array(file, name, shape, values.data());
    } else {
        const std::vector<double> values(count + 1, impossible(random));
        hdf5::write_array(file, name, shape, values.data());
    }
}

/// Every entry the same impossible number, or one entry alone.
void damage_values(hid_t file, const std::string& name, Random& random) {
    const Handle data(H5Dopen2(file, name.c_str(), H5P_DEFAULT));
    const Handle space(H5Dget_space(data)), type(H5Dget_type(data));
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    if (count <= 0 || count > 1 << 20) return;
    if (H5Tget_class(type) == H5T_STRING || H5Tget_class(type) == H5T_COMPOUND) {
        std::vector<char> bytes(static_cast<std::size_t>(count) * H5Tget_size(type));
        if (H5Tis_variable_str(type) > 0) return;
        H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
        for (std::size_t i = 0, n = 1 + below(random, 8); i < n; ++i)
            bytes[below(random, bytes.size())] = static_cast<char>(random());
        H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
        return;
    }
    std::vector<double> values(static_cast<std::size_t>(count));
    H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    const double bad = impossible(random);
    if (below(random, 2))
        std::fill(values.begin(), values.end(), bad);
    else
        values[below(random, values.size())] = bad;
    H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
}

void damage_attribute(hid_t file, const std::string& object, const std::string& name, Random& random) {
    const Handle at(H5Oopen(file, object.c_str(), H5P_DEFAULT));
    const std::size_t what = below(random, 5);
    std::string text;
    {
        const Handle attribute(H5Aopen(at, name.c_str(), H5P_DEFAULT)), type(H5Aget_type(attribute)),
            space(H5Aget_space(attribute));
        if (H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_npoints(space) == 1 &&
            H5Tis_variable_str(type) == 0) {
            text.resize(H5Tget_size(type));
            H5Aread(attribute, type, text.data());
            text.resize(text.find('\0') == std::string::npos ? text.size() : text.find('\0'));
        }
    }
    H5Adelete(at, name.c_str());
    if (what == 0) return;
    if (what == 1 || (what == 2 && text.empty())) return hdf5::write_attribute(at, name, impossible(random));
    if (what == 2) return hdf5::write_attribute(at, name, std::int64_t{-1});
    hdf5::write_attribute(at, name, change_text(text, random));
}

std::string damage_structure(const std::string& path, Random& random) {
    const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
    if (!file.valid()) return "not opened";
    const Objects objects = objects_of(file);
    const auto any = [&](const auto& list) -> const auto& {
        return list[below(random, list.size())];
    };
    switch (below(random, 6)) {
        case 0: {
            const std::string name = any(objects.all);
            H5Ldelete(file, name.c_str(), H5P_DEFAULT);
            return "without " + name;
        }
        case 1: {
            const std::string name = any(objects.data_sets);
            replace_data_set(file, name, random);
            return "another " + name;
        }
        case 2: {
            const std::string name = any(objects.data_sets);
            damage_values(file, name, random);
            return "values of " + name;
        }
        case 3: {
            const std::string from = any(objects.all), to = any(objects.all) + (below(random, 2) ? "" : "x");
            H5Lmove(file, from.c_str(), file, to.c_str(), H5P_DEFAULT, H5P_DEFAULT);
            return from + " moved to " + to;
        }
        default: {
            const auto [object, name] = any(objects.attributes);
            damage_attribute(file, object, name, random);
            return "attribute " + object + "@" + name;
        }
    }
}

}  // namespace

std::string damaged_copy(const std::vector<std::string>& sound, const std::string& target,
                         std::uint64_t number, std::uint64_t seed) {
    Random random(seed * 1000003 + number);
    const std::string source = sound[below(random, sound.size())];
    std::filesystem::remove(target);
    std::string what = std::filesystem::path(source).filename().string() + ": ";
    if (below(random, 2)) {
        std::filesystem::copy_file(source, target);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
        for (std::size_t i = 0, n = 1 + below(random, 2); i < n; ++i)
            what += damage_structure(target, random) + "; ";
        return what;
    }
    std::string bytes = read(source);
    what += damage_bytes(bytes, random);
    std::ofstream(target, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return what;
}

}  // namespace normscope::fuzz
