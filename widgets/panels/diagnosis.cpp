// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/diagnosis.h"

#include "widgets/panels/depth_figure.h"
#include "widgets/panels/gradients_panel.h"
#include "widgets/panels/norm_sites.h"
#include "widgets/panels/panel_text.h"
#include "widgets/panels/recipe_facts.h"
#include "widgets/panels/spectrum.h"

#include <cmath>
#include <optional>

namespace normscope::widgets {

namespace {

constexpr double kVanishing =
    1e-3;  // the first-to-last ratio under which a run at the unigram entropy is stalled
constexpr double kGrowth = 10;
constexpr double kIllConditioned = 1e6;
constexpr int kLossWindow = 20;  // steps averaged for "reached"

std::optional<double> recentLoss(const RunData& run, std::int64_t step) {
    const auto* loss = run.steps.find("loss");
    if (!loss) return std::nullopt;
    double sum = 0;
    int count = 0;
    for (std::size_t i = loss->size(); i-- > 0 && count < kLossWindow;) {
        if (run.steps.step[i] > step || !std::isfinite((*loss)[i])) continue;
        sum += (*loss)[i];
        ++count;
    }
    if (count == 0) return std::nullopt;
    return sum / count;
}

QString outcomeSentence(const RunData& run, std::int64_t step) {
    const QString name = nameOf(run);
    const Outcome& outcome = run.outcome;
    const bool ended = outcome.step <= step;
    if (ended && outcome.state == RunState::Diverged)
        return QString("%1 diverged: %2").arg(name, QString::fromStdString(outcome.text));
    if (ended && outcome.state == RunState::Failed)
        return QString("%1 failed: %2").arg(name, QString::fromStdString(outcome.text));
    const auto loss = recentLoss(run, step);
    if (!loss) return {};
    if (ended && outcome.state == RunState::Stalled)
        return QString("%1 stalled at the unigram entropy, %2 nat: its loss is %3")
            .arg(name, numberText(run.unigram_entropy, 3), numberText(*loss, 3));
    const QString reached = QString("%1 reached a loss of %2 nat").arg(name, numberText(*loss, 3));
    if (!std::isfinite(run.unigram_entropy)) return reached;
    const double below = run.unigram_entropy - *loss;
    return QString("%1, %2 %3 the unigram entropy")
        .arg(reached, brief(std::abs(below)), below >= 0 ? "below" : "above");
}

QString gradientSentence(const ProbeResult& sample) {
    const auto ratio = gradientRatio(sample);
    if (!ratio) return {};
    const auto depth = hiddenProfile(sample, "hidden")->depth;
    if (!std::isfinite(*ratio)) return "The gradient of the hidden states is not finite in every layer";
    if (*ratio < kVanishing)
        return QString("From layer %1 to layer 1 the gradient shrinks to %2 of its size")
            .arg(depth)
            .arg(brief(*ratio));
    if (*ratio > 1 / kVanishing)
        return QString("From layer %1 to layer 1 the gradient grows %2-fold").arg(depth).arg(brief(*ratio));
    return QString("The gradient reaches layer 1 at %2 of its size in layer %1")
        .arg(depth)
        .arg(brief(*ratio));
}

/// The product of 1/σ_ε over the norms on the residual stream, where it is small enough to matter.
QString postNormSentence(const ProbeResult& sample) {
    const auto sites = sample.labels.find("sites");
    const NamedArray* gain = arrayOf(sample, "gain", 1);
    if (sites == sample.labels.end() || !gain || gain->data.size() != sites->second.size()) return {};
    double log_product = 0;
    int count = 0;
    for (std::size_t i = 0; i < gain->data.size(); ++i) {
        if (!isPostNorm(sites->second[i])) continue;
        log_product += std::log(gain->data[i]);
        ++count;
    }
    if (count == 0 || !(log_product < std::log(kVanishing))) return {};
    return QString("Every post norm multiplies the gradient by 1/σ_ε, here %1 on average: %2 of them make %3")
        .arg(brief(std::exp(log_product / count)))
        .arg(count)
        .arg(brief(std::exp(log_product)));
}

QString growthSentence(const ProbeResult& sample) {
    const auto rms = hiddenProfile(sample, "rms");
    if (!rms) return {};
    const double factor = rms->y.back() / rms->y.front();
    if (!(factor > kGrowth || factor < 1 / kGrowth)) return {};
    return QString("The hidden state %1 along the depth: RMS %2 at the embedding, %3 after layer %4")
        .arg(factor > 1 ? "grows" : "shrinks", brief(rms->y.front()), brief(rms->y.back()))
        .arg(rms->depth);
}

QString spectrumSentence(const ProbeResult& sample) {
    const auto spectra = spectraOf(sample, "end_to_end_sv");
    if (!spectra || spectra->front().sigma.empty() || !spectra->front().nulls) return {};
    const Spectrum& s = spectra->front();
    const double low = s.sigma.front(), high = s.sigma.back();
    const int nulls = s.nulls->exact, below = s.nulls->below;
    if (nulls == 0 && below == 0 && high < kIllConditioned * low) return {};
    QString text =
        QString("The end-to-end Jacobian of the last token has σ from %1 to %2").arg(brief(low), brief(high));
    if (nulls > 0) text += QString(", %1 exact null%2").arg(nulls).arg(nulls == 1 ? "" : "s");
    if (below > 0) text += QString(", %1 below float64's resolution").arg(below);
    return text + QString(" among %1").arg(s.sigma.size() + std::size_t(nulls + below));
}

QString thetaSentence(const ProbeResult& sample) {
    const NamedArray* share = arrayOf(sample, "below_099", 2);
    if (!share) return {};
    double sum = 0;
    for (const double s : share->data) sum += s;
    const double mean = sum / double(share->data.size());
    if (mean < 0.01) return "θ is near 1 in almost every attention row: attention has not committed";
    return QString("θ is below 0.99 in %1 % of the attention rows").arg(numberText(100 * mean, 2));
}

}  // namespace

QStringList diagnose(const RunData& run, std::int64_t step) {
    QStringList sentences;
    const auto say = [&sentences](const QString& sentence) {
        if (!sentence.isEmpty()) sentences << sentence;
    };
    say(outcomeSentence(run, step));
    if (const auto* s = run.sample_at("gradients", step)) say(gradientSentence(*s));
    if (const auto* s = run.sample_at("null_space", step)) say(postNormSentence(*s));
    if (const auto* s = run.sample_at("growth", step)) say(growthSentence(*s));
    if (const auto* s = run.sample_at("jacobian", step))
        say(spectrumSentence(*s));
    if (const auto* s = run.sample_at("theta", step)) say(thetaSentence(*s));
    return sentences;
}

}  // namespace normscope::widgets
