// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/notes.h"

#include "app/lab/state/lab_state.h"

namespace normscope::app {

Notes::Notes(LabState& state) : state_(state) {}

QString Notes::ofComparison() const {
    for (const LabRun& run : state_.now.runs)
        if (const auto found = comparison_.find(run.id); found != comparison_.end()) return found->second;
    return {};
}

QString Notes::ofRun(const std::string& id) const {
    const auto found = runs_.find(id);
    return found == runs_.end() ? QString() : found->second;
}

void Notes::setOfComparison(const QString& text) {
    if (ofComparison() == text) return;
    for (const LabRun& run : state_.now.runs) comparison_[run.id] = text.left(kMaxLength);
    state_.files.recorded();
    Q_EMIT changed();
}

void Notes::setOfRun(const std::string& id, const QString& text) {
    if (ofRun(id) == text || !state_.now.find(id)) return;
    runs_[id] = text.left(kMaxLength);
    state_.files.recorded();
    Q_EMIT changed();
}

std::map<std::string, QString> Notes::ofRuns() const {
    std::map<std::string, QString> there;
    for (const LabRun& run : state_.now.runs)
        if (const QString text = ofRun(run.id); !text.isEmpty()) there[run.id] = text;
    return there;
}

void Notes::restore(const QString& comparison, const std::map<std::string, QString>& runs) {
    clear();
    for (const LabRun& run : state_.now.runs) comparison_[run.id] = comparison.left(kMaxLength);
    for (const auto& [id, text] : runs) runs_[id] = text.left(kMaxLength);
    Q_EMIT changed();
}

void Notes::clear() {
    comparison_.clear();
    runs_.clear();
    Q_EMIT changed();
}

}  // namespace normscope::app
