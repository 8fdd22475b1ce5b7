// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/foreign/walk.h"

#include "core/base/error.h"
#include "core/session/hdf5.h"
#include "core/session/outline.h"
#include "core/session/process/guard.h"
#include "core/session/run_group.h"

#include <algorithm>
#include <set>
#include <vector>

namespace normscope {
namespace {

using hdf5::Handle;

constexpr std::size_t whole_bytes = std::size_t{16} << 20;
constexpr std::size_t most_chunks = 4096;  ///< whose offsets are queried one by one, as the reader does
constexpr int deepest = 64;                ///< a session needs 7

/// Thrown to reject the file.
struct FileRejection {
    std::string why;
};

/// The reader reports errors; here only crashes count.
template <typename Action>
void passing_over_errors(Action action) {
    try {
        action();
    } catch (const InputError&) {
        // The reader reports the same error again.
    }
}

class Walk {
  public:
    void group(hid_t group, int depth) {
        attributes(group);
        if (depth == deepest)
            throw FileRejection{"groups are nested more than " + std::to_string(deepest) + " deep"};
        std::vector<std::string> names;
        passing_over_errors([&] { names = hdf5::children(group); });
        for (const auto& name : names) passing_over_errors([&] { member(group, name, depth); });
    }

  private:
    void member(hid_t group, const std::string& name, int depth) {
        H5L_info_t link{};
        if (H5Lget_info(group, name.c_str(), &link, H5P_DEFAULT) < 0) return;
        if (link.type != H5L_TYPE_HARD && link.type != H5L_TYPE_SOFT)
            throw FileRejection{"\"" + name + "\" is a link to another file, allowed: links within the file"};
        if (!hdf5::exists(group, name)) return;
        const Handle object(H5Oopen(group, name.c_str(), H5P_DEFAULT));
        H5O_info_t info{};
        if (!object.valid() || H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0) return;
        if (!seen_.insert(info.addr).second) return;
        if (H5Iget_type(object) == H5I_GROUP)
            this->group(object, depth + 1);
        else if (H5Iget_type(object) == H5I_DATASET)
            dataset(object, name);
    }

    void attributes(hid_t object) {
        std::vector<std::string> names;
        try {
            names = hdf5::attribute_names(object);
        } catch (const InputError&) {
            // A reader that asks for one of them by name compares it with what could not be decoded: whether
            // that crashes depends on what the memory holds (HDF5 1.10.8).
            throw FileRejection{
                "its attributes are damaged, allowed: a file that can be walked from end to end"};
        }
        for (const auto& name : names) passing_over_errors([&] { attribute(object, name); });
    }

    static void attribute(hid_t object, const std::string& name) {
        const Handle type(H5Aget_type(hdf5::open_attribute(object, name)));
        const H5T_class_t kind = H5Tget_class(type);
        if (kind == H5T_STRING)
            hdf5::read_texts_attribute(object, name);
        else if (kind == H5T_FLOAT)
            hdf5::read_double_attribute(object, name);
        else if (kind == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_NONE)
            hdf5::read_uint_attribute(object, name);
        else if (kind == H5T_INTEGER)
            hdf5::read_int_attribute(object, name);
    }

    void dataset(hid_t dataset, const std::string& name) {
        attributes(dataset);
        const Handle creation(H5Dget_create_plist(dataset)), type(H5Dget_type(dataset));
        if (!creation.valid() || !type.valid()) return;
        const H5D_layout_t layout = H5Pget_layout(creation);
        if (layout == H5D_VIRTUAL || H5Pget_external_count(creation) > 0)
            throw FileRejection{"the values of \"" + name +
                                "\" lie in another file, allowed: values in the file itself"};
        const hdf5::Shape shape = hdf5::dataset_shape(dataset);
        H5Dget_storage_size(dataset);  // visits the whole index of chunks
        if (layout == H5D_CHUNKED && !shape.empty() && chunks(creation, shape) > most_chunks) return;
        std::size_t rows = shape.empty() ? 1 : shape[0];
        hdf5::Shape row = shape;
        if (!row.empty()) row[0] = 1;
        const std::size_t row_bytes = bytes_of(row, H5Tget_size(type));
        if (row_bytes > whole_bytes) return;  // only the offsets of its chunks can be checked
        if (rows > 0 &&
            rows > (whole_bytes - std::min(read_, whole_bytes)) / std::max<std::size_t>(row_bytes, 1))
            rows = 1;
        read_ += rows * row_bytes;
        values(dataset, type, shape, rows);
    }

    /// Reads each kind like the reader: numbers, fixed-length texts, lists of events.
    static void values(hid_t dataset, hid_t type, const hdf5::Shape& shape, std::size_t rows) {
        hdf5::Shape used = shape;
        if (!used.empty()) used[0] = rows;
        const H5T_class_t kind = H5Tget_class(type);
        const hdf5::Scalar scalar = hdf5::dataset_scalar(dataset);
        Handle memory;
        if (scalar != hdf5::Scalar::Other)
            memory = Handle(H5Tcopy(hdf5::native_type(scalar)));
        else if (kind == H5T_COMPOUND)
            memory = layout::event_type();
        else if (kind == H5T_STRING && H5Tis_variable_str(type) == 0)
            memory = Handle(H5Tcopy(type));
        else
            return;  // never read
        hdf5::check_storage(dataset, used, H5Tget_size(type));
        std::vector<char> block(std::max<std::size_t>(hdf5::element_count(used) * H5Tget_size(memory), 1));
        hdf5::read_rows(dataset, memory, rows, block.data());
    }

    static std::size_t chunks(hid_t creation, const hdf5::Shape& shape) {
        std::vector<hsize_t> chunk(shape.size());
        if (H5Pget_chunk(creation, static_cast<int>(chunk.size()), chunk.data()) < 0) return 0;
        std::size_t count = 1;
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            const std::size_t along = shape[axis] / std::max<hsize_t>(chunk[axis], 1) + 1;
            if (along > most_chunks) return along;
            count *= along;
            if (count > most_chunks) break;
        }
        return count;
    }

    /// Saturates where the product overflows.
    static std::size_t bytes_of(const hdf5::Shape& shape, std::size_t element) {
        std::size_t bytes = std::max<std::size_t>(element, 1);
        for (const std::size_t extent : shape) {
            if (extent == 0) return 0;
            if (extent > whole_bytes || bytes > whole_bytes) return 2 * whole_bytes;
            bytes *= extent;
        }
        return bytes;
    }

    std::set<haddr_t> seen_;
    std::size_t read_ = 0;
};

}  // namespace

std::string walk_file(const std::string& path) {
    try {
        passing_over_errors([&] {
            const auto opened = hdf5::open_for_reading(path);
            Walk().group(Handle(H5Gopen2(opened.file, "/", H5P_DEFAULT)), 0);
        });
    } catch (const FileRejection& rejection) {
        return rejection.why;
    }
    return {};
}

std::string walk_part(const std::string& path, const std::string& part, const std::function<void()>& ended) {
    const auto outline = outline_of(part);
    if (!outline) return walk_file(path);
    bool first = true;
    passing_over_errors([&] {
        outline_in_steps(
            path, outline->probes,
            [&] {
                if (!first) ended();
                first = false;
            },
            [&](std::size_t run) { return outline->share.has(run); });
    });
    return {};
}

}  // namespace normscope
