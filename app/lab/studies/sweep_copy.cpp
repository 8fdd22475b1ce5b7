// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/studies/sweep_copy.h"

#include "app/lab/remote/overloaded.h"
#include "core/base/error.h"

#include <QFileInfo>
#include <utility>

namespace normscope::app {

SweepCopy::SweepCopy(std::uint64_t token, SweepSpec spec, QString folder)
    : token_(token), spec_(std::move(spec)), path_(std::move(folder)) {
    qRegisterMetaType<SweepReplyPtr>();
    qRegisterMetaType<std::shared_ptr<const SweepRequest>>();
}

/// Where it throws, it is over.
template <class Work>
void SweepCopy::guarded(Work&& work) {
    try {
        work();
    } catch (const InputError& error) {
        folder_.reset();
        Q_EMIT failed(QString::fromUtf8(error.what()), {});
    } catch (const std::exception& error) {
        folder_.reset();
        Q_EMIT failed({}, QString::fromUtf8(error.what()));
    }
}

void SweepCopy::open() {
    guarded([this] {
        runs_ = expand_sweep(spec_);
        folder_.emplace(path_.toStdString(), spec_);
        results_.emplace(*folder_, spec_, runs_, true);
        auto request = std::make_shared<SweepRequest>();
        request->token = token_;
        request->name = QFileInfo(path_).fileName().toStdString();
        request->spec = spec_;
        for (SweepRow& row : read_results(spec_, runs_, folder_->path())) {
            const bool is_here = QFileInfo::exists(path_ + u'/' + QString::fromStdString(row.recording));
            if (!is_result(row.state) || row.recording.empty() || !is_here) continue;
            results_->rows.emplace(row.run, row);
            request->known.push_back(std::move(row));
        }
        results_->write();
        Q_EMIT opened(request);
    });
}

void SweepCopy::take(const SweepReplyPtr& reply) {
    if (reply->token != token_ || !folder_) return;
    guarded([&] {
        write(*reply);
        Q_EMIT taken(reply);
    });
}

void SweepCopy::write(const SweepReply& reply) {
    std::visit(Overloaded{[&](const SweepReply::Ended& ended) {
                              const SweepRow& row = ended.row;
                              if (row.run >= runs_.size())
                                  throw InputError("a row of run " + std::to_string(row.run) + " of " +
                                                   std::to_string(runs_.size()));
                              if (!row.recording.empty() && row.recording != runs_[row.run].recording)
                                  throw InputError("run " + std::to_string(row.run) + " with the recording " +
                                                   row.recording);
                              if (!row.recording.empty())
                                  replace_text_file(folder_->recording(runs_[row.run]), ended.recording);
                              results_->rows[row.run] = row;
                              results_->write_in_time(ended.count.ended >= ended.count.total);
                          },
                          [&](const SweepReply::Over&) { results_->write(); }, [](const auto&) {}},
               reply.what);
}

}  // namespace normscope::app
