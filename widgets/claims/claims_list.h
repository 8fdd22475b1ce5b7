// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/claims/claims.h"

#include <QListWidget>
#include <functional>
#include <optional>

namespace normscope::app {

class ClaimDetails;

/// The rows of the claims: id, number, statement, verdict, value against bound. One row may be unfolded: the
/// selected one by Enter, any one by a click. Up and Down move the selection, Right and Left unfold and fold.
class ClaimsList : public QListWidget {
    Q_OBJECT
  public:
    explicit ClaimsList(QWidget* parent);

    /// The result of a claim now; null: not measured. Must be set before rows are.
    void setResults(std::function<const ClaimResult*(const std::string& id)> results);
    /// Whether results are of an earlier state: drawn muted.
    void setOutdated(bool outdated);
    /// Rows of these claims. The selected and the unfolded one stay so if they are among them.
    void setClaims(const std::vector<const Claim*>& claims);
    /// The result of a claim has changed, or, without an id, all.
    void refresh(const std::string& id = {});

    /// Empty: none.
    QString unfolded() const { return unfolded_; }
    /// Unfolds the row of a claim, folds the other one; empty folds.
    void unfold(const QString& id);
    ClaimDetails* details() const { return details_; }
    /// The ids of the rows.
    QStringList ids() const;
    const ClaimResult* result(const QString& id) const;
    bool outdated() const { return outdated_; }
    /// What a folded row without a verdict states under its claim: what the measurement needs.
    QString need(const QString& id) const;
    /// Of a row without its unfolded part, in px.
    int headHeight(const Claim& claim) const;
    int detailsHeight() const;

  Q_SIGNALS:
    void knobRequested(const QString& key);
    void showRequested(const QString& claim);

  protected:
    void keyPressEvent(QKeyEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    QListWidgetItem* rowOf(const QString& id) const;
    void describe(QListWidgetItem& item) const;
    void makeDetails();
    void layOutAgain();

    std::function<const ClaimResult*(const std::string&)> results_;
    QString unfolded_, pressed_;
    ClaimDetails* details_ = nullptr;
    bool outdated_ = false;
};

}  // namespace normscope::app
