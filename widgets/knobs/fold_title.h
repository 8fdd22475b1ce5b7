// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QToolButton>

namespace normscope::widgets {

/// The header of a fold, which a click anywhere opens and closes (checked: open): an arrow, its title, and at
/// the right end, where there is space, what its most asked knobs are set to.
class FoldTitle : public QToolButton {
    Q_OBJECT
  public:
    static constexpr int kHeight = 27, kTextLeft = 18;

    explicit FoldTitle(QWidget* parent = nullptr);
    void setSummary(const QString& summary);
    const QString& summary() const { return summary_; }

    QSize sizeHint() const override { return {60, kHeight}; }
    QSize minimumSizeHint() const override { return sizeHint(); }

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    QString summary_;
};

}  // namespace normscope::widgets
