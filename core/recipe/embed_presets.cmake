# SPDX-License-Identifier: GPL-3.0-or-later
# cmake -DOUT=preset_data.cpp -DFILES=a.json,b.json -P embed_presets.cmake: the recipes as one C++ source, so that
# the programs need no files beside them.
set(rows "")
string(REPLACE "," ";" FILES "${FILES}")
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME_WE)
  file(READ "${file}" json)
  string(APPEND rows "    {\"${name}\", R\"json(${json})json\"},\n")
endforeach()
file(WRITE "${OUT}" "// Written by core/recipe/embed_presets.cmake from resources/presets.
#include \"core/recipe/presets.h\"

namespace normscope {
namespace {
constexpr Preset kPresets[] = {
${rows}};
}  // namespace
std::span<const Preset> presets() { return kPresets; }
}  // namespace normscope
")
