// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/sweep_request.h"
#include "core/sweep/results_writer.h"

#include <QObject>
#include <QString>
#include <memory>
#include <optional>
#include <vector>

namespace normscope::app {

/// The folder here of a sweep that is trained on another machine: its recordings and rows are written as they
/// arrive, so that it is a sweep's folder at any time. Locked as long as this object exists. Lives in a
/// thread of its own; signals are sent from there.
class SweepCopy : public QObject {
    Q_OBJECT
  public:
    /// Of the replies to the request with this token.
    SweepCopy(std::uint64_t token, SweepSpec spec, QString folder);

    /// Opens the folder, or makes it.
    void open();
    /// Of another request it is ignored; a row that comes again replaces the first.
    void take(const SweepReplyPtr& reply);

  Q_SIGNALS:
    /// The request, but for its device.
    void opened(const std::shared_ptr<const normscope::app::SweepRequest>& request);
    /// What it is about is written.
    void taken(const normscope::app::SweepReplyPtr& reply);
    /// Nothing more is written: why, in one line, the folder cannot be used (not_valid) or written.
    void failed(const QString& not_valid, const QString& failed);

  private:
    template <class Work>
    void guarded(Work&& work);
    void write(const SweepReply& reply);

    const std::uint64_t token_;
    const SweepSpec spec_;
    const QString path_;
    std::vector<SweepRun> runs_;
    std::optional<SweepFolder> folder_;
    std::optional<ResultsWriter> results_;
};

}  // namespace normscope::app
