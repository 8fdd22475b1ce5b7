// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/claims/claims.h"

#include "core/base/error.h"
#include "core/claims/claim_rows.h"

#include <algorithm>
#include <cstring>

namespace normscope {

namespace {

struct Paper {
    char letter;
    const char* name;
};
constexpr Paper kPapers[] = {{'E', "Emadi, exact attention sensitivity"},
                             {'N', "null space of layer normalization"},
                             {'G', "GPAS"},
                             {'B', "Baek, numerical fragility"},
                             {'K', "Kan et al., stability under layer normalization"}};

std::size_t order_of(char letter) {
    std::size_t i = 0;
    while (i < std::size(kPapers) && kPapers[i].letter != letter) ++i;
    return i;
}

std::vector<Claim> collected() {
    std::vector<Claim> all;
    for (const auto rows :
         {softmax_claims(), norm_claims(), null_space_claims(), residual_claims(), growth_claims(),
          gradient_claims(), scaling_claims(), gate_claims(), lipschitz_claims(), shift_claims(),
          precision_claims(), fragility_claims(), training_claims()})
        all.insert(all.end(), rows.begin(), rows.end());
    std::sort(all.begin(), all.end(), [](const Claim& a, const Claim& b) {
        const std::size_t first = order_of(a.id[0]), second = order_of(b.id[0]);
        return first != second ? first < second : std::strcmp(a.id, b.id) < 0;
    });
    return all;
}

/// "E01 … E37, N01 … N15, …, or a paper's letter".
std::string allowed_ids() {
    std::string text;
    for (const Paper& paper : kPapers) {
        std::string first, last;
        for (const Claim& claim : claims()) {
            if (claim.id[0] != paper.letter) continue;
            if (first.empty()) first = claim.id;
            last = claim.id;
        }
        text += first + " … " + last + ", ";
    }
    return text + "or a paper's letter alone";
}

}  // namespace

const char* claim_verdict_word(ClaimVerdict verdict) {
    switch (verdict) {
        case ClaimVerdict::Holds:
            return "holds";
        case ClaimVerdict::Corrected:
            return "corrected";
        case ClaimVerdict::Fails:
            return "fails";
        case ClaimVerdict::NotApplicable:
            return "not_applicable";
        case ClaimVerdict::Toy:
            return "toy";
        case ClaimVerdict::Unknown:
            break;
    }
    return "unknown";
}

const char* claim_paper(const Claim& claim) {
    const std::size_t i = order_of(claim.id[0]);
    return i < std::size(kPapers) ? kPapers[i].name : "";
}

std::span<const Claim> claims() {
    static const std::vector<Claim> all = collected();
    return all;
}

const Claim* find_claim(const std::string& id) {
    for (const Claim& claim : claims())
        if (id == claim.id) return &claim;
    return nullptr;
}

std::vector<const Claim*> selected_claims(const std::vector<std::string>& ids, const std::string& where) {
    for (const std::string& id : ids) {
        const bool letter = id.size() == 1 && order_of(id[0]) < std::size(kPapers);
        if (!letter && !find_claim(id))
            throw InputError(where, "\"" + id + "\" is not a claim", allowed_ids());
    }
    std::vector<const Claim*> selected;
    for (const Claim& claim : claims())
        if (ids.empty() || std::any_of(ids.begin(), ids.end(), [&](const std::string& id) {
                return id == claim.id || (id.size() == 1 && id[0] == claim.id[0]);
            }))
            selected.push_back(&claim);
    return selected;
}

ClaimResult check_claim(const Claim& claim, ClaimInput& input) {
    input.check_cancelled();
    try {
        return claim.measure(input);
    } catch (const NotMeasured& reason) {
        ClaimResult unknown;
        unknown.detail = reason.what();
        return unknown;
    } catch (const InputError& error) {
        ClaimResult unknown;
        unknown.detail = std::string("needs a stack that it can be measured on: ") + error.what();
        return unknown;
    }
}

}  // namespace normscope
