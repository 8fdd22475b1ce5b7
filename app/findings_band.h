// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <vector>

class QHBoxLayout;
class QLabel;

namespace normscope::app {

class Lab;

/// The band above the plots, of one height whatever it says: for each of the first runs (the selected one always among
/// them) how it stands and what core/findings says of it at the shown step, in so many sentences as have room. The full
/// text is the tool tip.
class FindingsBand : public QWidget {
    Q_OBJECT
  public:
    static constexpr int kHeight = 92;

    explicit FindingsBand(Lab& lab, QWidget* parent = nullptr);
    /// What the band says of each run shown, plain text.
    QStringList texts() const;

  protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    void refresh();

    Lab& lab_;
    QHBoxLayout* columns_;
    std::vector<QLabel*> labels_;
};

}  // namespace normscope::app
