// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_result.h"
#include "core/session/replaceable.h"
#include "core/session/stored_tensor.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace normscope {

/// Plain HDF5 files of named arrays, the exchange format with other programs: weights (/params/NAME), tokens
/// (/tokens), attention rows (/p), outputs (/hidden, /grad/NAME, /probes/…).

template <typename T>
struct FileArray {
    std::vector<std::size_t> shape;
    std::vector<T> data;  ///< row-major
};
/// The array at `object` ("/tokens"), T = float, double or std::int32_t. float32 is widened to double; all
/// else must match. InputError names file, object, and the type and number of axes (−1: any) that it needs.
template <typename T>
FileArray<T> read_file_array(const std::string& path, const std::string& object, int rank = -1);

/// All arrays of a group ("/params") in the order of creation, names without the group; any type.
std::vector<StoredTensor> read_named_arrays(const std::string& path, const std::string& group);
bool has_object(const std::string& path, const std::string& object);

/// A new file with these arrays, names being paths ("/grad/tok_emb"), and these probe samples under /probes,
/// laid out as in a session. Put in place atomically; `as_read` as in save_session(). Throws SystemError,
/// NotReplaceable.
void write_named_arrays(const std::string& path, const std::vector<StoredTensor>& arrays,
                        const std::vector<ProbeResult>& probes = {},
                        const std::optional<FileIdentity>& as_read = std::nullopt);

/// Packs values for write_named_arrays; T = float, double, std::int32_t or std::int64_t.
template <typename T>
StoredTensor stored(const std::string& name, const std::vector<std::size_t>& shape, const T* data);
/// The values of a floating-point array as float64; InputError for integers.
std::vector<double> as_float64(const StoredTensor& tensor);

}  // namespace normscope
