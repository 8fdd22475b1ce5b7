// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace normscope::fuzz {

/// What became of one number: empty where all was well.
using Trial = std::function<std::string(int number)>;
struct Failure {
    int number = 0;
    std::string what;
};
struct Outcome {
    int tried = 0;
    std::vector<Failure> failures;
};

/// Runs trial(first) … trial(last − 1) in a child process, which is replaced when it dies or takes longer
/// than `patience` seconds over one number; that number is then a failure. `prepare` makes the trial, in the
/// child: this process must not have started threads.
Outcome run_forked(int first, int last, int patience, const std::function<Trial()>& prepare);

}  // namespace normscope::fuzz
