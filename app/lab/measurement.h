// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/measure_request.h"
#include "app/lab/state/pending.h"

#include <QObject>
#include <QString>
#include <QStringList>
#include <cstdint>
#include <string>
#include <vector>

namespace normscope::app {

class LabState;
struct LabRun;

/// Measures steps that were not sampled, by replay. Interface thread.
class Measurement : public QObject {
    Q_OBJECT
  public:
    explicit Measurement(LabState& state);

    /// Replays, for each run that lacks a sample of a shown panel at the shown step, from its nearest
    /// checkpoint to that step, and measures there; cancels a running measurement. Runs that cannot be
    /// replayed are reported in one line (Lab::problem()).
    void measureHere();
    /// The same at every step from kAround before the shown one to kAround after it, as far as the run goes,
    /// with the probes of its recipe and those of the shown panels: what happened around an event.
    void measureAround();
    static constexpr std::int64_t kAround = 20;
    void cancel();
    bool running() const { return measuring_.waiting(); }
    /// "measuring Post-LN\nat step 45 …"; empty while nothing is measured.
    QString status() const;
    /// The reason if measureHere() would measure nothing, in one line; else empty.
    QString obstacle() const;

  Q_SIGNALS:
    void changed();  ///< status()

  private:
    /// The running request and its progress.
    struct Measuring {
        std::int64_t step = 0, last = 0;
        std::vector<std::string> waiting;  ///< ids of runs; the first is running
        std::int64_t steps_done = -1;      ///< of its replay
        bool fetched = false;              ///< the engine has it
    };
    /// The missing samples of the steps up to `around` from the shown one that can be replayed, per run;
    /// `why_not` gets a line for each that cannot.
    std::vector<MeasurePlan> lacking(std::int64_t around, QStringList& why_not) const;
    std::vector<std::string> missing(const LabRun& run, bool of_recipe, std::int64_t first,
                                     std::int64_t last) const;
    void measure(std::int64_t around);
    void applyFetched(const MeasureRequestPtr& request);
    void applyReplayed(quint64 token, const QString& id, qint64 steps_done);
    void applyMeasured(quint64 token, const QString& id, const ProbeResultsPtr& results,
                       const QString& failed);

    LabState& state_;
    Pending<Measuring> measuring_;
};

}  // namespace normscope::app
