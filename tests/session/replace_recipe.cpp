// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/session/replace_recipe.h"

#include "core/session/hdf5.h"

#include <stdexcept>

namespace normscope::test {

void replace_recipe(const std::string& path, const std::string& text) {
    const hdf5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
    const hdf5::Handle runs(H5Gopen2(file, "runs", H5P_DEFAULT));
    char id[64];
    if (H5Lget_name_by_idx(runs, ".", H5_INDEX_NAME, H5_ITER_INC, 0, id, sizeof id, H5P_DEFAULT) <= 0)
        throw std::runtime_error(path + ": has no run");
    const hdf5::Handle run(H5Gopen2(runs, id, H5P_DEFAULT));
    // Of variable length: other attributes of such a size do not fit into a group.
    const hdf5::Handle type(H5Tcopy(H5T_C_S1)), space(H5Screate(H5S_SCALAR));
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    H5Adelete(run, "recipe");
    const hdf5::Handle attribute(H5Acreate2(run, "recipe", type, space, H5P_DEFAULT, H5P_DEFAULT));
    const char* value = text.c_str();
    if (!attribute.valid() || H5Awrite(attribute, type, &value) < 0)
        throw std::runtime_error(path + ": its recipe cannot be replaced");
}

}  // namespace normscope::test
