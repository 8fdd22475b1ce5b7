// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <QWidget>

namespace normscope::widgets {

/// At the right of the findings band while runs are in groups: how many they are, their outcomes, and the key
/// of a group's line and band in the plots.
class GroupKey : public QWidget {
    Q_OBJECT
  public:
    explicit GroupKey(QWidget* parent = nullptr);
    /// Three lines; the last one describes the line and the band.
    void setLines(const QStringList& lines);
    const QStringList& lines() const { return lines_; }
    QSize sizeHint() const override;

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    QStringList lines_;  ///< three
};

}  // namespace normscope::widgets
