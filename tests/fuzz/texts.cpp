// SPDX-License-Identifier: GPL-3.0-or-later
// Damaged texts: recipes, settings, sweep.json, a session's /view, the kept window, stories, gallery entries,
// figure specifications. Whatever the text, its reader gives a value that can be written and read again, or
// one line of InputError; none crashes, none hangs.
//
//   fuzz_texts COUNT SEED [FOLDER [FIRST]]
//
// A number and a seed always give the same text. Texts that fail are kept in FOLDER; without one nothing is
// kept.
#include "app/lab/files/window_text.h"
#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/gallery/gallery.h"
#include "core/recipe/presets.h"
#include "core/stories/story.h"
#include "core/sweep/sweep_spec.h"
#include "tests/fuzz/forked.h"
#include "tests/fuzz/text_damage.h"
#include "widgets/figures/spec/figure_spec.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <new>

namespace fs = std::filesystem;
using namespace normscope;

namespace {

constexpr std::size_t kLongestLine = 4000;  // lists of allowed keys are long

struct Kind {
    const char* name;
    std::size_t share;  ///< of 100
    /// Reads the text, and writes and reads again what it gives. Empty: all is well.
    std::string (*read)(const std::string& text);
};

std::string recipe(const std::string& text) {
    const Recipe read = parse_recipe(text, "recipe");
    return parse_recipe(recipe_json(read), "again") == read ? "" : "another recipe when written";
}

/// One setting a line, on a sound recipe.
std::string settings(const std::string& text) {
    std::vector<std::string> all{""};
    for (const char c : text)
        if (c == '\x1e')
            all.emplace_back();
        else
            all.back() += c;
    return recipe(with_settings(R"({"format": "normscope-recipe", "version": 1})", all, "recipe"));
}

std::string sweep(const std::string& text) {
    const SweepSpec read = parse_sweep(text, "sweep.json");
    const SweepSpec again = parse_sweep(sweep_json(read), "again");
    if (again.grid != read.grid || again.seeds != read.seeds || again.ties != read.ties ||
        again.choice != read.choice)
        return "another sweep when written";
    try {
        const std::string difference = sweep_difference(read, again);
        return difference.empty() ? "" : "another sweep when written: " + difference;
    } catch (const InputError&) {
        return {};  // its recipe is rejected, both times
    }
}

std::string view(const std::string& text) {
    app::readView(text);
    return {};
}

std::string window(const std::string& text) {
    app::readView(app::readWindow(text, "window").view);
    return {};
}

std::string story(const std::string& text) {
    return read_story("s", text, {"stack.depth=1", "stack.d_model=4", "stack.heads=1"}).steps.empty()
               ? "a story without steps"
               : "";
}

std::string gallery(const std::string& text) {
    return read_gallery_entry("e-fuzzed", text).measures.empty() ? "an entry without measures" : "";
}

std::string figure(const std::string& text) {
    const widgets::FigureSpec read = widgets::figureSpecFromJson(QByteArray::fromStdString(text));
    const QByteArray written = widgets::figureSpecToJson(read);
    return widgets::figureSpecToJson(widgets::figureSpecFromJson(written)) == written
               ? ""
               : "another figure when written";
}

constexpr Kind kKinds[] = {{"recipe", 30, recipe},  {"settings", 15, settings}, {"sweep", 15, sweep},
                           {"view", 15, view},      {"window", 10, window},     {"story", 3, story},
                           {"gallery", 2, gallery}, {"figure", 10, figure}};

/// Counted by the children, read by this process.
struct Tally {
    struct Of {
        std::atomic<int> accepted, rejected;
    };
    std::array<Of, std::size(kKinds)> of;
};

std::string contents(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The corpus and what the program has built in, in a fixed order.
std::vector<std::string> seeds_of(const Kind& kind) {
    std::vector<std::string> seeds;
    std::vector<fs::path> files;
    const fs::path folder = fs::path(NORMSCOPE_CORPUS) / kind.name;
    if (fs::exists(folder))
        for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) seeds.push_back(contents(file));
    const auto add = [&](std::span<const Preset> built_in) {
        for (const Preset& preset : built_in) seeds.emplace_back(preset.json);
    };
    if (kind.read == recipe) add(presets());
    if (kind.read == story) add(stories());
    if (kind.read == gallery) add(gallery_files());
    return seeds;
}

struct Case {
    std::size_t kind = 0;
    std::string text;
};

class Cases {
  public:
    explicit Cases(std::uint64_t seed) : seed_(seed) {
        for (const Kind& kind : kKinds) seeds_.push_back(seeds_of(kind));
    }
    Case of(int number) const {
        fuzz::Random random(seed_ * 1'000'003 + static_cast<std::uint64_t>(number));
        Case made;
        std::size_t share = fuzz::below(random, 100);
        while (share >= kKinds[made.kind].share) share -= kKinds[made.kind++].share;
        const auto& seeds = seeds_[made.kind];
        const std::size_t seed = fuzz::below(random, seeds.size());
        if (kKinds[made.kind].read == settings) {
            const nlohmann::json all = nlohmann::json::parse(seeds[seed]);
            for (std::size_t i = 0, n = 1 + fuzz::below(random, 3); i < n; ++i) {
                std::string setting = all[fuzz::below(random, all.size())];
                if (const auto equals = setting.find('='); fuzz::below(random, 3) == 0) {
                    const std::string value = json_text(json_or_word(setting.substr(equals + 1), "seed"));
                    setting = setting.substr(0, equals + 1) + fuzz::damaged_text({value}, 0, random);
                } else {
                    setting = fuzz::damaged_bytes(setting, random);
                }
                made.text += (i > 0 ? "\x1e" : "") + setting;
            }
        } else {
            made.text = fuzz::damaged_text(seeds, seed, random);
        }
        return made;
    }

  private:
    std::uint64_t seed_;
    std::vector<std::vector<std::string>> seeds_;
};

std::string tried(const Case& made, Tally& tally) {
    Tally::Of& counts = tally.of[made.kind];
    try {
        const std::string wrong = kKinds[made.kind].read(made.text);
        ++counts.accepted;
        return wrong;
    } catch (const InputError& error) {
        ++counts.rejected;
        const std::string line = error.what();
        if (line.size() < 10 || line.size() > kLongestLine) return "no line of a usual length: " + line;
        for (const char c : line)
            if (static_cast<unsigned char>(c) < 0x20) return "not one line: " + line;
        return {};
    } catch (const SystemError& error) {
        return std::string("a failure of the system: ") + error.what();
    } catch (const std::exception& error) {
        return std::string("an error of a library: ") + error.what();
    }
}

int run(int count, std::uint64_t seed, const std::string& keep, int first) {
    const Cases cases(seed);
    void* shared = ::mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto* tally = new (shared) Tally{};
    const auto outcome = fuzz::run_forked(first, first + count, 90, [&] {
        return [&](int number) { return tried(cases.of(number), *tally); };
    });
    std::cout << outcome.tried << " texts, seed " << seed << ", " << outcome.failures.size() << " failures";
    for (std::size_t k = 0; k < std::size(kKinds); ++k)
        std::cout << ", " << kKinds[k].name << " " << tally->of[k].accepted << " read, "
                  << tally->of[k].rejected << " rejected";
    std::cout << "\n";
    for (const fuzz::Failure& failure : outcome.failures) {
        const Case made = cases.of(failure.number);
        std::cout << "  " << failure.number << " (" << kKinds[made.kind].name
                  << "): " << printable(failure.what) << "\n";
        if (keep.empty()) continue;
        fs::create_directories(keep);
        std::ofstream(keep + "/" + kKinds[made.kind].name + "-" + std::to_string(failure.number),
                      std::ios::binary)
            << made.text;
    }
    // Both ends are reached.
    bool both = count < 10'000;
    if (!both)
        both = std::all_of(tally->of.begin(), tally->of.end(),
                           [](const Tally::Of& of) { return of.accepted > 0 && of.rejected > 0; });
    if (!both) std::cout << "  a kind is never read or never rejected\n";
    return outcome.failures.empty() && both ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::cerr << "fuzz_texts COUNT SEED [FOLDER [FIRST]]\n";
        return 2;
    }
    return run(std::atoi(argv[1]), std::strtoull(argv[2], nullptr, 10), argc > 3 ? argv[3] : "",
               argc > 4 ? std::atoi(argv[4]) : 0);
}
