// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/files.h"
#include "core/backend/cpu/host/thread_pool.h"
#include "core/base/error.h"
#include "core/session/named_arrays.h"
#include "core/theory/softmax_sensitivity.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <span>

namespace normscope::app {

namespace {

struct ThetaOptions {
    std::string input, out;
    int threads = 0;
};

Sensitivity solve_row(SoftmaxSensitivity& solver, std::span<const double> row, const std::string& path,
                      std::size_t index) {
    try {
        return solver.solve(row);
    } catch (const InputError& error) {
        throw InputError(path + ": /p: row " + std::to_string(index) + ": " + error.what());
    }
}

int run_theta(const ThetaOptions& options) {
    const FileIdentity before = require_writable(options.out, {options.input});
    const FileArray<double> p = read_file_array<double>(options.input, "/p", 2);
    const std::size_t rows = p.shape[0], n = p.shape[1];
    std::vector<double> theta(rows), lower(rows), upper(rows);
    constexpr std::size_t kPiece = 64;
    ThreadPool pool(options.threads);
    pool.run(static_cast<int>((rows + kPiece - 1) / kPiece), [&](int piece) {
        SoftmaxSensitivity solver;
        const std::size_t begin = static_cast<std::size_t>(piece) * kPiece;
        for (std::size_t r = begin; r < std::min(begin + kPiece, rows); ++r) {
            const Sensitivity s = solve_row(solver, std::span(p.data).subspan(r * n, n), options.input, r);
            theta[r] = s.value;
            lower[r] = s.lower;
            upper[r] = s.upper;
        }
    });
    write_named_arrays(options.out,
                       {stored("/theta", {rows}, theta.data()), stored("/lower", {rows}, lower.data()),
                        stored("/upper", {rows}, upper.data())},
                       {}, before);
    double width = 0;
    for (std::size_t r = 0; r < rows; ++r) width = std::max(width, upper[r] - lower[r]);
    std::cout << options.out << ": " << rows << " rows, widest certificate " << width << "\n";
    return kDone;
}

}  // namespace

void add_theta(CLI::App& program, Task& task) {
    auto options = std::make_shared<ThetaOptions>();
    auto* command =
        program.add_subcommand("theta", "softmax sensitivity of attention rows, with its certificate");
    command->add_option("P", options->input, "HDF5 file with /p [rows, n] float64, each row summing to 1")
        ->required();
    command->add_option("--out", options->out, "HDF5 file for /theta, /lower, /upper [rows]")->required();
    add_threads_option(*command, options->threads);
    command->callback([options, &task] { task = [options] { return run_theta(*options); }; });
}

}  // namespace normscope::app
