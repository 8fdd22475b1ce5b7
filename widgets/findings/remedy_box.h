// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/findings/findings_content.h"

#include <QWidget>
#include <optional>
#include <string>
#include <vector>

class QLabel;
class QStackedWidget;
class QToolButton;

namespace normscope::widgets {

class RemedyButton;

/// What to try with a failed run, at the right of the findings band: up to three remedies whose drafts are
/// enough, as buttons in an order that is no ranking, those that are not enough as a line, and "Try all" with
/// the table of its runs. A remedy's button asks for it to be trained as a further run.
class RemedyBox : public QWidget {
    Q_OBJECT
  public:
    static constexpr int kWidth = 520;

    explicit RemedyBox(QWidget* parent = nullptr);
    /// nullopt, where no run has failed, hides it.
    void setContent(const std::optional<RemedyContent>& content);
    /// The buttons shown.
    std::vector<RemedyButton*> buttons() const;
    QString notEnough() const;
    const RemedyTable& table() const { return *table_; }
    bool showsTable() const;

  Q_SIGNALS:
    void draftsRequested();
    /// Of these remedies (RemedyContent::Choice::index) of the failed run; more than one are "Try all".
    void tryRequested(const std::string& run, const std::vector<std::size_t>& remedies);

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    void refresh();
    void showDrafts();
    void showTable();
    void act();

    std::optional<RemedyContent> content_;
    QLabel* title_;
    QToolButton* action_;  ///< "Draft them", "Try all three", "Drafts", "Table"
    QToolButton* back_;    ///< between the table and the drafts
    QStackedWidget* pages_;
    std::vector<RemedyButton*> buttons_;
    QLabel* not_enough_;
    RemedyTable* table_;
    bool drafts_requested_ = false;  ///< though there is a table
    std::vector<std::string> table_of_;
};

}  // namespace normscope::widgets
