// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <vector>

class QHBoxLayout;
class QLabel;

namespace normscope::app {

class Lab;
class RemedyBox;

/// The band above the plots, of fixed height: for each of the first runs (always including the selected one)
/// its state and the findings (core/findings) at the shown step, as many sentences as fit; of a run that
/// failed its headline. Of groups of seeds the median of their losses, their range and outcomes. The full
/// text is the tooltip. At the right what to try with a failed run.
class FindingsBand : public QWidget {
    Q_OBJECT
  public:
    static constexpr int kHeight = 80;

    explicit FindingsBand(Lab& lab, QWidget* parent = nullptr);
    /// The text of each run shown, plain text.
    QStringList texts() const;
    RemedyBox* remedies() const { return remedies_; }

  protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    void refresh();
    void setColumns(std::size_t count);
    void showGroups();

    Lab& lab_;
    QHBoxLayout* columns_;
    std::vector<QLabel*> labels_;
    RemedyBox* remedies_;
};

}  // namespace normscope::app
