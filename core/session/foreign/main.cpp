// SPDX-License-Identifier: GPL-3.0-or-later
// normscope-walk FILE [PART]: started by the other programs on foreign files, see guard.h. Prints a dot for
// each step of a part, then "walked" or "rejected: why"; no line if it crashes.
#include "core/session/foreign/walk.h"
#include "core/session/process/guard.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <iostream>

int main(int argc, char** argv) {
    if (argc != 2 && argc != 3) {
        std::cerr << "normscope-walk: is started by normscope and normscope-cli\n";
        return 2;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // the parent is gone
    ::prctl(PR_SET_DUMPABLE, 0);         // a crash is an expected result: no core file
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const rlimit memory{std::size_t{4} << 30, std::size_t{4} << 30};
    ::setrlimit(RLIMIT_AS, &memory);
#endif
    try {
        std::string rejected = normscope::walk_part(
            argv[1], argc == 3 ? argv[2] : "", [] { std::cout << normscope::walked_step << std::flush; });
        std::replace(rejected.begin(), rejected.end(), '\n', ' ');
        std::cout << (rejected.empty() ? "walked" : "rejected: " + rejected) << std::endl;
    } catch (const std::exception& error) {
        std::cout << "rejected: cannot be walked: " << error.what() << std::endl;
    }
    ::_exit(0);  // skips the library's cleanup, which may crash after a damaged file
}
