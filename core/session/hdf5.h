// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/stored_tensor.h"

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// A thin layer over the HDF5 C library: owning handles, whole-array reads and writes, one-line errors.
///
/// One thread owns all HDF5 calls of a process (the library is not safe for use from several threads, even on
/// different files); nothing here locks. Reading throws InputError, writing SystemError, both with "file:
/// object: reason"; HDF5's own error stack never prints. Shapes are row-major, as in h5py.
namespace normscope::hdf5 {

/// While an instance exists, and from a failed write until the next file is opened, handles are leaked
/// instead of closed. HDF5 1.10 double-frees what it could not write on closing (a full disk).
class Abandon {
  public:
    Abandon() { active() = true; }
    ~Abandon() { active() = false; }
    static bool& active();
};

/// Owns one HDF5 identifier of any kind: file, group, data set, data space, type, attribute, property list.
class Handle {
  public:
    Handle() = default;
    explicit Handle(hid_t id) : id_(id) {}
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(id_, other.id_);
        return *this;
    }
    ~Handle() {
        if (id_ >= 0 && !Abandon::active()) H5Idec_ref(id_);
    }
    operator hid_t() const { return id_; }
    bool valid() const { return id_ >= 0; }
    hid_t release() { return std::exchange(id_, H5I_INVALID_HID); }

  private:
    hid_t id_ = H5I_INVALID_HID;
};

/// Why the last HDF5 call failed, in a few words ("No space left on device"). Only valid right after the
/// failure.
std::string last_error();

/// Throw InputError / SystemError "file: object: what" where loc is any handle of the file. After
/// fail_writing the file's handles are abandoned.
[[noreturn]] void fail_reading(hid_t loc, const std::string& name, const std::string& what);
[[noreturn]] void fail_writing(hid_t loc, const std::string& name);

/// A new file (an existing one is truncated), readable by HDF5 1.10 and later. Metadata of a recording does
/// not cross pages of the operating system: a killed process may leave a write incomplete at a page boundary,
/// and what lies within one page is then old or new, never torn (otherwise about once in 1500 kills).
enum class Purpose { Whole, Recording };
Handle create_file(const std::string& path, Purpose purpose = Purpose::Whole);
/// Flushes and closes; throws SystemError where the destructor would ignore the error.
void close_file(Handle file, const std::string& path);

/// For a thread that does not own HDF5: the file is closed when that one opens the next, or asks for it.
void close_later(Handle file);
void close_released();

struct OpenedFile {
    Handle file;
    bool recording = false;  ///< still marked as being written: live, or its writer was killed
};
/// Opens for reading; also files of a live or killed SWMR writer. InputError for a missing, foreign,
/// truncated file, and for one that the guard of foreign files rejects (core/session/process/guard.h):
/// `check`, called before the library sees the file, throws for it; by default require_verified().
OpenedFile open_for_reading(const std::string& path, const std::function<void()>& check = {});

/// Whether a writer has not closed the file: it writes, or was killed. Reads a few bytes; the library is not
/// called.
bool marked_by_writer(const std::string& path);

/// A new group whose children keep the order of creation.
Handle make_group(hid_t parent, const std::string& name);
Handle open_group(hid_t parent, const std::string& name);
Handle open_dataset(hid_t parent, const std::string& name);
bool exists(hid_t parent, const std::string& name);
bool is_group(hid_t parent, const std::string& name);
/// Names in the order of creation where the group tracks it, else by name.
std::vector<std::string> children(hid_t parent);

using Scalar = StoredType;
const char* scalar_name(Scalar type);  ///< "float32", …
std::size_t scalar_size(Scalar type);  ///< bytes; 0 for Other
hid_t native_type(Scalar type);
template <typename T>
constexpr Scalar scalar_of() {
    if constexpr (std::is_same_v<T, float>) return Scalar::Float32;
    if constexpr (std::is_same_v<T, double>) return Scalar::Float64;
    if constexpr (std::is_same_v<T, std::int32_t>) return Scalar::Int32;
    if constexpr (std::is_same_v<T, std::int64_t>) return Scalar::Int64;
    if constexpr (std::is_same_v<T, std::uint64_t>) return Scalar::UInt64;
    return Scalar::Other;
}
/// A fixed-length UTF-8 string type of that many bytes (at least one), padded with zeros.
Handle text_type(std::size_t bytes);
/// The text cut to at most `bytes` bytes, never inside a UTF-8 character.
std::string cut_text(const std::string& text, std::size_t bytes);

using Shape = std::vector<std::size_t>;
std::size_t element_count(const Shape& shape);
std::string shape_text(const Shape& shape);  ///< "[3, 4]"
Shape dataset_shape(hid_t dataset);
Scalar dataset_scalar(hid_t dataset);

// --- attributes
// ---------------------------------------------------------------------------------------------------
void write_attribute(hid_t object, const std::string& name, const std::string& text);
void write_attribute(hid_t object, const std::string& name, const std::vector<std::string>& texts);
void write_attribute(hid_t object, const std::string& name, double value);
void write_attribute(hid_t object, const std::string& name, std::int64_t value);
void write_attribute(hid_t object, const std::string& name, std::uint64_t value);
bool has_attribute(hid_t object, const std::string& name);
Handle open_attribute(hid_t object, const std::string& name);
std::string read_text_attribute(hid_t object, const std::string& name);
std::vector<std::string> read_texts_attribute(hid_t object, const std::string& name);
double read_double_attribute(hid_t object, const std::string& name);
std::int64_t read_int_attribute(hid_t object, const std::string& name);
std::uint64_t read_uint_attribute(hid_t object, const std::string& name);
std::vector<std::string> attribute_names(hid_t object);

// --- data sets
// ----------------------------------------------------------------------------------------------------
/// Writes a whole array. Rows (entries of the first axis) of 4 KiB and more are compressed, one row per
/// chunk, when `compress` is set; smaller ones stay contiguous, which opens fastest.
void write_array(hid_t parent, const std::string& name, Scalar type, const Shape& shape, const void* data,
                 bool compress = false);
template <typename T>
void write_array(hid_t parent, const std::string& name, const Shape& shape, const T* data,
                 bool compress = false) {
    write_array(parent, name, scalar_of<T>(), shape, data, compress);
}
/// An array of fixed-length strings of `bytes` bytes each; longer ones are cut at a character.
void write_texts(hid_t parent, const std::string& name, std::size_t bytes,
                 const std::vector<std::string>& texts);
std::vector<std::string> read_texts(hid_t parent, const std::string& name);
/// One long text as a scalar data set (attributes are for short ones).
void write_text(hid_t parent, const std::string& name, const std::string& text);
std::string read_text(hid_t parent, const std::string& name);

/// An empty data set with an unlimited first axis, chunks of about 4 KiB (one row where a row is larger).
Handle make_growing(hid_t parent, const std::string& name, hid_t type, const Shape& row_shape);

/// Throws InputError when a (damaged) shape exceeds what the file holds; called before allocating. Chunks are
/// looked up from row `first` on.
void check_storage(hid_t dataset, const Shape& shape, std::size_t element_bytes, std::size_t first = 0);

/// The number of leading rows that are really in the file: after a crash a data set may claim more than was
/// written.
std::size_t sound_rows(hid_t dataset);

/// `rows` rows of a data set from row `first` on as `type`, into a buffer of rows · row elements.
void read_rows(hid_t dataset, hid_t type, std::size_t rows, void* data, std::size_t first = 0);

inline constexpr std::size_t all_rows = std::numeric_limits<std::size_t>::max();
/// The shape; throws InputError unless element type and rank match (rank −1: any) and the values of its rows
/// from `first` to before `end` are really in the file. Narrower types of the same kind (float32 read as
/// float64) pass: HDF5 widens them.
Shape check_array(hid_t dataset, Scalar type, int rank, std::size_t end = all_rows, std::size_t first = 0);

template <typename T>
struct Array {
    Shape shape;
    std::vector<T> data;
};
/// A whole array; rank −1 accepts any.
template <typename T>
Array<T> read_array(hid_t parent, const std::string& name, int rank = -1) {
    Handle dataset = open_dataset(parent, name);
    Array<T> array;
    array.shape = check_array(dataset, scalar_of<T>(), rank);
    array.data.resize(element_count(array.shape));
    read_rows(dataset, native_type(scalar_of<T>()), array.shape.empty() ? 1 : array.shape[0],
              array.data.data());
    return array;
}

}  // namespace normscope::hdf5
