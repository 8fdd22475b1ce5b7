// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/state/pending.h"

namespace normscope::app {

void PendingRequests::closeSession() {
    ++session_;
    for (PendingKind* kind : kinds_)
        if (kind->owner_ == PendingKind::Owner::Session) kind->dropAll();
}

std::vector<std::string> PendingRequests::waiting() const {
    std::vector<std::string> names;
    for (const PendingKind* kind : kinds_) names.insert(names.end(), kind->count(), kind->name_);
    return names;
}

PendingKind::PendingKind(PendingRequests& all, const char* name, Owner owner)
    : all_(all), name_(name), owner_(owner) {
    all_.kinds_.push_back(this);
}

PendingKind::~PendingKind() {
    std::erase(all_.kinds_, this);
}

}  // namespace normscope::app
