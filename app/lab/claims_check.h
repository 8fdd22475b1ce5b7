// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/worker_thread.h"
#include "app/lab/state/pending.h"
#include "app/lab/studies/claims_worker.h"

#include <QObject>
#include <QString>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace normscope::app {

class Lab;

/// Which state of a run is measured.
struct ClaimsSubject {
    std::string run;  ///< its id
    Recipe recipe;    ///< of a trained run, the one that it was trained with
    bool trained = false;
    std::int64_t step = 0;  ///< trained: the shown step, at most `last`
    std::int64_t last = 0;  ///< trained: the last recorded step
    StartWeightsPtr weights = {};
};

/// The results for a run. Grows while they are measured.
struct CheckedClaims {
    ClaimsSubject subject;
    std::optional<std::int64_t> measured_at = {};     ///< the step of the weights; nullopt: not known yet
    QString remark = {};                              ///< why they are not those of the subject's step
    std::map<std::string, ClaimResult> results = {};  ///< by the claim's id
};

/// The claims of the selected run: measured by request, one run at a time, and kept by run and recipe. Lives
/// in the interface thread; measures in a thread of its own, which starts with the first request. Replies of
/// a cancelled or replaced request are dropped by their token.
class ClaimsCheck : public QObject {
    Q_OBJECT
  public:
    /// The results that are kept of a run, of several recipes and steps.
    static constexpr std::size_t kStored = 8;

    /// `lab` outlives it; `deliver` applies replies (Lab::Options); `files` executes calls to HDF5.
    ClaimsCheck(Lab& lab, PendingRequests& requests, int threads, FileCalls files,
                std::function<void(std::function<void()>)> deliver);
    ~ClaimsCheck() override;

    /// Measures the claims of the selected run that are not measured, or all where all are. Replaces a
    /// running measurement.
    void start();
    /// Results that have arrived are kept.
    void cancel();
    bool running() const { return running_.waiting(); }
    /// The claims to be measured, of claims(); empty: all.
    void setOnly(std::vector<std::string> ids) { only_ = std::move(ids); }
    std::size_t wanted() const;

    /// Of the selected run: the results for its present state, else its newest ones; null: none.
    const CheckedClaims* shown() const;
    /// Why shown() is not of the present state, a phrase; empty: it is.
    QString outdated() const;
    /// Why the selected run cannot be measured now, in one line; empty: it can.
    QString obstacle() const;
    /// The reason why the last measurement of the selected run ended early, in one line.
    QString failure() const;
    /// "replay at 80 of 120"; empty: no replay is running.
    QString replaying() const { return running() ? running_.newest()->replaying : QString(); }
    /// What start() would measure now.
    ClaimsSubject subject() const;
    /// Called by the laboratory where the selected run or its recipe may have changed: ends a measurement of
    /// another one.
    void follow();

  Q_SIGNALS:
    void changed();                    ///< begun, ended, another run or state, outdated
    void measured(const QString& id);  ///< shown() has this result now

  private:
    struct Running {
        std::string run;
        std::size_t kept = 0;  ///< in stored_[run]
        QString replaying = {};
    };
    CheckedClaims* target(quint64 token);
    void applyReplayed(quint64 token, qint64 done, qint64 of);
    void applyBegan(quint64 token, qint64 step, const QString& remark);
    void applyMeasured(quint64 token, const QString& id, const ClaimResult& result);
    void applyEnded(quint64 token, const QString& failed);
    void connectWorker();

    const Lab& lab_;
    const int threads_;
    const FileCalls files_;
    const std::function<void(std::function<void()>)> deliver_;
    std::vector<std::string> only_;
    std::map<std::string, std::vector<CheckedClaims>> stored_;  ///< by run, the newest last
    std::map<std::string, QString> failures_;                   ///< by run
    Pending<Running> running_;
    std::unique_ptr<WorkerThread<ClaimsWorker>> worker_;
};

}  // namespace normscope::app
