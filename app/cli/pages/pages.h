// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/pages/markdown.h"

#include <CLI/CLI.hpp>

namespace normscope::app {

// The pages that `normscope-cli docs` writes. Each is made from the registry that the program itself reads,
// so that a page cannot differ from the program.
Page recipe_keys_page();  ///< core/stack/fields.h, core/recipe/key_help.h
Page schemes_page();      ///< core/stack/scheme_rows.h
Page presets_page();      ///< core/recipe/presets.h, size_presets.h
Page stories_page();      ///< resources/stories
Page probes_page();       ///< core/probe/registry.h
Page commands_page(const CLI::App& program);
Page session_page();  ///< core/session/layout/layout_help.h
Page claims_page();   ///< core/claims/claims.h
Page gallery_page();  ///< core/gallery/gallery.h

}  // namespace normscope::app
