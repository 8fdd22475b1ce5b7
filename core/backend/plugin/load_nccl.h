// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/ranks/communicator.h"

namespace normscope {

/// These ranks for memory of a card, which is this rank's, of the plug-in (nccl_plugin.h);
/// $NORMSCOPE_NCCL_PLUGIN names a file. It is not connected; valid as long as `host`. Once, in the thread
/// that trains. InputError, with what is missing, where there is no plug-in, no NCCL or no such card.
CardCommunicator& open_nccl(HostCommunicator& host, int card);

}  // namespace normscope
