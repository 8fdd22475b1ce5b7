// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/report/preflight_figures.h"

#include "widgets/figures/panels/panel_registry.h"

namespace normscope::widgets {

std::array<Figure, 4> preflightFigures(const Preflight& preflight) {
    PanelInput input;
    input.runs = {&preflight.run};
    input.exploring = true;
    const auto build = [&](const char* panel, PanelOptions options) {
        input.options = std::move(options);
        return buildPanel(panel, input);
    };
    return {build("growth", {{"quantity", "ma"}}), build("gradients", {}), build("lipschitz", {}),
            build("shift", {})};
}

ExportOptions preflightPaper(const QSizeF& size_mm) {
    ExportOptions paper;
    paper.size_mm = size_mm;
    paper.font_pt = 7;
    paper.legend = LegendPlace::None;  // one run, which the report names
    return paper;
}

}  // namespace normscope::widgets
