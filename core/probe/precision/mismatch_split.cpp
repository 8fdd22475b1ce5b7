// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/precision/mismatch_split.h"

#include "core/base/nan.h"

#include <cmath>
#include <numeric>

namespace normscope {

MismatchSplit MismatchSplit::unmeasured() {
    MismatchSplit split;
    split.all = kNaN;
    split.only.fill(kNaN);
    split.without.fill(kNaN);
    return split;
}

std::array<double, kOperationKinds> MismatchSplit::share() const {
    std::array<double, kOperationKinds> shares{};
    for (std::size_t i = 0; i < shares.size(); ++i) shares[i] = only[i] * only[i] / (all * all);
    return shares;
}

double MismatchSplit::remainder() const {
    const auto shares = share();
    return 1 - std::accumulate(shares.begin(), shares.end(), 0.0);
}

MismatchSplit mismatch_split(Transformer<float>& model, const Batch& batch, Rounding format, ThreadPool& pool,
                             const std::function<void()>& check) {
    Tape<float> tape;
    model.forward(batch, tape, pool);
    const std::size_t count =
        static_cast<std::size_t>(tape.rows()) * static_cast<std::size_t>(model.spec().vocab);
    const std::vector<float> exact(tape.logits, tape.logits + count);
    const auto error_of = [&](const OperationKinds& low) {
        check();
        SplitPassOps ops(format, low);
        model.set_operations(&ops.layers, &ops.elementwise);
        model.forward(batch, tape, pool);
        model.set_operations(nullptr, nullptr);
        double error = 0, size = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const double y = exact[i], difference = static_cast<double>(tape.logits[i]) - y;
            error += difference * difference;
            size += y * y;
        }
        return std::sqrt(error / size);
    };
    OperationKinds all;
    all.fill(true);
    MismatchSplit split;
    split.all = error_of(all);
    for (std::size_t i = 0; i < all.size(); ++i) {
        OperationKinds one{}, others = all;
        one[i] = true;
        others[i] = false;
        split.only[i] = error_of(one);
        split.without[i] = error_of(others);
    }
    return split;
}

}  // namespace normscope
