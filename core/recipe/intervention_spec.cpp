// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/recipe/intervention_spec.h"

#include "core/base/number_text.h"

namespace normscope {

namespace {

constexpr const char* kInterventions[] = {
#define NORMSCOPE_INTERVENTION(kind, word) word,
#include "core/recipe/interventions.inc"
#undef NORMSCOPE_INTERVENTION
};

}  // namespace

template <>
std::span<const char* const> words_of<InterventionKind>() {
    return kInterventions;
}

void list_fields(Fields& f, InterventionSpec& s) {
    const RealRange positive{.low_open = true};
    f.choice("kind", s.kind, hot_list());
    f.real("rho", s.rho, {0, 1, true}, hot_list());
    f.real("cap", s.cap, positive, hot_list());
    f.real("floor", s.floor, {0}, hot_list());
    f.integer("every", s.every, 1, 1'000'000'000, hot_list());
    f.integer("samples", s.samples, 1, 1'000'000, hot_list());
}

std::string interventions_text(const std::vector<InterventionSpec>& list) {
    std::string text;
    for (const InterventionSpec& s : list) {
        text += (text.empty() ? "" : "; ") + std::string(word_of(s.kind));
        if (s.kind == InterventionKind::NormEps) text += " rho " + plain_number(s.rho);
        text += " cap " + plain_number(s.cap) + " floor " + plain_number(s.floor) + " every " +
                std::to_string(s.every) + " samples " + std::to_string(s.samples);
    }
    return text.empty() ? "none" : text;
}

std::string interventions_change(const std::vector<InterventionSpec>& from,
                                 const std::vector<InterventionSpec>& to) {
    return "interventions " + interventions_text(from) + " → " + interventions_text(to);
}

}  // namespace normscope
