# SPDX-License-Identifier: GPL-3.0-or-later
# Run by CTest: cmake -DROOT=… -P one_reader.cmake. Fails when a source of the product reads JSON other than through
# core/base/strict_json.h.
file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/core/*.h ${ROOT}/core/*.cpp ${ROOT}/widgets/*.h ${ROOT}/widgets/*.cpp
     ${ROOT}/app/*.h ${ROOT}/app/*.cpp)
set(readers "")
set(checked 0)
foreach(file ${files})
  math(EXPR checked "${checked} + 1")
  if(file STREQUAL "core/base/strict_json.cpp")
    continue()
  endif()
  file(STRINGS ${ROOT}/${file} lines REGEX "json::(parse|accept|sax_parse|from_[a-z]+)\\(|_json(_pointer)?::parse\\(|QJsonDocument::from|QJsonParseError")
  foreach(line ${lines})
    string(APPEND readers "\n  ${file}: ${line}")
  endforeach()
endforeach()
if(checked LESS 300)
  message(FATAL_ERROR "only ${checked} files found under ${ROOT}: wrong ROOT")
endif()
if(readers)
  message(FATAL_ERROR "JSON is read by strict_json() alone, but also here:${readers}")
endif()
message(STATUS "${checked} files, JSON is read by strict_json() alone")
