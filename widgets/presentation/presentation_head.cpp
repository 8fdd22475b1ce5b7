// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/presentation/presentation_head.h"

#include "app/lab/lab.h"
#include "core/findings/headline.h"
#include "core/model/gradient_ratio.h"
#include "widgets/figures/number_text.h"
#include "widgets/presentation/presentation.h"

#include <QHBoxLayout>
#include <QLabel>
#include <algorithm>
#include <cmath>

namespace normscope::app {

namespace {

constexpr int kHeadline = 40, kNumber = 112;  // px

/// Of the probe's sample, as in the plot of gradients; where the step has none, of the step table (training
/// batch); nullopt where it was not recorded either.
std::optional<double> gradientRatio(const RunData& run, qint64 step) {
    const ProbeResult* sample = run.sample_of("gradients", step);
    const NamedArray* hidden = sample ? sample->find("hidden") : nullptr;
    if (hidden && hidden->data.size() >= 3)
        if (const double ratio = gradient_ratio(hidden->data); !std::isnan(ratio) || sample->only().empty())
            return ratio;
    const auto& steps = run.steps.step;
    const auto at = std::find(steps.begin(), steps.end(), step);
    const auto* column = run.steps.find("grad_ratio");
    if (!column || at == steps.end()) return std::nullopt;
    return (*column)[static_cast<std::size_t>(at - steps.begin())];
}

QString shareOf(double ratio) {
    if (ratio >= 1) return Presentation::tr("%1 times").arg(widgets::numberText(ratio, 2));
    if (ratio >= 1e-4) return Presentation::tr("%1 % of").arg(widgets::numberText(100 * ratio, 2));
    return Presentation::tr("%1 of").arg(widgets::numberText(ratio, 2));
}

}  // namespace

QString presentationHeadline(const Lab& lab) {
    const qint64 step = lab.exploring() ? 0 : std::min(lab.step(), lab.lastStep());
    // At the end, or scrubbed to its step, the failure is the news.
    for (const LabRun& run : lab.runs())
        if (const Headline failed = headline(*run.data);
            !failed.title.empty() && run.trained() && step >= run.lastStep()) {
            const QString title = QString::fromStdString(failed.title);
            return QString::fromStdString(run.data->name) + u' ' + title.left(1).toLower() + title.mid(1);
        }
    const LabRun* most = nullptr;
    double ratio = 1;
    for (const LabRun& run : lab.runs()) {
        const auto now = gradientRatio(*run.data, step);
        if (!now) continue;
        if (!std::isfinite(*now) || *now <= 0)
            return Presentation::tr("The gradient of %1 is not finite at step %2")
                .arg(QString::fromStdString(run.data->name))
                .arg(step);
        if (most && std::abs(std::log(*now)) <= std::abs(std::log(ratio))) continue;
        most = &run;
        ratio = *now;
    }
    if (!most) return {};
    const QString name = QString::fromStdString(most->data->name);
    const int depth = most->live.stack.depth;
    const QString what = Presentation::tr("layer 1 of %1 gets %2 the gradient of layer %3")
                             .arg(name, shareOf(ratio))
                             .arg(depth);
    return step == 0   ? Presentation::tr("At step 0, %1").arg(what)
           : step == 1 ? Presentation::tr("One update, and %1").arg(what)
                       : Presentation::tr("%1 updates, and %2").arg(step).arg(what);
}

PresentationHead::PresentationHead(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("presentationHead"));
    const auto label = [this](const char* name, int px, bool bold) {
        auto* made = new QLabel(this);
        made->setObjectName(QLatin1String(name));
        QFont type = made->font();
        type.setPixelSize(px);
        type.setBold(bold);
        made->setFont(type);
        return made;
    };
    headline_ = label("presentationHeadline", kHeadline, true);
    headline_->setWordWrap(true);
    headline_->setTextFormat(Qt::PlainText);
    headline_->setAccessibleName(tr("Headline"));
    headline_->setAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    of_ = label("presentationOf", Presentation::kText, false);
    of_->setForegroundRole(QPalette::PlaceholderText);
    of_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    number_ = label("presentationStep", kNumber, true);
    number_->setAccessibleName(tr("Step shown"));
    number_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    box_ = new QWidget(this);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(Presentation::kMargin, 4, Presentation::kMargin, 4);
    row->setSpacing(20);
    row->addWidget(headline_, 1);
    row->addWidget(box_);
    auto* pair = new QHBoxLayout(box_);
    pair->setContentsMargins(0, 0, 0, 0);
    pair->setSpacing(16);
    pair->addStretch(1);
    pair->addWidget(of_);
    pair->addWidget(number_);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    // Two lines of the headline, or the digits without what is below the base line.
    const int lines = 2 * QFontMetrics(headline_->font()).lineSpacing();
    setFixedHeight(std::max(lines, QFontMetrics(number_->font()).capHeight()) + 10);
}

void PresentationHead::setHeadline(const QString& text) {
    headline_->setText(text);
}

void PresentationHead::setStep(qint64 step, qint64 planned) {
    number_->setText(QString::number(step));
    of_->setText(tr("step\nof %1").arg(planned + 1));  // steps are counted from 0
    const auto digits = QString::number(std::max(step, planned)).size();
    box_->setFixedWidth(QFontMetrics(number_->font()).horizontalAdvance(QString(digits, QLatin1Char('0'))) +
                        of_->sizeHint().width() + 24);
}

}  // namespace normscope::app
