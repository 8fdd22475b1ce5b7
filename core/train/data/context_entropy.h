// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>
#include <map>

namespace normscope {

/// −p·ln p, 0 for p = 0.
inline double entropy_term(double p) {
    return p > 0 ? -p * std::log(p) : 0.0;
}

/// The mean entropy (nat) of a token given its context, from weights of the pairs of context and token.
class ContextEntropy {
  public:
    void add(std::uint64_t context, std::uint64_t token, double weight) {
        if (weight > 0) weights_[context][token] += weight;
    }
    double nat() const {
        double total = 0, sum = 0;
        for (const auto& [context, tokens] : weights_) {
            double of_context = 0;
            for (const auto& [token, weight] : tokens) of_context += weight;
            for (const auto& [token, weight] : tokens) sum += of_context * entropy_term(weight / of_context);
            total += of_context;
        }
        return sum / total;
    }

  private:
    std::map<std::uint64_t, std::map<std::uint64_t, double>> weights_;
};

}  // namespace normscope
