// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/serve/sweep_trainer.h"

#include "core/backend/devices/devices.h"
#include "core/base/error.h"
#include "core/sweep/sweep_folder.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <set>
#include <utility>

namespace normscope::app {

namespace {

/// "post-ln-3-5f1c…": the same for the same sweep; of another one that has its name, another.
std::string folder_name(const SweepRequest& request) {
    std::string name = request.name.substr(0, 64);
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_') c = '-';
    char digits[20];
    std::snprintf(digits, sizeof digits, "-%016zx", std::hash<std::string>()(sweep_json(request.spec)));
    return name + digits;
}

}  // namespace

class SweepTrainer::Watcher final : public SweepWatcher {
  public:
    Watcher(SweepTrainer& trainer, const SweepRequest& request, std::string folder)
        : trainer_(trainer), token_(request.token), folder_(std::move(folder)) {
        for (const SweepRow& row : request.known) known_.insert(row.run);
    }
    /// results.csv has the rows of earlier requests.
    void begun(const SweepCount& count) override {
        reply(SweepReply::Begun{count});
        for (const SweepRow& row : read_sweep(folder_).rows)
            if (!known_.count(row.run)) send(row, count);
    }
    void started(const SweepRun& run) override { reply(SweepReply::Started{run.index}); }
    void ended(const SweepRun&, const SweepRow& row, const Outcome&, const SweepCount& count) override {
        send(row, count);
    }
    void note(const std::string& line) override { reply(SweepReply::Noted{line}); }

    template <class What>
    void reply(What what, const std::string& recording = {}) {
        Q_EMIT trainer_.replied(std::make_shared<const SweepReply>(SweepReply{token_, std::move(what)}),
                                QString::fromStdString(recording));
    }

  private:
    void send(const SweepRow& row, const SweepCount& count) {
        reply(SweepReply::Ended{row, count, {}},
              row.recording.empty() ? std::string() : folder_ + "/" + row.recording);
    }

    SweepTrainer& trainer_;
    const std::uint64_t token_;
    const std::string folder_;
    std::set<std::size_t> known_;
};

SweepTrainer::SweepTrainer(std::string folder, int threads, FileCalls files)
    : folder_(std::move(folder)), threads_(threads), files_(std::move(files)) {
    qRegisterMetaType<SweepReplyPtr>();
}

void SweepTrainer::start(const SweepRequest& request) {
    if (request.token > 0) stop(request.token - 1);
    ++open_;
    QMetaObject::invokeMethod(
        this,
        [this, request] {
            train(request);
            --open_;
        },
        Qt::QueuedConnection);
}

void SweepTrainer::stop(std::uint64_t token) {
    std::uint64_t before = stopped_;
    while (before < token && !stopped_.compare_exchange_weak(before, token)) {
    }
}

void SweepTrainer::train(const SweepRequest& request) {
    SweepReply::Over over;
    Watcher watcher(*this, request, folder_ + "/" + folder_name(request));
    try {
        SweepOptions options;
        options.folder = folder_ + "/" + folder_name(request);
        options.threads = threads_;
        options.stop = [this, token = request.token] { return stopped_ >= token; };
        options.files = files_;
        options.known = request.known;
        run_sweep(request.spec, device_named(request.backend), options, watcher);
    } catch (const InputError& error) {
        over.not_valid = error.what();
    } catch (const std::exception& error) {
        over.failed = error.what();
    }
    watcher.reply(std::move(over));
}

}  // namespace normscope::app
