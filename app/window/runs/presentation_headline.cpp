// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/runs/presentation_headline.h"

#include "app/lab/lab.h"
#include "core/findings/headline.h"
#include "core/model/gradient_ratio.h"
#include "widgets/figures/number_text.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

namespace normscope::app {

namespace {

QString tr(const char* text) {
    return QCoreApplication::translate("PresentationHeadline", text);
}

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
    if (ratio >= 1) return tr("%1 times").arg(widgets::numberText(ratio, 2));
    if (ratio >= 1e-4) return tr("%1 % of").arg(widgets::numberText(100 * ratio, 2));
    return tr("%1 of").arg(widgets::numberText(ratio, 2));
}

}  // namespace

QString presentationHeadline(const Lab& lab) {
    const qint64 step =
        lab.comparison().exploring() ? 0 : std::min(lab.view().step(), lab.comparison().lastStep());
    // At the end, or scrubbed to its step, the failure is the news.
    for (const LabRun& run : lab.comparison().runs)
        if (const Headline failed = headline(*run.data);
            !failed.title.empty() && run.trained() && step >= run.lastStep()) {
            const QString title = QString::fromStdString(failed.title);
            return QString::fromStdString(run.data->name) + u' ' + title.left(1).toLower() + title.mid(1);
        }
    const LabRun* most = nullptr;
    double ratio = 1;
    for (const LabRun& run : lab.comparison().runs) {
        const auto now = gradientRatio(*run.data, step);
        if (!now) continue;
        if (!std::isfinite(*now) || *now <= 0)
            return tr("The gradient of %1 is not finite at step %2")
                .arg(QString::fromStdString(run.data->name))
                .arg(step);
        if (most && std::abs(std::log(*now)) <= std::abs(std::log(ratio))) continue;
        most = &run;
        ratio = *now;
    }
    if (!most) return {};
    const QString name = QString::fromStdString(most->data->name);
    const int depth = most->live.stack.depth;
    const QString what =
        tr("layer 1 of %1 gets %2 the gradient of layer %3").arg(name, shareOf(ratio)).arg(depth);
    return step == 0   ? tr("At step 0, %1").arg(what)
           : step == 1 ? tr("One update, and %1").arg(what)
                       : tr("%1 updates, and %2").arg(step).arg(what);
}

}  // namespace normscope::app
