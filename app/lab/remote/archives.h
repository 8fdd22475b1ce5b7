// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The archives of cereal that the messages are written to and read from. For messages.cpp alone: long to
// compile.
#include "core/base/error.h"

#include <cereal/cereal.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/memory.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/variant.hpp>
#include <cereal/types/vector.hpp>

#include <cstring>
#include <type_traits>

namespace normscope::app::wire {

/// Archives of cereal over a string; the reader counts what is left, so that a wrong count is an error and
/// not an allocation.
class Writer : public cereal::OutputArchive<Writer, cereal::AllowEmptyClassElision> {
  public:
    Writer() : OutputArchive(this) {}
    void put(const void* data, std::size_t size) { bytes.append(static_cast<const char*>(data), size); }
    std::string bytes;
};

class Reader : public cereal::InputArchive<Reader, cereal::AllowEmptyClassElision> {
  public:
    explicit Reader(const std::string& bytes) : InputArchive(this), bytes_(bytes) {}
    void get(void* data, std::size_t size) {
        if (size > left()) throw InputError("a message ends too early");
        std::memcpy(data, bytes_.data() + at_, size);
        at_ += size;
    }
    std::size_t left() const { return bytes_.size() - at_; }

  private:
    const std::string& bytes_;
    std::size_t at_ = 0;
};

template <class T>
std::enable_if_t<std::is_arithmetic_v<T>> CEREAL_SAVE_FUNCTION_NAME(Writer& to, const T& value) {
    to.put(&value, sizeof value);
}
template <class T>
std::enable_if_t<std::is_arithmetic_v<T>> CEREAL_LOAD_FUNCTION_NAME(Reader& from, T& value) {
    from.get(&value, sizeof value);
}
inline void CEREAL_LOAD_FUNCTION_NAME(Reader& from, bool& value) {
    char byte = 0;
    from.get(&byte, sizeof byte);
    value = byte != 0;
}
template <class Archive, class T>
CEREAL_ARCHIVE_RESTRICT(Reader, Writer)
CEREAL_SERIALIZE_FUNCTION_NAME(Archive& archive, cereal::NameValuePair<T>& pair) {
    archive(pair.value);
}
template <class T>
void CEREAL_SAVE_FUNCTION_NAME(Writer& to, const cereal::SizeTag<T>& tag) {
    to(tag.size);
}
template <class T>
void CEREAL_LOAD_FUNCTION_NAME(Reader& from, cereal::SizeTag<T>& tag) {
    from(tag.size);
    if (tag.size > from.left()) throw InputError("a message has fewer values than it states");
}
template <class T>
void CEREAL_SAVE_FUNCTION_NAME(Writer& to, const cereal::BinaryData<T>& data) {
    to.put(data.data, static_cast<std::size_t>(data.size));
}
template <class T>
void CEREAL_LOAD_FUNCTION_NAME(Reader& from, cereal::BinaryData<T>& data) {
    from.get(data.data, static_cast<std::size_t>(data.size));
}

/// A value of an enumeration whose last one this is: any other that arrives is an error.
template <class E>
struct Limited {
    E& value;
    E last;
};
template <class E>
Limited<E> limited(E& value, E last) {
    return {value, last};
}
template <class A, class E>
void save(A& archive, const Limited<E>& limited) {
    archive(static_cast<std::int32_t>(limited.value));
}
template <class A, class E>
void load(A& archive, Limited<E>& limited) {
    std::int32_t value = 0;
    archive(value);
    if (value < 0 || value > static_cast<std::int32_t>(limited.last))
        throw InputError("a message has a value that is not known");
    limited.value = static_cast<E>(value);
}

}  // namespace normscope::app::wire

CEREAL_REGISTER_ARCHIVE(normscope::app::wire::Writer)
CEREAL_REGISTER_ARCHIVE(normscope::app::wire::Reader)
CEREAL_SETUP_ARCHIVE_TRAITS(normscope::app::wire::Reader, normscope::app::wire::Writer)
