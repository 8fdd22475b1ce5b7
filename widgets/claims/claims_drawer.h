// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/claims/claims_list.h"
#include "widgets/drawers/list_drawer.h"

#include <cstdint>
#include <optional>

class QPushButton;

namespace normscope::widgets {

/// What is known of the claims of a run, without their results. A plain value.
struct ClaimsState {
    QString run;                            ///< its name
    std::int64_t next = 0;                  ///< the step at which a check would measure now
    bool next_newest = false;               ///< it is the newest one of a trained run
    bool running = false;                   ///< a check of it is running
    QString replaying = {};                 ///< "replay at 80 of 120"; empty: no replay is running
    bool checked = false;                   ///< the results are of a check, of which …
    std::optional<std::int64_t> step = {};  ///< … the weights are of this step; nullopt: not known yet
    QString remark = {};                    ///< … why they are not those of the step that was asked for
    std::size_t done = 0, wanted = 0;       ///< … and this many of all are measured
    QString outdated = {};                  ///< why it is not of the present state; empty: it is
    QString failure = {}, obstacle = {};    ///< of the last check; against the next one; one line
};

/// The papers' statements, and what their measurement on the selected run gives. Nothing is measured before
/// it is asked for.
class ClaimsDrawer : public ListDrawer {
    Q_OBJECT
  public:
    /// The left column of the panels stays in sight in a window of 1440 px.
    static constexpr int kWidth = 580;

    /// `parent` contains `over`, directly or not.
    ClaimsDrawer(QWidget* over, QWidget* parent);

    /// Shows it, with the list focused.
    void open();
    void setState(const ClaimsState& state);
    void setResults(ClaimResults results, bool outdated);
    void setResult(const std::string& id, const ClaimResult& result);
    ClaimsList* list() const { return claims_; }

  Q_SIGNALS:
    void checkRequested();
    void cancelRequested();
    void knobRequested(const QString& key);
    void showRequested(const QString& claim);

  protected:
    QStringList allIds() const override;
    QString searched(const QString& id) const override;
    bool passes(const QString& id) const override;
    QString emptyText() const override { return tr("No claim matches"); }
    bool isOfList(int key) const override;

  private:
    class Counts;

    ClaimsList* claims_;
    QLabel *state_, *remark_;
    QPushButton* button_;
    Counts* counts_;
    QComboBox *paper_, *verdict_;
    bool running_ = false;
};

}  // namespace normscope::widgets
