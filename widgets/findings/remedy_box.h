// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <string>
#include <vector>

class QLabel;
class QStackedWidget;
class QToolButton;

namespace normscope::app {

class Lab;
class RemedyButton;
class RemedyTable;
struct RemedyTrials;

/// What to try with a failed run, at the right of the findings band: up to three remedies whose drafts are
/// enough, as buttons, those that are not enough as a line, and "Try all" with the table of its runs. A
/// remedy's button trains it as a further run.
class RemedyBox : public QWidget {
    Q_OBJECT
  public:
    static constexpr int kWidth = 520;

    explicit RemedyBox(Lab& lab, QWidget* parent = nullptr);
    /// Shows the laboratory's trials; hides itself where no run has failed.
    void refresh();
    /// The buttons shown, best first.
    std::vector<RemedyButton*> buttons() const;
    QString notEnough() const;
    const RemedyTable& table() const { return *table_; }
    bool showsTable() const;

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    void showDrafts(const RemedyTrials& trials);
    void showTable(const RemedyTrials& trials);
    void act();

    Lab& lab_;
    QLabel* title_;
    QToolButton* action_;  ///< "Draft them", "Try all three", "Drafts", "Table"
    QToolButton* back_;    ///< between the table and the drafts
    QStackedWidget* pages_;
    std::vector<RemedyButton*> buttons_;
    QLabel* not_enough_;
    RemedyTable* table_;
    bool drafts_wanted_ = false;  ///< though there is a table
    std::vector<std::string> table_of_;
};

}  // namespace normscope::app
