// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/plugin/cuda_plugin.h"
#include "core/backend/shared/formats.h"

#include <string>
#include <vector>

namespace normscope {

/// The CUDA cards of this machine, or one line on what is missing.
struct CudaCards {
    const CudaPlugin* plugin = nullptr;
    int count = 0;
    std::string missing;  ///< empty where count > 0
};

/// Where the plug-in is searched for (open_plugin.h); $NORMSCOPE_CUDA_PLUGIN names a file.
std::vector<std::string> cuda_plugin_paths();

/// Opens the first of these files that exists. The plug-in stays open until the process ends. Any thread.
CudaCards load_cuda(const std::vector<std::string>& paths);

/// Of cuda_plugin_paths(), loaded by the first call.
const CudaCards& cuda_cards();

/// SystemError where the card does not answer, as card_line().
CudaCard describe_card(const CudaCards& cards, int card);

/// "NVIDIA …, compute capability 9.0, 77 of 79 GiB free, CUDA 13.0". SystemError where the card does not
/// answer.
std::string card_line(const CudaCards& cards, int card);
/// By its compute capability. SystemError as above.
Formats formats_of_card(const CudaCards& cards, int card);
/// SystemError where the card cannot be opened.
Device& open_card(const CudaCards& cards, int card);

}  // namespace normscope
