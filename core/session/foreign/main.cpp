// SPDX-License-Identifier: GPL-3.0-or-later
// normscope-walk FILE: started by the other programs on files that they do not know, see guard.h. Prints
// "walked" or "refused: why"; when the file brings it down, nothing.
#include "core/session/foreign/walk.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <iostream>

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "normscope-walk: is started by normscope and normscope-cli\n";
        return 2;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody waits for the answer any more
    ::prctl(PR_SET_DUMPABLE, 0);         // a crash is an answer, not worth a core file
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const rlimit memory{std::size_t{4} << 30, std::size_t{4} << 30};
    ::setrlimit(RLIMIT_AS, &memory);
#endif
    try {
        std::string refused = normscope::walk_file(argv[1]);
        std::replace(refused.begin(), refused.end(), '\n', ' ');
        std::cout << (refused.empty() ? "walked" : "refused: " + refused) << std::endl;
    } catch (const std::exception& error) {
        std::cout << "refused: cannot be looked through: " << error.what() << std::endl;
    }
    ::_exit(0);  // the library's own cleaning up after a damaged file is of no use to anyone
}
