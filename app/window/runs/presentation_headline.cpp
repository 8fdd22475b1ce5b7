// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/runs/presentation_headline.h"

#include "app/lab/lab.h"
#include "core/findings/headline.h"
#include "core/findings/in_words.h"
#include "core/model/gradient_ratio.h"

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

}  // namespace

qint64 commonStep(qint64 shown, const std::vector<LabRun>& runs) {
    qint64 newest = -1, common = shown;
    for (const LabRun& run : runs) {
        newest = std::max<qint64>(newest, run.lastStep());
        if (run.isTraining() && run.trained()) common = std::min<qint64>(common, run.lastStep());
    }
    return std::min(common, newest);
}

QString presentationHeadline(const Lab& lab) {
    const qint64 step =
        lab.comparison().exploring() ? 0 : commonStep(lab.view().step(), lab.comparison().runs);
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
    const QString times = QString::fromStdString(times_text(ratio));
    const QString what =
        times.isEmpty() ? tr("layer 1 of %1 gets the gradient of layer %2").arg(name).arg(depth)
                        : tr("layer 1 of %1 gets a gradient %2 than layer %3").arg(name, times).arg(depth);
    // The step is next to it, large.
    return step == 0 ? tr("At step 0, %1").arg(what) : what.left(1).toUpper() + what.mid(1);
}

}  // namespace normscope::app
