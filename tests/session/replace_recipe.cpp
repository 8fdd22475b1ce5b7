// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/session/replace_recipe.h"

#include "core/session/hdf5.h"

#include <stdexcept>

namespace normscope::test {

namespace {

struct Replacement {
    const std::string& text;
    bool in_run = false, failed = false;
};

/// Of a run, or of a checkpoint, which has a recipe of its own.
herr_t replace_in(hid_t object, Replacement& with) {
    if (H5Aexists(object, "recipe") <= 0) return 0;
    const hdf5::Handle type(H5Tcopy(H5T_C_S1)), space(H5Screate(H5S_SCALAR));
    H5Tset_size(type, with.text.size());
    H5Tset_cset(type, H5T_CSET_UTF8);
    H5Adelete(object, "recipe");
    const hdf5::Handle attribute(H5Acreate2(object, "recipe", type, space, H5P_DEFAULT, H5P_DEFAULT));
    with.in_run = true;
    if (!attribute.valid() || H5Awrite(attribute, type, with.text.data()) < 0) with.failed = true;
    return 0;
}

}  // namespace

void replace_recipe(const std::string& path, const std::string& text) {
    // Attributes of more than 64 KiB need the format of HDF5 1.10.
    const hdf5::Handle access(H5Pcreate(H5P_FILE_ACCESS));
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
    const hdf5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, access));
    Replacement with{text};
    const auto visit = [](hid_t root, const char* name, const H5O_info_t*, void* out) -> herr_t {
        const hdf5::Handle object(H5Oopen(root, name, H5P_DEFAULT));
        return replace_in(object, *static_cast<Replacement*>(out));
    };
    if (H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, visit, &with, H5O_INFO_BASIC) < 0 || !with.in_run ||
        with.failed)
        throw std::runtime_error(path + ": its recipe cannot be replaced");
}

}  // namespace normscope::test
