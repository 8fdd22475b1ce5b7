// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/claims/claims.h"
#include "widgets/common/row_list.h"

#include <map>

namespace normscope::widgets {

class ClaimDetails;

/// The results of claims by their ids.
using ClaimResults = std::map<std::string, ClaimResult>;

/// The rows of the claims: id, number, statement, verdict, value against bound. One row may be unfolded: the
/// selected one by Enter, any one by a click. Up and Down move the selection, Right and Left unfold and fold.
class ClaimsList : public RowList {
    Q_OBJECT
  public:
    ClaimsList();

    /// What is measured; `outdated`: of an earlier state, drawn muted.
    void setResults(ClaimResults results, bool outdated);
    /// One more.
    void setResult(const std::string& id, const ClaimResult& result);
    const ClaimResults& results() const { return results_; }
    const ClaimResult* result(const QString& id) const;
    bool outdated() const { return outdated_; }

    /// The unfolded row stays so if it is among them.
    void setIds(const QStringList& ids) override;
    void refresh(const QString& id = {}) override;
    /// Empty: none.
    QString unfolded() const { return unfolded_; }
    /// Unfolds the row of a claim, folds the other one; empty folds.
    void unfold(const QString& id);
    ClaimDetails* details() const { return details_; }
    /// What a folded row without a verdict states under its claim: what the measurement needs.
    QString need(const QString& id) const;

  Q_SIGNALS:
    void knobRequested(const QString& key);
    void showRequested(const QString& claim);

  protected:
    int rowHeight(int row) const override;
    int headHeight(int row) const override;
    void paintRow(const RowPaint& paint, int row) override;
    QString describe(const QString& id) const override;
    void keyPressEvent(QKeyEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;

  private:
    void makeDetails();

    ClaimResults results_;
    QString unfolded_, pressed_;
    ClaimDetails* details_ = nullptr;
    bool outdated_ = false;
};

}  // namespace normscope::widgets
