// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/files/io_worker.h"
#include "app/lab/state/pending.h"

#include <QObject>
#include <QString>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace normscope::app {

class LabState;
struct LabRun;

/// The healthy runs to which those of the comparison are compared: their band (core/findings/healthy_band.h)
/// is drawn grey in figures, below the runs, and the findings state since which step a run is outside. It is
/// of the window, not of the session: it stays when another one is opened. Interface thread.
class HealthyReference : public QObject {
    Q_OBJECT
  public:
    /// The share of healthy runs that may be called outside.
    static constexpr double kRate = 0.05;

    explicit HealthyReference(LabState& state);

    /// Reads the runs of a folder, in the thread of the files; the band there is stays until then, and where
    /// they cannot be read. A newer request replaces an older one.
    void read(const QString& folder);
    bool reading() const { return asked_.waiting(); }
    /// No band; also where one is being read.
    void remove();

    const HealthyBand* band() const { return band_.get(); }
    /// Counts the bands that there were: of keys of figures.
    std::size_t version() const { return version_; }
    const QString& folder() const { return folder_; }
    /// "24 healthy runs in FOLDER, 96 steps; about 4 % of further ones would be outside".
    QString description() const;
    /// A run against the band.
    struct Verdict {
        std::optional<std::int64_t> outside_since;  ///< step
        /// "Outside the band of 24 healthy runs since step 212: …", or that it is inside.
        QString sentence;
    };
    /// nullopt without a band or a common step.
    std::optional<Verdict> verdict(const LabRun& run) const;

  Q_SIGNALS:
    void changed();

  private:
    struct Judged {
        std::shared_ptr<const RunData> data;
        std::size_t rows = 0, samples = 0;
        std::optional<Verdict> verdict;
    };
    void apply(quint64 token, const QString& folder, const HealthyBandPtr& band);
    void show(HealthyBandPtr band, const QString& folder);

    LabState& state_;
    Pending<QString> asked_;
    HealthyBandPtr band_;
    QString folder_;
    std::size_t version_ = 0;
    mutable std::map<std::string, Judged> judged_;  ///< by run
};

}  // namespace normscope::app
