// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/gallery/findings.h"

#include <QString>

namespace normscope::widgets {

/// What is known of an entry of the gallery. A plain value.
struct GalleryState {
    enum class Kind {
        Unread,   ///< its folder has not been read yet
        NotRun,   ///< no folder
        Partial,  ///< some of its runs have not ended, or failed
        Ended,    ///< all have
        Damaged,  ///< a file of its folder cannot be read; a resumption trains what is not there
        Other     ///< its folder is another sweep's
    } kind = Kind::Unread;
    GalleryResult result;  ///< of the last reading; empty where it could not be read
    QString problem;       ///< of Damaged and Other, one line
};

}  // namespace normscope::widgets
