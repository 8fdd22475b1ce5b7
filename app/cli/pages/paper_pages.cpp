// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/pages/pages.h"
#include "core/claims/claims.h"
#include "core/gallery/findings.h"
#include "core/gallery/gallery.h"
#include "core/gallery/recipe_distance.h"

#include <cstring>

namespace normscope::app {

Page claims_page() {
    std::string text = paragraph(
        "`normscope-cli check [RECIPE|RUN.h5[@STEP]]` measures these statements of the five papers on a "
        "stack. "
        "*Expected* is the verdict for the preset `pre-ln`; *knob* is the recipe's key that changes the "
        "outcome.");
    text += paragraph(
        "Verdicts: *holds*, as stated; *corrected*, in the form that the check names; *fails*, with the "
        "counter-example; "
        "*not_applicable*, cannot be measured on this stack; *toy*, depends on the scale of training: "
        "values, no pass or "
        "fail; *unknown*, needs a probe or recordings that are not there.");
    const char* paper = "";
    std::vector<Cells> rows;
    const auto flush = [&] {
        if (!rows.empty())
            text += heading(2, plain(paper)) +
                    table({"id", "in the paper", "statement", "expected", "knob"}, rows);
        rows.clear();
    };
    for (const Claim& claim : claims()) {
        if (std::strcmp(paper, claim_paper(claim)) != 0) {
            flush();
            paper = claim_paper(claim);
        }
        rows.push_back({code(claim.id), plain(claim.number), plain(claim.statement),
                        plain(claim_verdict_word(claim.expected)), claim.knob[0] ? code(claim.knob) : "–"});
    }
    flush();
    return {"claims", "The papers' statements", text};
}

Page gallery_page() {
    std::string text = paragraph(
        "Figures and tables of the papers as sweeps at the scale of a laboratory. `normscope-cli gallery ID "
        "--out G` "
        "trains an entry and measures it. The entries are `resources/gallery/ID.json`; a verdict is one "
        "about these "
        "recipes.");
    for (const GalleryEntry& entry : gallery()) {
        text += heading(2, entry.id);
        text += paragraph(plain(entry.title) + ". " + plain(entry.paper()) + ", " + plain(entry.place) +
                          ": " + plain(entry.statement));
        std::string grid;
        for (const SweepAxis& axis : entry.sweep.grid) {
            std::string values;
            for (const std::string& value : axis.values) values += (values.empty() ? "" : ", ") + value;
            grid += code(axis.key + "=" + values) + ", ";
        }
        const std::size_t choosing = entry.sweep.choice.seeds;
        std::string chosen;
        for (const std::string& key : entry.sweep.choice.keys)
            chosen += (chosen.empty() ? "" : ", ") + code(key);
        if (!chosen.empty())
            chosen = " Each arm chooses " + chosen + " on seeds " +
                     std::to_string(entry.sweep.seeds.front()) + " to " +
                     std::to_string(entry.sweep.seeds[choosing - 1]) + ".";
        text += paragraph(std::to_string(entry.sweep.trained_runs()) + " runs: " + grid + "seeds " +
                          std::to_string(entry.sweep.seeds[choosing]) + " to " +
                          std::to_string(entry.sweep.seeds.back()) + "." + chosen);
        std::vector<Cells> rows;
        for (const GalleryMeasure& measure : entry.measures)
            rows.push_back(
                {plain(measure.name), plain(measure.quantity.title()), plain(gallery_paper_text(measure))});
        text += table({"measure", "quantity", "the paper"}, rows);
        rows.clear();
        for (const RecipeDistance& row : recipe_distance(entry))
            rows.push_back({plain(row.what), plain(row.theirs), plain(row.ours)});
        if (!rows.empty()) text += table({"recipe", "the paper's", "the entry's"}, rows);
    }
    return {"gallery", "Gallery", text};
}

}  // namespace normscope::app
