// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/devices/devices.h"

#include "core/backend/plugin/load_cuda.h"
#include "core/base/error.h"

#include <tuple>

#if defined(NORMSCOPE_EMULATED_CUDA)
#include "core/backend/cuda/emulated_cuda_device.h"
#endif

namespace normscope {

namespace {

/// The devices that one word names: the word alone is number 0, word:1 the next one.
struct Row {
    const char* backend;
    int (*count)();  ///< 0 where this machine does not have it
    Device& (*open)(int index);
    std::string (*missing)();  ///< why the count is 0
    std::pair<std::string, DeviceMemory> (*name)(int index);
    std::string (*line)(int index);  ///< for `devices`; null for the CPU, which has a line of its own
    Formats (*formats)(int index);
};

std::string nothing() {
    return {};
}

std::pair<std::string, DeviceMemory> card_name(int card) {
    const CudaCard found = describe_card(cuda_cards(), card);
    return {found.name, {found.total, found.free}};
}

template <class OpenDevice>
std::pair<std::string, DeviceMemory> name_of(OpenDevice&& device) {
    return {device.capabilities().name, device.memory()};
}

// Best first.
constexpr Row kDevices[] = {
    {"cuda", [] { return cuda_cards().count; },
     [](int card) -> Device& { return open_card(cuda_cards(), card); }, [] { return cuda_cards().missing; },
     card_name, [](int card) { return card_line(cuda_cards(), card); },
     [](int card) { return formats_of_card(cuda_cards(), card); }},
    {"cpu", [] { return 1; }, [](int) -> Device& { return cpu_device(); }, nothing,
     [](int) { return name_of(cpu_device()); }, nullptr, nullptr},
#if defined(NORMSCOPE_EMULATED_CUDA)
    {"cuda-emulated", [] { return 1; }, [](int) -> Device& { return emulated_cuda_device(); }, nothing,
     [](int) { return name_of(emulated_cuda_device()); },
     [](int) { return emulated_cuda_device().capabilities().name; },
     [](int) { return emulated_cuda_device().capabilities().formats; }},
#endif
};

std::string word(const Row& row, int index) {
    return index == 0 ? row.backend : row.backend + (":" + std::to_string(index));
}

std::string available_words() {
    std::string words = "auto";
    for (const Row& row : kDevices)
        for (int i = 0; i < row.count(); ++i) words += ", " + word(row, i);
    return words;
}

std::pair<const Row*, int> found(const std::string& backend) {
    std::string why = "in this build";
    for (const Row& row : kDevices) {
        if (backend == "auto" && row.count() > 0) return {&row, 0};
        if (backend.substr(0, backend.find(':')) != row.backend) continue;
        for (int i = 0; i < row.count(); ++i)
            if (backend == word(row, i)) return {&row, i};
        why = row.missing();
    }
    const std::string separator = why.empty() ? "" : why == "in this build" ? " " : ": ";
    throw InputError("--backend", backend + " is not available" + separator + why, available_words());
}

}  // namespace

Device& device_named(const std::string& backend) {
    const auto [row, index] = found(backend);
    return row->open(index);
}

std::string backend_word(const std::string& backend) {
    const auto [row, index] = found(backend);
    return word(*row, index);
}

std::vector<KnownDevice> known_devices() {
    std::vector<KnownDevice> devices;
    for (const Row& row : kDevices) {
        for (int i = 0; i < row.count(); ++i) {
            KnownDevice device{word(row, i), {}, {}, {}};
            try {
                std::tie(device.name, device.memory) = row.name(i);
            } catch (const SystemError& error) {
                device.missing = error.what();
            }
            devices.push_back(std::move(device));
        }
        if (row.count() == 0) devices.push_back({row.backend, {}, {}, row.missing()});
    }
    return devices;
}

std::vector<std::pair<std::string, std::string>> other_devices() {
    std::vector<std::pair<std::string, std::string>> lines;
    for (const Row& row : kDevices) {
        if (!row.line) continue;
        for (int i = 0; i < row.count(); ++i)
            lines.emplace_back(word(row, i), row.line(i) + "; " + precision_line(row.formats(i)));
        if (row.count() == 0) lines.emplace_back(row.backend, "not available: " + row.missing());
    }
    return lines;
}

}  // namespace normscope
