// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_input.h"
#include "core/recipe/recipe.h"
#include "core/run/interventions/intervention.h"
#include "core/train/trainer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace normscope {

/// The kind of the events that state what an intervention changed.
inline constexpr const char* kInterventionEvent = "intervention";

/// Throws InputError for a cap below the stack's ε, a floor above the cap, and a stack without norms that
/// have an ε. Of a completed stack.
void validate_interventions(const Recipe& recipe);

/// The interventions of one run. One thread.
class Interventions {
  public:
    explicit Interventions(const std::vector<InterventionSpec>& list);
    const std::vector<InterventionSpec>& list() const { return list_; }
    bool due_at(std::int64_t step) const;

    /// Those that are due before the trainer's next step: measures and raises ε. Returns the event's text;
    /// empty where nothing changes.
    template <class T>
    std::string apply(Trainer<T>& trainer, const Recipe& recipe, ThreadPool& pool, ProbeMemory<T>& memory);
    /// Sets ε of every norm back. Returns the event's text; empty where none was raised.
    template <class T>
    static std::string undo(Trainer<T>& trainer);

    /// Of every entry, by its index.
    std::vector<std::vector<double>> state() const;
    void restore(std::size_t entry, const std::vector<double>& state);

  private:
    std::vector<InterventionSpec> list_;
    std::vector<std::unique_ptr<Intervention>> rules_;
};

}  // namespace normscope
