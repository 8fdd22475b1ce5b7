// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/gallery/gallery.h"

#include "core/recipe/presets.h"

#include <algorithm>

namespace normscope {

std::string GalleryQuantity::title() const {
    switch (kind) {
        case Kind::Loss:
            return "final loss";
        case Kind::HeldOutLoss:
            return "held-out loss";
        case Kind::Events:
            return column == "spike" ? "gradient spikes" : "events " + column;
        case Kind::Outcome: {
            std::string words;
            for (const RunState state : states)
                words += (words.empty() ? "" : ", ") + std::string(run_state_word(state));
            return "outcome " + words;
        }
        case Kind::Learned:
            return "final loss below the entropy of token pairs";
        case Kind::Tail:
            return "mean " + column + " of the last " + std::to_string(steps) + " steps";
        case Kind::Lead:
            return std::string(kLeadValues[static_cast<std::size_t>(lead)]) + " of " + ahead.title() +
                   " over " + scalar.title();
        case Kind::One:
            return "1";
        case Kind::Key:
            return column;
        case Kind::Batches:
            return "the batches";
        case Kind::Probe:
            break;
    }
    static constexpr const char* kWhen[] = {"first sample", "last sample", "last sample over first",
                                            "share of its way in the first fifth of the steps"};
    std::string text = scalar.title() + ", " + kWhen[static_cast<int>(when)];
    if (from > 0 || to < std::numeric_limits<std::int64_t>::max())
        text += " of steps " + std::to_string(from) + " to " + std::to_string(to);
    return text;
}

const char* GalleryEntry::paper() const {
    if (own) return "own";
    switch (id.front()) {
        case 'e':
            return "Emadi";
        case 'n':
            return "null-space note";
        case 'g':
            return "GPAS";
        case 'b':
            return "Baek";
        default:
            return "Kan";
    }
}

std::vector<GalleryQuantity> GalleryEntry::quantities() const {
    std::vector<GalleryQuantity> all;
    GalleryQuantity batches;
    batches.kind = GalleryQuantity::Kind::Batches;
    const auto add = [&](const GalleryQuantity& quantity) {
        if (std::find(all.begin(), all.end(), quantity) == all.end()) all.push_back(quantity);
    };
    for (const GalleryMeasure& measure : measures) {
        for (const GalleryMeasure::Points& points : measure.points) {
            add(points.x);
            add(points.y);
        }
        if (measure.effect == GalleryMeasure::Effect::Scatter) continue;
        add(measure.quantity);
        if (measure.effect != GalleryMeasure::Effect::Value) add(measure.against_quantity);
        if (measure.same_batches) add(batches);
    }
    GalleryQuantity learned;
    learned.kind = GalleryQuantity::Kind::Learned;
    if (std::any_of(measures.begin(), measures.end(), [](const GalleryMeasure& m) { return m.arms_learn; }))
        add(learned);
    return all;
}

const std::vector<GalleryEntry>& gallery() {
    static const std::vector<GalleryEntry> entries = [] {
        std::vector<GalleryEntry> read;
        for (const Preset& file : gallery_files()) read.push_back(read_gallery_entry(file.name, file.json));
        return read;
    }();
    return entries;
}

const GalleryEntry* find_gallery_entry(const std::string& id) {
    const auto& entries = gallery();
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&](const GalleryEntry& entry) { return entry.id == id; });
    return found == entries.end() ? nullptr : &*found;
}

}  // namespace normscope
