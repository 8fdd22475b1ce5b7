// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/devices.h"

#include "core/backend/plugin/load_cuda.h"
#include "core/stack/error.h"

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
    std::string (*missing)();        ///< why the count is 0
    std::string (*line)(int index);  ///< for `devices`; null for the CPU, which has a line of its own
    Formats (*formats)(int index);
};

std::string nothing() {
    return {};
}

// Best first.
constexpr Row kDevices[] = {
    {"cuda", [] { return cuda_cards().count; },
     [](int card) -> Device& { return open_card(cuda_cards(), card); }, [] { return cuda_cards().missing; },
     [](int card) { return card_line(cuda_cards(), card); },
     [](int card) { return formats_of_card(cuda_cards(), card); }},
    {"cpu", [] { return 1; }, [](int) -> Device& { return cpu_device(); }, nothing, nullptr, nullptr},
#if defined(NORMSCOPE_EMULATED_CUDA)
    {"cuda-emulated", [] { return 1; }, [](int) -> Device& { return emulated_cuda_device(); }, nothing,
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

}  // namespace

Device& device_named(const std::string& backend) {
    std::string why = "in this build";
    for (const Row& row : kDevices) {
        if (backend == "auto" && row.count() > 0) return row.open(0);
        if (backend.substr(0, backend.find(':')) != row.backend) continue;
        for (int i = 0; i < row.count(); ++i)
            if (backend == word(row, i)) return row.open(i);
        why = row.missing();
    }
    const std::string separator = why.empty() ? "" : why == "in this build" ? " " : ": ";
    throw InputError("--backend", backend + " is not available" + separator + why, available_words());
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
