// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/hdf5.h"

#include "core/base/error.h"
#include "core/session/process/file_locks.h"
#include "core/session/process/guard.h"
#include "core/session/replacing_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <mutex>
#include <numeric>
#include <random>

namespace normscope::hdf5 {
namespace {

/// Files that other threads have released.
struct Released {
    std::mutex mutex;
    std::vector<Handle> files;
};

Released& released() {
    static Released only;
    return only;
}

/// Called by every function that opens a file. HDF5's error printer is per thread and is disabled in each.
void enter() {
    // At process exit HDF5 would close the abandoned handles.
    static const herr_t no_clean_up_at_exit = H5dont_atexit();
    static_cast<void>(no_clean_up_at_exit);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    Abandon::active() = false;
    close_released();
}

std::string full_name(hid_t loc, const std::string& name) {
    char buffer[1024];
    std::string where;
    if (H5Fget_name(loc, buffer, sizeof buffer) > 0) where = without_temporary_ending(buffer);
    std::string object;
    if (H5Iget_type(loc) != H5I_FILE && H5Iget_name(loc, buffer, sizeof buffer) > 0) object = buffer;
    if (name.starts_with('/'))
        object = name;
    else if (!name.empty())
        object += (object.ends_with('/') ? "" : "/") + name;
    return object.empty() ? where : where + ": " + object;
}

Handle file_access(const std::string& path) {
    Handle access(H5Pcreate(H5P_FILE_ACCESS));
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
    // The library itself ignores one of the errors of file systems without locks, ENOSYS.
    H5Pset_file_locking(access, folder_has_locks(path), true);
    return access;
}

herr_t innermost(unsigned, const H5E_error2_t* record, void* out) {
    auto& text = *static_cast<std::string*>(out);
    const std::string description = record->desc ? record->desc : "";
    if (text.empty() || description.find("error message = '") != std::string::npos) text = description;
    return 0;
}

}  // namespace

bool& Abandon::active() {
    thread_local bool abandoning = false;
    return abandoning;
}

std::string last_error() {
    std::string text;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, &text);
    const std::string key = "error message = '";
    if (const auto at = text.find(key); at != std::string::npos)
        text = text.substr(at + key.size(), text.find('\'', at + key.size()) - at - key.size());
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text.empty() ? "damaged" : text;
}

void fail_reading(hid_t loc, const std::string& name, const std::string& what) {
    throw InputError(full_name(loc, name) + ": " + what);
}

void fail_writing(hid_t loc, const std::string& name) {
    const std::string reason = last_error();
    const std::string where = full_name(loc, name);
    Abandon::active() = true;
    throw SystemError(where + ": cannot write: " + reason);
}

Handle create_file(const std::string& path, Purpose purpose) {
    enter();
    const Handle creation(H5Pcreate(H5P_FILE_CREATE));
    H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);  // of the root group
    if (purpose == Purpose::Recording) {
        H5Pset_file_space_strategy(creation, H5F_FSPACE_STRATEGY_PAGE, false, 1);
        H5Pset_file_space_page_size(creation, 4096);
    }
    const Handle access = file_access(path);  // closing it clears the library's errors
    Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access));
    if (!file.valid()) throw SystemError(without_temporary_ending(path) + ": cannot write: " + last_error());
    return file;
}

void close_later(Handle file) {
    const std::lock_guard lock(released().mutex);
    released().files.push_back(std::move(file));
}

void close_released() {
    std::vector<Handle> unused;
    const std::lock_guard lock(released().mutex);
    unused.swap(released().files);
}

void close_file(Handle file, const std::string& path) {
    enter();
    // Flushed first: a failed close leaves the library in an invalid state, a failed flush does not.
    if (H5Fflush(file, H5F_SCOPE_LOCAL) < 0) {
        const std::string reason = last_error();
        static_cast<void>(file.release());
        throw SystemError(without_temporary_ending(path) + ": cannot write: " + reason);
    }
    if (H5Fclose(file.release()) < 0)
        throw SystemError(without_temporary_ending(path) + ": cannot write: " + last_error());
}

OpenedFile open_for_reading(const std::string& path, const std::function<void()>& check) {
    enter();
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) throw InputError(path + ": " + std::strerror(errno));
    if (S_ISDIR(status.st_mode)) throw InputError(path + ": is a directory, not a file");
    if (!S_ISREG(status.st_mode)) throw InputError(path + ": is not a regular file");
    check ? check() : require_verified(path);
    OpenedFile opened;
    const Handle access = file_access(path);
    opened.file = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access));
    if (opened.file.valid()) return opened;
    const std::string reason = last_error();
    if (status.st_size == 0) throw InputError(path + ": is empty");
    if (H5Fis_hdf5(path.c_str()) <= 0)
        throw InputError(path + ": is not an HDF5 file, or its beginning is damaged");
    if (!marked_by_writer(path)) throw InputError(path + ": cannot be opened: " + reason);
    // Concurrent with a writer, metadata may be read half written and is read again. The waits between
    // attempts double: 24 attempts take 17 ms, the default 100 would never end.
    H5Pset_metadata_read_attempts(access, 24);
    opened.file = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access));
    if (!opened.file.valid()) throw InputError(path + ": cannot be opened: " + reason);
    opened.recording = true;
    return opened;
}

bool marked_by_writer(const std::string& path) {
    // The consistency flags of a superblock of version 3.
    constexpr std::size_t version = 8, flags = 11;
    char head[12] = {};
    std::ifstream(path, std::ios::binary).read(head, sizeof head);
    return head[version] == 3 && head[flags] != 0;
}

Handle make_group(hid_t parent, const std::string& name) {
    const Handle creation(H5Pcreate(H5P_GROUP_CREATE));
    H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    Handle group(H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, creation, H5P_DEFAULT));
    if (!group.valid()) fail_writing(parent, name);
    return group;
}

bool exists(hid_t parent, const std::string& name) {
    // Link by link: HDF5 treats a missing middle of a path as an error.
    for (std::size_t at = name.find('/', 1);; at = name.find('/', at + 1)) {
        const std::string part = name.substr(0, at);
        if (H5Lexists(parent, part.c_str(), H5P_DEFAULT) <= 0) return false;
        if (H5Oexists_by_name(parent, part.c_str(), H5P_DEFAULT) <= 0) return false;
        if (at == std::string::npos) return true;
    }
}

bool is_group(hid_t parent, const std::string& name) {
    if (!exists(parent, name)) return false;
    const Handle object(H5Oopen(parent, name.c_str(), H5P_DEFAULT));
    return object.valid() && H5Iget_type(object) == H5I_GROUP;
}

namespace {

void require_member(hid_t parent, const std::string& name) {
    H5L_info_t link{};
    const bool linked = H5Lget_info(parent, name.c_str(), &link, H5P_DEFAULT) >= 0;
    // One look-up where it is a plain link: thousands of data sets are opened to show a large session.
    if (linked && link.type == H5L_TYPE_HARD) return;
    if (!exists(parent, name)) fail_reading(parent, name, "missing");
    if (linked && link.type == H5L_TYPE_EXTERNAL) fail_reading(parent, name, "is a link to another file");
}

}  // namespace

Handle open_group(hid_t parent, const std::string& name) {
    require_member(parent, name);
    Handle group(H5Gopen2(parent, name.c_str(), H5P_DEFAULT));
    if (!group.valid()) fail_reading(parent, name, "is not a readable group");
    return group;
}

Handle open_dataset(hid_t parent, const std::string& name) {
    require_member(parent, name);
    Handle dataset(H5Dopen2(parent, name.c_str(), H5P_DEFAULT));
    if (!dataset.valid()) fail_reading(parent, name, "is not a readable data set (" + last_error() + ")");
    return dataset;
}

namespace {

/// A name that no object has: not one that a file could contain on purpose either.
const std::string& unused_name() {
    static const std::string name = [] {
        std::random_device random;
        std::string text = "unused";
        for (int i = 0; i < 8; ++i) text += "-" + std::to_string(random());
        return text;
    }();
    return name;
}

/// The library lists the members of a group in a table that it fills one by one; where one of them cannot be
/// read it releases the whole table, what it has not filled too: whatever the memory held before is taken for
/// pointers (HDF5 1.10.8, H5G__link_release_table). So all of them are decoded first, without a table, by a
/// search for a name that none has. The library keeps what it has decoded.
void require_readable_members(hid_t group) {
    if (H5Lexists(group, unused_name().c_str(), H5P_DEFAULT) < 0)
        fail_reading(group, "", "its list of members is damaged");
}

struct Member {
    std::int64_t order;  ///< of creation; 0 where the group has not kept it
    std::string name;
    bool operator<(const Member& other) const {
        return order != other.order ? order < other.order : name < other.name;
    }
};

}  // namespace

std::vector<std::string> children(hid_t parent) {
    const Handle group(H5Gopen2(parent, ".", H5P_DEFAULT));  // of a file: its root
    if (!group.valid()) fail_reading(parent, "", "is not a readable group");
    H5G_info_t info{};
    if (H5Gget_info(group, &info) < 0) fail_reading(group, "", last_error());
    unsigned order = 0;
    const Handle creation(H5Gget_create_plist(group));
    H5Pget_link_creation_order(creation, &order);
    const H5_index_t index = order & H5P_CRT_ORDER_TRACKED ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    std::vector<Member> members;
    const auto add = [](hid_t, const char* name, const H5L_info_t* link, void* out) -> herr_t {
        static_cast<std::vector<Member>*>(out)->push_back({link->corder_valid ? link->corder : 0, name});
        return 0;
    };
    require_readable_members(group);
    // In the order of storage: any other makes the library build its table where it would need none.
    if (H5Literate(group, index, H5_ITER_NATIVE, nullptr, add, &members) < 0)
        fail_reading(group, "", "its list of members is damaged");
    std::sort(members.begin(), members.end());
    std::vector<std::string> names;
    for (Member& member : members) names.push_back(std::move(member.name));
    return names;
}

const char* scalar_name(Scalar type) {
    switch (type) {
        case Scalar::Float32:
            return "float32";
        case Scalar::Float64:
            return "float64";
        case Scalar::Int32:
            return "int32";
        case Scalar::Int64:
            return "int64";
        case Scalar::UInt64:
            return "uint64";
        case Scalar::Other:
            break;
    }
    return "another type";
}

std::size_t scalar_size(Scalar type) {
    switch (type) {
        case Scalar::Float32:
        case Scalar::Int32:
            return 4;
        case Scalar::Other:
            return 0;
        default:
            return 8;
    }
}

hid_t native_type(Scalar type) {
    switch (type) {
        case Scalar::Float32:
            return H5T_NATIVE_FLOAT;
        case Scalar::Float64:
            return H5T_NATIVE_DOUBLE;
        case Scalar::Int32:
            return H5T_NATIVE_INT32;
        case Scalar::Int64:
            return H5T_NATIVE_INT64;
        case Scalar::UInt64:
            return H5T_NATIVE_UINT64;
        case Scalar::Other:
            break;
    }
    return H5I_INVALID_HID;
}

std::size_t element_count(const Shape& shape) {
    return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

std::string shape_text(const Shape& shape) {
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
    return text + "]";
}

// --- attributes
// ---------------------------------------------------------------------------------------------------
namespace {

template <typename T>
void write_scalar_attribute(hid_t object, const std::string& name, T value) {
    const hid_t type = native_type(scalar_of<T>());
    const Handle space(H5Screate(H5S_SCALAR));
    const Handle attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT));
    if (!attribute.valid() || H5Awrite(attribute, type, &value) < 0) fail_writing(object, name);
}

template <typename T>
T read_scalar_attribute(hid_t object, const std::string& name) {
    const Handle attribute = open_attribute(object, name);
    const Handle type(H5Aget_type(attribute)), space(H5Aget_space(attribute));
    const H5T_class_t wanted = std::is_floating_point_v<T> ? H5T_FLOAT : H5T_INTEGER;
    if (H5Tget_class(type) != wanted || H5Sget_simple_extent_npoints(space) != 1)
        fail_reading(object, name, std::string("is not one ") + scalar_name(scalar_of<T>()));
    T value{};
    if (H5Aread(attribute, native_type(scalar_of<T>()), &value) < 0) fail_reading(object, name, last_error());
    return value;
}

}  // namespace

void write_attribute(hid_t object, const std::string& name, double value) {
    write_scalar_attribute(object, name, value);
}
void write_attribute(hid_t object, const std::string& name, std::int64_t value) {
    write_scalar_attribute(object, name, value);
}
void write_attribute(hid_t object, const std::string& name, std::uint64_t value) {
    write_scalar_attribute(object, name, value);
}

bool has_attribute(hid_t object, const std::string& name) {
    return H5Aexists(object, name.c_str()) > 0;
}

Handle open_attribute(hid_t object, const std::string& name) {
    Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT));
    if (!attribute.valid())
        fail_reading(object, name, has_attribute(object, name) ? "is not readable" : "missing");
    return attribute;
}

double read_double_attribute(hid_t object, const std::string& name) {
    return read_scalar_attribute<double>(object, name);
}
std::int64_t read_int_attribute(hid_t object, const std::string& name) {
    return read_scalar_attribute<std::int64_t>(object, name);
}
std::uint64_t read_uint_attribute(hid_t object, const std::string& name) {
    return read_scalar_attribute<std::uint64_t>(object, name);
}

std::vector<std::string> attribute_names(hid_t object) {
    std::vector<std::string> names;
    const auto add = [](hid_t, const char* name, const H5A_info_t*, void* out) -> herr_t {
        static_cast<std::vector<std::string>*>(out)->push_back(name);
        return 0;
    };
    if (H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names) < 0)
        fail_reading(object, "", "its attributes are damaged");
    return names;
}

}  // namespace normscope::hdf5
