// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/interchange/safetensors.h"

#include <optional>
#include <string>
#include <vector>

namespace normscope {

/// The tensors and the configuration of a model of safetensors files.
struct ModelFiles {
    Safetensors tensors;
    std::optional<std::string> config;  ///< the text of config.json; nullopt where there is none
    std::string where, config_where;    ///< for messages: the file, folder or index; the config.json
    bool neighbours = false;            ///< rotary pairs of q and k are 2i and 2i + 1
    std::vector<std::string> notes;     ///< what the reader should know, a line each
};

/// Reads the headers of MODEL.safetensors, of an index of shards (….index.json), or of the model of a folder:
/// its index, its model.safetensors, or its only safetensors file. InputError, one line: a shard that is
/// missing, a tensor that the index names and its shard does not have, one that two shards have; adapters,
/// pointers of Git LFS, pages of HTML are named as what they are.
ModelFiles open_model_files(const std::string& path);

/// Whether a folder holds a model of safetensors files rather than the runs of a sweep.
bool is_model_folder(const std::string& path);

/// InputError where the beginning of a file shows that it is something else than its name states: a pointer
/// of Git LFS, a page of HTML, GGUF, a pickle or an archive of PyTorch.
void reject_other_content(const ByteSource& file, const std::string& where);

}  // namespace normscope
