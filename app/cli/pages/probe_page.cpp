// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/pages/pages.h"
#include "core/probe/interface/places.h"
#include "core/probe/registry.h"

#include <cstring>

namespace normscope::app {

namespace {

std::string axes_of(const ArrayInfo& array) {
    std::string axes = "sample";
    for (const Axis& axis : array.axes) axes += std::string(", ") + axis.name;
    return axes;
}

std::string notes_of(const ArrayInfo& array) {
    std::string notes = plain(array.meaning);
    if (array.flags & kAveraged) notes += "; with " + code(std::string(array.name) + "_error");
    if (array.flags & kMayBeNan) notes += "; NaN where not defined";
    if (array.flags & kNeedsAll) notes += "; NaN under a selection of places";
    return notes;
}

std::string array_table(const ProbeInfo& probe) {
    std::vector<Cells> rows;
    for (const ArrayInfo& array : probe.arrays)
        rows.push_back({code(array.name), plain(axes_of(array)),
                        std::strcmp(array.unit, "1") == 0 ? std::string("–") : plain(array.unit),
                        notes_of(array)});
    return table({"array", "axes", "unit", "what it is"}, rows);
}

std::string label_table(const ProbeInfo& probe) {
    if (probe.labels.empty()) return "";
    std::vector<Cells> rows;
    for (const LabelInfo& label : probe.labels) rows.push_back({code(label.name), plain(label.meaning)});
    return table({"attribute", "what it is"}, rows);
}

}  // namespace

Page probes_page() {
    std::string text = paragraph(
        "A probe measures one thing of a run on its held-out batch and changes nothing of the training. Its "
        "samples are "
        "in a session's group `probes/ID`, one data set an array, the first axis is the sample. `NAME_error` "
        "is the "
        "standard error of `NAME` over the held-out sequences (jackknife). Papers: \\[E\\] Emadi, \\[N\\] "
        "the null-space "
        "note, \\[G\\] GPAS, \\[B\\] Baek, \\[K\\] Kan et al. `normscope-cli probes ID` prints the same.");
    std::vector<Cells> rows;
    for (const ProbeInfo& probe : probe_registry())
        rows.push_back({"[" + plain(probe.id) + "](#" + probe.id + ")", plain(probe.title),
                        plain(needs_text(probe.needs)), cost_word(probe.cost),
                        probe.by_default ? "yes" : "where a recipe names it"});
    text += table({"id", "title", "needs", "cost", "measured by default"}, rows);
    for (const ProbeInfo& probe : probe_registry()) {
        text += heading(2, probe.id);
        text += paragraph(plain(probe.title) + ". Formula: " + plain(probe.formula) +
                          ". Source: " + plain(probe.source) + ".");
        text += array_table(probe);
        text += label_table(probe);
        text += paragraph(has_places(probe)
                              ? "A selection of places (`only`) leaves the entries of other places NaN."
                              : "It takes no selection of places: it measures the whole stack.");
    }
    return {"probes", "Probes", text};
}

}  // namespace normscope::app
