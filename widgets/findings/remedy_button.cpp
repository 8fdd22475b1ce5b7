// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/findings/remedy_button.h"

#include "core/base/number_text.h"
#include "widgets/common/text_size.h"
#include "widgets/plots/glyph.h"
#include "widgets/plots/palette_theme.h"

#include <QEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

namespace normscope::widgets {

namespace {

constexpr int kRemedyButtonPad = 6, kPlotWidth = 44, kPlotHeight = 28, kRemedyButtonText = 12,
              kRemedyButtonSmall = 11;
constexpr double kLowest = -4, kHighest = 1;  // log₁₀ of the plot's range

}  // namespace

RemedyButton::RemedyButton(QWidget* parent) : QAbstractButton(parent) {
    setAttribute(Qt::WA_Hover);
    setFocusPolicy(Qt::TabFocus);
    setFixedHeight(kHeight);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

QString RemedyButton::resultText() const {
    const QString first = branch_step_ ? tr("from step %1").arg(*branch_step_)
                                       : QString::fromStdString(number_text(draft_.gradient));
    return tr("%1 · gain %2").arg(first, QString::fromStdString(number_text(draft_.gain)));
}

void RemedyButton::setRemedy(const RemedyContent::Choice& remedy, const FirstSteps& failed, int run) {
    run_ = run;
    draft_ = remedy.draft;
    branch_step_ = remedy.branch_step;
    failed_ = failed;
    setText(remedy.name);
    const QString result = tr("Draft of %1 steps: gain over the run %2 ± %3 nat; gradient, first over last "
                              "layer, %4; loss of its last 4 steps %5 nat")
                               .arg(draft_.first.loss.size())
                               .arg(QString::fromStdString(number_text(draft_.gain)),
                                    QString::fromStdString(number_text(draft_.error, 1)),
                                    QString::fromStdString(number_text(draft_.gradient)),
                                    QString::fromStdString(number_text(draft_.loss, 3)));
    QStringList lines{remedy.sentence};
    if (!remedy.reason.isEmpty()) lines << tr("Measured: %1").arg(remedy.reason);
    lines << result;
    if (branch_step_)
        lines << tr("The draft begins at step 0, its run at the shown step %1").arg(*branch_step_);
    setAccessibleName(tr("Remedy: %1").arg(remedy.name));
    setAccessibleDescription(lines.join(QStringLiteral("; ")));
    lines << tr("The order is no ranking")
          << (branch_step_ ? tr("Press: fork the run at this step with it")
                           : tr("Press: train it as a further run"));
    setToolTip(lines.join(u'\n'));
    update();
}

QSize RemedyButton::sizeHint() const {
    return {165, kHeight};
}

QPolygonF RemedyButton::polyline(const std::vector<double>& values, std::size_t steps, const QRectF& box) {
    QPolygonF line;
    const double last = static_cast<double>(std::max<std::size_t>(steps, 2) - 1);
    for (std::size_t i = 0; i < values.size() && i < steps; ++i) {
        if (!std::isfinite(values[i])) continue;
        const double y = std::clamp(values[i] > 0 ? std::log10(values[i]) : kLowest, kLowest, kHighest);
        line << QPointF(box.left() + box.width() * static_cast<double>(i) / last,
                        box.bottom() - box.height() * (y - kLowest) / (kHighest - kLowest));
    }
    return line;
}

bool RemedyButton::event(QEvent* event) {
    if (keepsSpace(this, event)) {
        event->accept();
        return true;
    }
    return QAbstractButton::event(event);
}

void RemedyButton::paintEvent(QPaintEvent*) {
    const Theme theme = themeOf(palette());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF frame = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    painter.setPen(QPen(hasFocus() || underMouse() ? theme.text : theme.grid, hasFocus() ? 2 : 1));
    painter.setBrush(isDown() ? theme.grid : theme.background);
    painter.drawRoundedRect(frame, 6, 6);

    const QRectF plot(kRemedyButtonPad, (height() - kPlotHeight) / 2.0, kPlotWidth, kPlotHeight);
    const std::size_t steps = draft_.first.gradient.size();  // the failed run's may be more
    painter.setBrush(Qt::NoBrush);
    QPen dashed(theme.run(run_), 1);
    dashed.setDashPattern({3, 2});
    painter.setPen(dashed);
    painter.drawPolyline(polyline(failed_.gradient, steps, plot));
    painter.setPen(QPen(theme.text, 2));
    painter.drawPolyline(polyline(draft_.first.gradient, steps, plot));

    const int left = kRemedyButtonPad + kPlotWidth + 6;
    const QFont heavy = sized(font(), kRemedyButtonText, QFont::Bold),
                small = sized(font(), kRemedyButtonSmall);
    painter.setFont(small);
    painter.setPen(theme.muted);
    const QRect first(left, 3, width() - left - 2, height() / 2 - 3),
        second(left, height() / 2, first.width(), 15);
    painter.drawText(second, Qt::AlignVCenter | Qt::AlignLeft,
                     painter.fontMetrics().elidedText(resultText(), Qt::ElideRight, second.width()));
    painter.setFont(heavy);
    painter.setPen(theme.text);
    painter.drawText(first, Qt::AlignVCenter | Qt::AlignLeft,
                     painter.fontMetrics().elidedText(text(), Qt::ElideRight, first.width()));
}

}  // namespace normscope::widgets
