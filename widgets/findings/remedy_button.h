// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/findings/findings_content.h"

#include <QAbstractButton>

namespace normscope::widgets {

/// One remedy and its draft: name, the gradient ratio at the draft's end, its gain over the failed run, and
/// the gradient ratio over the steps as a small plot, bold; that of the failed run dashed. All texts are of
/// fixed sizes; the tooltip has the whole change and what was measured that points to it. Where its run
/// branches off at a step, that is written in place of the ratio.
class RemedyButton : public QAbstractButton {
    Q_OBJECT
  public:
    static constexpr int kHeight = 38;

    explicit RemedyButton(QWidget* parent = nullptr);
    /// `run`: index of the failed run's colour.
    void setRemedy(const RemedyContent::Choice& remedy, const FirstSteps& failed, int run);
    const FirstSteps& draft() const { return draft_.first; }
    QString resultText() const;
    QSize sizeHint() const override;

    /// The plot's polyline of these values, log₁₀ from 10⁻⁴ to 10, in a rectangle; values outside of it are
    /// at its edge, those that are not finite are missing.
    static QPolygonF polyline(const std::vector<double>& values, std::size_t steps, const QRectF& box);

  protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

  private:
    int run_ = 0;
    DraftResult draft_;
    std::optional<std::int64_t> branch_step_;
    FirstSteps failed_;
};

}  // namespace normscope::widgets
