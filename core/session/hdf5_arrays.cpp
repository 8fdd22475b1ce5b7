// SPDX-License-Identifier: GPL-3.0-or-later
// The data sets of core/session/hdf5.h: whole arrays, growing arrays, and how much of one is sound.
#include "core/base/assert.h"
#include "core/session/hdf5.h"

#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <optional>

namespace normscope::hdf5 {
namespace {

constexpr std::size_t chunk_bytes = 4096;

std::vector<hsize_t> extents(const Shape& shape) {
    return {shape.begin(), shape.end()};
}

Handle make_space(const std::vector<hsize_t>& dims) {
    return Handle(dims.empty() ? H5Screate(H5S_SCALAR)
                               : H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr));
}

void write_plain(hid_t parent, const std::string& name, hid_t type, hid_t space, hid_t creation, bool empty,
                 const void* data) {
    const Handle dataset(H5Dcreate2(parent, name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    if (!dataset.valid()) fail_writing(parent, name);
    if (!empty && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
        fail_writing(parent, name);
}

bool filtered(hid_t dataset) {
    const Handle creation(H5Dget_create_plist(dataset));
    return H5Pget_nfilters(creation) > 0;
}

/// The rows up to the first, from `first` on, whose chunks are not all in the file, whole; nullopt where a
/// data set has no chunks.
std::optional<std::size_t> rows_with_chunks(hid_t dataset, const Shape& shape, std::size_t first = 0) {
    const Handle file(H5Iget_file_id(dataset)), creation(H5Dget_create_plist(dataset)),
        type(H5Dget_type(dataset));
    if (shape.empty() || H5Pget_layout(creation) != H5D_CHUNKED) return std::nullopt;
    int* descriptor = nullptr;
    struct stat status {};
    std::vector<hsize_t> chunk(shape.size()), at(shape.size(), 0);
    if (H5Fget_vfd_handle(file, H5P_DEFAULT, reinterpret_cast<void**>(&descriptor)) < 0 ||
        ::fstat(*descriptor, &status) != 0 ||
        H5Pget_chunk(creation, static_cast<int>(chunk.size()), chunk.data()) < 0)
        fail_reading(dataset, "", last_error());
    // A damaged chunk shape makes the library read past its buffer. A valid one fits into a fixed shape.
    std::vector<hsize_t> most(shape.size());
    H5Sget_simple_extent_dims(Handle(H5Dget_space(dataset)), nullptr, most.data());
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
        if (chunk[axis] > std::max<hsize_t>(most[axis], 1)) return 0;
    at[0] = first / chunk[0] * chunk[0];
    const bool filters = filtered(dataset);
    const haddr_t whole = element_count({chunk.begin(), chunk.end()}) * H5Tget_size(type);
    while (at[0] < shape[0]) {
        unsigned skipped = 0;
        haddr_t address = HADDR_UNDEF;
        hsize_t bytes = 0;
        if (H5Dget_chunk_info_by_coord(dataset, at.data(), &skipped, &address, &bytes) < 0) return at[0];
        if (address == HADDR_UNDEF || address + bytes > static_cast<haddr_t>(status.st_size)) return at[0];
        // The library would read past a chunk that is marked as unfiltered but too short.
        if ((!filters || skipped != 0) && bytes < whole) return at[0];
        for (std::size_t axis = shape.size(); axis-- > 0;) {  // the next chunk, last axis fastest
            at[axis] += chunk[axis];
            if (at[axis] < shape[axis] || axis == 0) break;
            at[axis] = 0;
        }
    }
    return shape[0];
}

}  // namespace

void check_storage(hid_t dataset, const Shape& shape, std::size_t element_bytes, std::size_t first) {
    std::size_t bytes = element_bytes;
    if (std::find(shape.begin(), shape.end(), 0u) != shape.end()) return;
    for (const std::size_t extent : shape) {
        if (bytes > std::numeric_limits<std::size_t>::max() / extent)
            fail_reading(dataset, "", "is impossibly large");
        bytes *= extent;
    }
    // In one piece in this file: no chunks, no filters, nothing elsewhere.
    if (H5Dget_offset(dataset) != HADDR_UNDEF) {
        if (bytes > H5Dget_storage_size(dataset)) fail_reading(dataset, "", "its values are not in the file");
        return;
    }
    // Deflate shrinks at most 1032-fold. The stored size of chunks without filters lags in a recording.
    const Handle creation(H5Dget_create_plist(dataset));
    if (H5Pget_layout(creation) == H5D_VIRTUAL || H5Pget_external_count(creation) > 0)
        fail_reading(dataset, "", "its values lie in another file");
    const bool filters = H5Pget_nfilters(creation) > 0;
    const bool enough = bytes / (filters ? 1032 : 1) <= H5Dget_storage_size(dataset);
    const bool chunks_decide = !filters || enough;
    const auto rows = chunks_decide ? rows_with_chunks(dataset, shape, first) : std::nullopt;
    const bool there = rows ? *rows == shape[0] : enough;
    if (!there) fail_reading(dataset, "", "its values are not in the file");
}

std::size_t sound_rows(hid_t dataset) {
    const Shape shape = dataset_shape(dataset);
    if (shape.empty() || element_count(shape) == 0) return shape.empty() ? 0 : shape[0];
    return rows_with_chunks(dataset, shape).value_or(shape[0]);
}

Shape dataset_shape(hid_t dataset) {
    const Handle space(H5Dget_space(dataset));
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank < 0) fail_reading(dataset, "", last_error());
    std::vector<hsize_t> dims(static_cast<std::size_t>(rank));
    H5Sget_simple_extent_dims(space, dims.data(), nullptr);
    return {dims.begin(), dims.end()};
}

Scalar dataset_scalar(hid_t dataset) {
    const Handle type(H5Dget_type(dataset));
    const std::size_t size = H5Tget_size(type);
    if (H5Tget_class(type) == H5T_FLOAT) {
        if (size == 4) return Scalar::Float32;
        if (size == 8) return Scalar::Float64;
    }
    if (H5Tget_class(type) == H5T_INTEGER) {
        const bool sign = H5Tget_sign(type) == H5T_SGN_2;
        if (size == 4 && sign) return Scalar::Int32;
        if (size == 8) return sign ? Scalar::Int64 : Scalar::UInt64;
    }
    return Scalar::Other;
}

void write_array(hid_t parent, const std::string& name, Scalar type, const Shape& shape, const void* data,
                 bool compress) {
    NORMSCOPE_ASSERT(data || element_count(shape) == 0, "an array that is not empty has values");
    const std::vector<hsize_t> dims = extents(shape);
    const std::size_t count = element_count(shape);
    const Handle creation(H5Pcreate(H5P_DATASET_CREATE));
    if (compress && count > 0 && dims.size() > 1 && count / shape[0] * scalar_size(type) >= chunk_bytes) {
        std::vector<hsize_t> chunk = dims;
        chunk[0] = 1;
        H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
        H5Pset_shuffle(creation);
        H5Pset_deflate(creation, 1);
    }
    write_plain(parent, name, native_type(type), make_space(dims), creation, count == 0, data);
}

Handle make_growing(hid_t parent, const std::string& name, hid_t type, const Shape& row_shape) {
    std::vector<hsize_t> dims = extents(row_shape), chunk;
    for (const hsize_t extent : dims) chunk.push_back(std::max<hsize_t>(extent, 1));
    const std::size_t row_bytes = std::max<std::size_t>(element_count(row_shape) * H5Tget_size(type), 1);
    chunk.insert(chunk.begin(), std::max<hsize_t>(chunk_bytes / row_bytes, 1));
    std::vector<hsize_t> most = dims;
    dims.insert(dims.begin(), 0);
    most.insert(most.begin(), H5S_UNLIMITED);
    const int rank = static_cast<int>(dims.size());
    const Handle space(H5Screate_simple(rank, dims.data(), most.data())),
        creation(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_chunk(creation, rank, chunk.data());
    Handle dataset(H5Dcreate2(parent, name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    if (!dataset.valid()) fail_writing(parent, name);
    return dataset;
}

void read_rows(hid_t dataset, hid_t type, std::size_t rows, void* data, std::size_t first) {
    Shape shape = dataset_shape(dataset);
    const bool whole = shape.empty() || rows == shape[0];
    if (!shape.empty()) shape[0] = rows;
    if (element_count(shape) == 0) return;
    const std::vector<hsize_t> count = extents(shape);
    std::vector<hsize_t> start(shape.size(), 0);
    if (!start.empty()) start[0] = first;
    const Handle in_file(H5Dget_space(dataset)), in_memory = make_space(count);
    if (!whole &&
        H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) < 0)
        fail_reading(dataset, "", last_error());
    if (H5Dread(dataset, type, in_memory, in_file, H5P_DEFAULT, data) < 0)
        fail_reading(dataset, "", last_error());
}

Shape check_array(hid_t dataset, Scalar type, int rank, std::size_t end, std::size_t first) {
    const Shape shape = dataset_shape(dataset);
    const Scalar stored = dataset_scalar(dataset);
    const bool same_class = (stored == Scalar::Float32 || stored == Scalar::Float64) ==
                            (type == Scalar::Float32 || type == Scalar::Float64);
    const bool fits = same_class && scalar_size(stored) <= scalar_size(type);
    if (stored == Scalar::Other || !fits)
        fail_reading(dataset, "",
                     std::string("holds ") + scalar_name(stored) + ", needs " + scalar_name(type));
    if (rank >= 0 && shape.size() != static_cast<std::size_t>(rank))
        fail_reading(dataset, "",
                     "has shape " + shape_text(shape) + ", needs " + std::to_string(rank) + " axes");
    Shape used = shape;
    if (!used.empty()) used[0] = std::min(used[0], end);
    check_storage(dataset, used, scalar_size(stored), first);
    return shape;
}

}  // namespace normscope::hdf5
