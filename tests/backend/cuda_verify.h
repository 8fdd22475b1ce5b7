// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/emulated_cuda_device.h"
#include "core/backend/devices/devices.h"
#include "core/backend/plugin/load_cuda.h"
#include "tests/backend/operations.h"

#include <QtTest>
#include <map>

// An operation of the emulated CUDA device, of the CPU and of a card where there is one, against the CPU in
// float64 with the same inputs, rounded to the format. On the emulated device accesses are checked, and
// several schedules of the grid must give the same bits.

namespace normscope::device_side {

/// A scalar, or float32 with results rounded to BF16 or FP16.
struct Format {
    const char* name;
    int bytes;
    Rounding rounding = Rounding::None;
    PrecisionPolicy policy = PrecisionPolicy::Pure;
    bool plain() const { return rounding == Rounding::None; }
    double epsilon() const {
        return bytes == 8 ? std::numeric_limits<double>::epsilon()
                          : double(std::numeric_limits<float>::epsilon());
    }
    /// The distance of neighbours in [1, 2).
    double unit() const {
        return rounding == Rounding::Bf16 ? 1.0 / 128 : rounding == Rounding::Fp16 ? 1.0 / 1024 : 0;
    }
    double bound(const Allowed& allowed) const {
        return allowed.epsilons * epsilon() + allowed.roundings * unit() / 2;
    }
};
inline constexpr Format kScalars[] = {{"float32", 4}, {"float64", 8}};
inline constexpr Format kFormats[] = {{"bf16", 4, Rounding::Bf16},
                                      {"fp16", 4, Rounding::Fp16},
                                      {"bf16 autocast", 4, Rounding::Bf16, PrecisionPolicy::Autocast},
                                      {"fp16 autocast", 4, Rounding::Fp16, PrecisionPolicy::Autocast}};

/// The largest errors found, by operation and format, and the largest shares of their bounds.
class ErrorTable {
  public:
    void add(const char* operation, const char* format, double error, double bound) {
        auto& [most, share] = rows_[{operation, format}];
        most = std::max(most, error);
        if (bound > 0) share = std::max(share, error / bound);
    }
    /// With NORMSCOPE_PRINT_ERRORS.
    void print() const {
        if (!qEnvironmentVariableIsSet("NORMSCOPE_PRINT_ERRORS")) return;
        for (const auto& [of, found] : rows_)
            qInfo("%-24s %-14s %8.2g, %3.0f %% of the bound", of.first.c_str(), of.second.c_str(),
                  found.first, 100 * found.second);
    }

  private:
    std::map<std::pair<std::string, std::string>, std::pair<double, double>> rows_;
};
inline ErrorTable& error_table() {
    static ErrorTable table;
    return table;
}

inline bool in_format(Rounding to, const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [&](double v) {
        return v == static_cast<double>(rounded(to, static_cast<float>(v))) || std::isnan(v);
    });
}

/// The first card, where the process may use one (CTest's may not).
inline Device* card() {
    static Device* const device = cuda_cards().count > 0 ? &device_named("cuda") : nullptr;
    return device;
}

/// Compares call(side) on every device; `seeds` schedules of the emulated grid.
template <class Call>
class Comparison {
  public:
    Comparison(const char* name, const Format& format, const Allowed& allowed, std::uint64_t seeds,
               Call& call)
        : name_(name), format_(format), allowed_(allowed), seeds_(seeds), call_(call) {
        Side<double> side(cpu_device(), Side<double>::Reference{format.rounding});
        expected_ = call(side);
    }

    /// Empty where all agree.
    QString failure() {
        const Outputs on_cpu = outputs(cpu_device());
        for (const auto& [name, values] : on_cpu) rounded_.push_back(in_format(format_.rounding, values));
        if (const QString apart = far(on_cpu, "cpu"); !apart.isEmpty()) return apart;
        if (card()) {
            if (const QString apart = far(outputs(*card()), "cuda"); !apart.isEmpty()) return apart;
        }
        Outputs first;
        for (std::uint64_t seed = 1; seed <= seeds_; ++seed) {
            EmulatedCudaDevice device({grid::Schedule::Order::Drawn, seed, true});
            Outputs found;
            try {
                found = outputs(device);
            } catch (const grid::GridFault& fault) {
                return text(fault.what()) + QString(" (seed %1)").arg(seed);
            }
            if (seed == 1) {
                if (const QString apart = far(found, "cuda-emulated"); !apart.isEmpty()) return apart;
                for (std::size_t k = 0; k < found.size() && !format_.plain(); ++k)
                    if (in_format(format_.rounding, found[k].second) != rounded_[k])
                        return text(found[k].first.c_str()) + " is rounded on one device alone";
                first = std::move(found);
            } else if (!same_bits(found, first))
                return text("outputs") + QString(" have other bits with seed %1").arg(seed);
        }
        return {};
    }

  private:
    /// An output after one rounding that is not of the format was not rounded: it is as exact as float32.
    double bound_of(std::size_t output) const {
        const bool exact = allowed_.roundings <= 1 && !rounded_[output];
        return format_.bound(exact ? Allowed(allowed_.epsilons, 0) : allowed_);
    }
    QString text(const char* what) const {
        return QString("%1, %2: %3").arg(name_).arg(format_.name).arg(what);
    }
    Outputs outputs(Device& device) {
        if (format_.bytes == 8) {
            Side<double> side(device);
            return call_(side);
        }
        Side<float> side(device, format_.rounding, format_.policy);
        return call_(side);
    }
    QString far(const Outputs& found, const char* device) const {
        for (std::size_t k = 0; k < expected_.size(); ++k) {
            const double bound = bound_of(k);
            const double error =
                error_of<double>({found[k]}, {expected_[k]}) * std::numeric_limits<double>::epsilon();
            error_table().add((std::string(name_) + ' ' + expected_[k].first).c_str(), format_.name, error,
                              bound);
            if (!(error <= bound))
                return text(expected_[k].first.c_str()) +
                       QString(" on %1: error %2, allowed %3").arg(device).arg(error).arg(bound);
        }
        return {};
    }

    const char* name_;
    const Format& format_;
    Allowed allowed_;
    std::vector<bool> rounded_;  ///< by output, on the CPU
    std::uint64_t seeds_;
    Call& call_;
    Outputs expected_;
};

/// Of an operation in these formats.
template <class Formats>
auto verify_in(const Formats& formats, std::uint64_t seeds) {
    return [&formats, seeds](const char* name, const Allowed& allowed, auto&& call) {
        for (const Format& format : formats) {
            Comparison comparison(name, format, allowed, seeds, call);
            QCOMPARE(comparison.failure(), QString());
        }
    };
}
inline const auto verify = verify_in(kScalars, 4);

/// Of the table's rows: one row or token, a sequence that is no multiple of a warp, several chunks of rows;
/// widths one above a warp and one above two.
inline constexpr Sizes kTableSizes[] = {{1, 1, 33}, {1, 7, 65}, {2, 7, 33}, {1, 129, 33}, {2, 129, 65}};

}  // namespace normscope::device_side
