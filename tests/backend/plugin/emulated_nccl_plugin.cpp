// SPDX-License-Identifier: GPL-3.0-or-later
// Takes the place of the NCCL plug-in for ranks whose cards are emulated devices: their memory is the host's,
// and the values go through the launcher's own ranks.
#include "core/backend/plugin/nccl_plugin.h"
#include "core/backend/ranks/communicator.h"

#include <cstdlib>
#include <memory>
#include <vector>

using namespace normscope;

namespace {

class Cards final : public CardCommunicator {
  public:
    explicit Cards(HostCommunicator& host) : host_(host) {}
    int rank() const override { return host_.rank(); }
    int size() const override { return host_.size(); }
    void connect() override {
        if (std::getenv("CARDS_SAME"))
            throw InputError("--ranks", "ranks 0 and 1 have the same card", "a card for each rank");
        connected_ = true;
    }
    void close() override { connected_ = false; }
    void all_gather(void* all, const std::vector<std::size_t>& ends) override {
        require_connected();
        host_.all_gather(all, ends);
    }
    void all_to_all(const std::vector<std::vector<Block>>& to,
                    const std::vector<std::vector<Block>>& from) override {
        require_connected();
        host_.all_to_all(to, from);
    }

  private:
    void require_connected() const {
        if (!connected_) throw SystemError("the cards are not connected");
    }
    HostCommunicator& host_;
    bool connected_ = false;
};

CardCommunicator* open(HostCommunicator& host, int) {
    static std::unique_ptr<Cards> cards;
    cards = std::make_unique<Cards>(host);
    return cards.get();
}
const char* last_error() {
    return "";
}

constexpr NcclPlugin kPlugin{kNcclPluginAbi, open, last_error};

}  // namespace

extern "C" __attribute__((visibility("default"))) const NcclPlugin* normscope_nccl_plugin(int abi) {
    return abi == kNcclPluginAbi ? &kPlugin : nullptr;
}
