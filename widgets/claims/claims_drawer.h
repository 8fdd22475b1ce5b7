// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/claims/claim.h"
#include "widgets/drawers/drawer.h"

#include <vector>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace normscope::app {

class ClaimsCheck;
struct CheckedClaims;
class ClaimsList;
class Lab;

/// The papers' statements, and what their measurement on the selected run gives. Nothing is measured before
/// it is asked for.
class ClaimsDrawer : public Drawer {
    Q_OBJECT
  public:
    /// The left column of the panels stays in sight in a window of 1440 px.
    static constexpr int kWidth = 580;

    /// `parent` contains `over`, directly or not.
    ClaimsDrawer(Lab& lab, QWidget* over, QWidget* parent);

    /// Shows it, with the list focused.
    void open();
    ClaimsList* list() const { return list_; }

  Q_SIGNALS:
    void knobRequested(const QString& key);
    void showRequested(const QString& claim);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

  private:
    class Counts;
    void press();
    /// All of it; only while visible.
    void refresh();
    void sayState();
    void filter();
    bool passes(const Claim& claim) const;

    Lab& lab_;
    ClaimsCheck& check_;
    const CheckedClaims* shown_ = nullptr;  ///< check_.shown() and outdated(), while visible
    QString outdated_;
    std::size_t drawn_ = 0;  ///< results of shown_ in the rows; after hiding, unknown
    QLabel *title_, *state_, *remark_, *empty_;
    QPushButton* button_;
    Counts* counts_;
    QComboBox *paper_, *verdict_;
    QLineEdit* search_;
    ClaimsList* list_;
};

}  // namespace normscope::app
