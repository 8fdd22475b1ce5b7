// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/training/run_result.h"

#include "core/findings/findings.h"
#include "core/sweep/sweep_results.h"
#include "core/train/bad_place.h"

#include <limits>
#include <optional>

namespace normscope::app {

using Json = nlohmann::ordered_json;

namespace {

/// Layers from 1, as in the text; what is not known is null.
Json json_of(const BadPlace& bad) {
    const auto known = [](std::int64_t number, bool is) { return is ? Json(number) : Json(nullptr); };
    return {{"step", bad.step},           {"layer", known(bad.layer + 1, bad.layer >= 0)},
            {"operation", bad.operation}, {"row", known(bad.row, bad.row >= 0)},
            {"detail", bad.detail},       {"value", bad.value},
            {"limit", bad.limit},         {"loss_scale", bad.loss_scale},
            {"result", bad.result}};
}

Json json_of(const Finding& finding) {
    return {{"id", finding_id(finding.kind)},
            {"text", finding.text},
            {"evidence",
             {{"quantity", finding.evidence.quantity},
              {"step", finding.evidence.step},
              {"value", finding.evidence.value}}}};
}

Json json_of(const std::optional<double>& number) {
    return number ? Json(*number) : Json(nullptr);  // json_text() makes NaN null
}

}  // namespace

Json json_of(const RunResult& result) {
    const RunData& run = result.run;
    const SweepRow row = sweep_row({}, run);
    const auto bad = read_bad_place(run.outcome.text);
    Json findings_found = Json::array();
    if (run.steps.rows() > 0)
        for (const Finding& finding : findings(run, std::numeric_limits<std::int64_t>::max()))
            findings_found.push_back(json_of(finding));
    return {{"event", "end"},
            {"version", 1},
            {"state", run_state_word(run.outcome.state)},
            {"text", run.outcome.text},
            {"steps", row.steps},
            {"loss", json_of(row.final_loss)},
            {"best", json_of(row.best_loss)},
            {"held_out_loss", json_of(row.held_out_loss)},
            {"first_bad", bad ? json_of(*bad) : Json(nullptr)},
            {"findings", std::move(findings_found)},
            {"recording", result.recording.empty() ? Json(nullptr) : Json(result.recording)},
            {"seconds", json_of(row.seconds)}};
}

}  // namespace normscope::app
