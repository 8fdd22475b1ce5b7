// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/pages/pages.h"
#include "core/session/layout/layout_help.h"

namespace normscope::app {

Page session_page() {
    std::string text = paragraph(
        "A session or a recording is an HDF5 file, readable with h5py or HDFView. `{id}` is a run, `{probe}` "
        "a probe's id, "
        "`{array}` one of its arrays; `@` names an attribute. The arrays of each probe, with axes and units, "
        "are in "
        "[Probes](probes.md).");
    std::vector<Cells> rows;
    for (const LayoutRow& row : session_layout())
        rows.push_back({code(row.path), plain(row.type), plain(row.meaning)});
    text += table({"object", "type", "what it is"}, rows);
    return {"session", "Session files", text};
}

}  // namespace normscope::app
