// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/presets.h"
#include "core/stories/story_check.h"

#include <QtTest>
#include <algorithm>
#include <string>

namespace normscope::test {

/// Trains the runs as the story leads through them, of this seed, with its pauses `shift` steps later: every
/// step holds.
inline void walk_a_story(const std::string& name, int seed, int shift) {
    const auto all = stories();
    const auto file = std::find_if(all.begin(), all.end(), [&](const Preset& s) { return s.name == name; });
    QVERIFY(file != all.end());
    const Story story = read_story(name, file->json, {"seed=" + std::to_string(seed)});
    ThreadPool pool(0);
    const std::vector<StoryFinding> found = walk(story, pool, shift);
    QCOMPARE(found.size(), story.steps.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (story.steps[i].holds.empty()) continue;
        QVERIFY2(found[i].verdict == StoryVerdict::Holds, found[i].line.c_str());
    }
}

}  // namespace normscope::test
