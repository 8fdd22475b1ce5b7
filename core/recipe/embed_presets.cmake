# SPDX-License-Identifier: GPL-3.0-or-later
# cmake -DOUT=data.cpp -DFUNCTION=presets -DFILES=a.json,b.json -P embed_presets.cmake: JSON files as one C++ source that
# defines the function of core/recipe/presets.h, so that the programs need no other files.
set(rows "")
string(REPLACE "," ";" FILES "${FILES}")
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME_WE)
  file(READ "${file}" json)
  string(APPEND rows "    {\"${name}\", R\"json(${json})json\"},\n")
endforeach()
file(WRITE "${OUT}" "// Written by core/recipe/embed_presets.cmake from the JSON files of resources/${FUNCTION}.
#include \"core/recipe/presets.h\"

namespace normscope {
namespace {
constexpr Preset ${FUNCTION}_rows[] = {
${rows}};
}  // namespace
std::span<const Preset> ${FUNCTION}() { return ${FUNCTION}_rows; }
}  // namespace normscope
")
