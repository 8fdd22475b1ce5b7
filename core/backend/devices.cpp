// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/devices.h"

#include "core/stack/error.h"

#if defined(NORMSCOPE_EMULATED_CUDA)
#include "core/backend/cuda/emulated_cuda_device.h"
#endif

namespace normscope {

namespace {

struct Row {
    const char* backend;
    Device* (*open)();  ///< null where this machine does not have it
};

// Best first.
constexpr Row kDevices[] = {
    {"cpu", [] { return &cpu_device(); }},
#if defined(NORMSCOPE_EMULATED_CUDA)
    {"cuda-emulated", [] { return &emulated_cuda_device(); }},
#endif
};

}  // namespace

Device& device_named(const std::string& backend) {
    std::string allowed = "auto";
    for (const Row& row : kDevices) {
        if (backend != "auto" && backend != row.backend) continue;
        if (Device* device = row.open()) return *device;
    }
    for (const Device* device : devices()) allowed.append(", ").append(device->capabilities().backend);
    throw InputError("--backend", backend + " is not available in this build", allowed);
}

std::vector<Device*> devices() {
    std::vector<Device*> found;
    for (const Row& row : kDevices)
        if (Device* device = row.open()) found.push_back(device);
    return found;
}

}  // namespace normscope
