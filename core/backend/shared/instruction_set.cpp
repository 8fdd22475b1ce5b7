// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/shared/instruction_set.h"

#include "core/base/error.h"
#include "core/base/strict_json.h"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace normscope {

namespace {

constexpr const char* kVariable = "NORMSCOPE_ISA";

Isa of_processor() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        return Isa::Avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Isa::Avx2;
#endif
    return Isa::Baseline;
}

Isa at_most() {
    const char* given = std::getenv(kVariable);
    if (!given) return Isa::Avx512;
    for (const Isa isa : {Isa::Baseline, Isa::Avx2, Isa::Avx512})
        if (std::string(isa_name(isa)) == given) return isa;
    throw InputError(kVariable, quoted(given) + " is unknown", "baseline, avx2, avx512");
}

}  // namespace

const char* isa_name(Isa isa) {
    constexpr const char* names[] = {"serial", "baseline", "avx2", "avx512"};
    return names[static_cast<int>(isa)];
}

Isa best_isa() {
    static const Isa best = std::min(of_processor(), at_most());
    return best;
}

}  // namespace normscope
