// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_main.h"

#include <cstdio>
#include <map>
#include <set>
#include <string>

namespace normscope::test {
namespace {

struct Tests {
    std::map<std::string, Registration::Run> by_name;
    std::set<std::string> classes;
    std::string twice;  // what was registered twice; empty if nothing was
};

Tests& tests() {
    static Tests all;  // the registrations of other sources may come before this source's own constants
    return all;
}

std::string name_of(std::string file) {
    file.erase(0, file.rfind('/') + 1);
    const std::size_t end = file.rfind("_test.cpp");
    return file.substr(0, end);
}

}  // namespace

Registration::Registration(const char* file, const char* test_class, Run run) {
    if (!tests().by_name.emplace(name_of(file), run).second) tests().twice = name_of(file);
    if (!tests().classes.insert(test_class).second) tests().twice = test_class;
}

}  // namespace normscope::test

int main(int argc, char** argv) {
    const auto& [by_name, classes, twice] = normscope::test::tests();
    if (!twice.empty()) {
        std::fprintf(stderr, "%s: the name '%s' belongs to two tests; names are unique in a program\n",
                     argv[0], twice.c_str());
        return 1;
    }
    const auto found = argc > 1 ? by_name.find(argv[1]) : by_name.end();
    if (found == by_name.end()) {
        std::fprintf(stderr, "usage: %s TEST [Qt Test's options]; TEST is one of:\n", argv[0]);
        for (const auto& [name, run] : by_name) std::fprintf(stderr, "  %s\n", name.c_str());
        return 1;
    }
    // An application's name is a test's own, as are the files that Qt names after it.
    std::string program = argv[0];
    const std::size_t suffix = program.rfind("_tests");
    if (suffix != std::string::npos) program.resize(suffix);
    program += "_" + found->first;
    argv[1] = program.data();
    int rest = argc - 1;
    return found->second(rest, argv + 1);
}
