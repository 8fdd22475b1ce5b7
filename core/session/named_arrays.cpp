// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/named_arrays.h"

#include "core/base/error.h"
#include "core/session/checkpoint_group.h"
#include "core/session/replacing_file.h"
#include "core/session/run_group.h"

#include <cstring>
#include <map>

namespace normscope {

using hdf5::Handle;

template <typename T>
FileArray<T> read_file_array(const std::string& path, const std::string& object, int rank) {
    const auto opened = hdf5::open_for_reading(path);
    auto array = hdf5::read_array<T>(opened.file, object, rank);
    return {std::move(array.shape), std::move(array.data)};
}
template FileArray<float> read_file_array(const std::string&, const std::string&, int);
template FileArray<double> read_file_array(const std::string&, const std::string&, int);
template FileArray<std::int32_t> read_file_array(const std::string&, const std::string&, int);
template FileArray<std::int64_t> read_file_array(const std::string&, const std::string&, int);

std::vector<StoredTensor> read_named_arrays(const std::string& path, const std::string& group) {
    const auto opened = hdf5::open_for_reading(path);
    const Handle parent = hdf5::open_group(opened.file, group);
    std::vector<StoredTensor> arrays;
    for (const auto& name : hdf5::children(parent)) arrays.push_back(layout::read_tensor(parent, name));
    return arrays;
}

bool has_object(const std::string& path, const std::string& object) {
    return hdf5::exists(hdf5::open_for_reading(path).file, object);
}

void write_named_arrays(const std::string& path, const std::vector<StoredTensor>& arrays,
                        const std::vector<ProbeResult>& probes, const std::optional<FileIdentity>& as_read) {
    ReplacingFile place(path, as_read);
    Handle file = hdf5::create_file(place.temporary());
    for (const auto& array : arrays) {
        for (auto slash = array.name.find('/', 1); slash != std::string::npos;
             slash = array.name.find('/', slash + 1))
            if (const std::string group = array.name.substr(0, slash); !hdf5::exists(file, group))
                hdf5::make_group(file, group);
        layout::write_tensor(file, array.name, array);
    }
    std::map<std::string, std::vector<ProbeResult>> by_id;
    for (const auto& probe : probes) by_id[probe.probe].push_back(probe);
    if (!by_id.empty()) {
        const Handle group = hdf5::make_group(file, "probes");
        for (const auto& [id, samples] : by_id) layout::write_probe(group, samples);
    }
    hdf5::close_file(std::move(file), path);
    place.commit();
}

template <typename T>
StoredTensor stored(const std::string& name, const std::vector<std::size_t>& shape, const T* data) {
    StoredTensor tensor{name, shape, hdf5::scalar_of<T>(), {}};
    tensor.bytes.resize(hdf5::element_count(shape) * sizeof(T));
    if (!tensor.bytes.empty()) std::memcpy(tensor.bytes.data(), data, tensor.bytes.size());
    return tensor;
}
template StoredTensor stored(const std::string&, const std::vector<std::size_t>&, const float*);
template StoredTensor stored(const std::string&, const std::vector<std::size_t>&, const double*);
template StoredTensor stored(const std::string&, const std::vector<std::size_t>&, const std::int32_t*);
template StoredTensor stored(const std::string&, const std::vector<std::size_t>&, const std::int64_t*);

std::vector<double> as_float64(const StoredTensor& tensor) {
    const std::size_t count = hdf5::element_count(tensor.shape);
    std::vector<double> values(count);
    if (tensor.type == StoredType::Float64) {
        if (count > 0) std::memcpy(values.data(), tensor.bytes.data(), count * sizeof(double));
    } else if (tensor.type == StoredType::Float32) {
        for (std::size_t i = 0; i < count; ++i) {
            float value;
            std::memcpy(&value, tensor.bytes.data() + i * sizeof value, sizeof value);
            values[i] = value;
        }
    } else {
        throw InputError(tensor.name + ": holds " + hdf5::scalar_name(tensor.type) +
                         ", needs float32 or float64");
    }
    return values;
}

}  // namespace normscope
