// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/devices.h"

#include "core/stack/error.h"

namespace normscope {

namespace {

struct Row {
    const char* backend;
    Device* (*open)();  ///< null where this machine does not have it
};

// Best first.
constexpr Row kDevices[] = {
    {"cpu", [] { return &cpu_device(); }},
};

}  // namespace

Device& device_named(const std::string& backend) {
    std::string allowed = "auto";
    for (const Row& row : kDevices) {
        if (backend != "auto" && backend != row.backend) continue;
        if (Device* device = row.open()) return *device;
    }
    for (const Row& row : kDevices)
        if (row.open()) allowed.append(", ").append(row.backend);
    throw InputError("--backend", backend + " is not available in this build", allowed);
}

}  // namespace normscope
