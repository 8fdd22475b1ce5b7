// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/mismatch_panel.h"

#include "core/backend/cpu/operand_formats.h"
#include "widgets/figures/parts/depth_figure.h"
#include "widgets/figures/parts/panel_text.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {

namespace {

QString whatIsRounded(bool autocast, const QString& format) {
    if (!autocast)
        return QString(
                   "the result of every operation and the weights are rounded to %1, sums inside an "
                   "operation run in FP32")
            .arg(format);
    return QString(
               "matmuls have operands and results rounded to %1, as do activations; norms, softmax, "
               "embeddings and residual sums run in FP32, weights are FP32 until a matmul reads them")
        .arg(format);
}

QString whatIsScaled(bool blocks, const QString& format) {
    return blocks ? QString(
                        "matmuls have operands in %1, as does γ; each block of 32 along the inner dimension "
                        "has a scale of 2^s; what exceeds the largest number of its block is clamped")
                        .arg(format)
                  : QString(
                        "matmuls have operands in %1, each with one scale that maps its largest magnitude to "
                        "the largest number")
                        .arg(format);
}

/// 2^-(p), p the format's significant bits.
double unitRoundoff(const std::string& format) {
    for (const OperandFormat& known : kOperandFormats)
        if (format == known.name) return std::ldexp(1.0, -known.significant);
    return format == "bf16" ? 0x1p-8 : 0x1p-11;
}

QString formatTitle(const std::string& format) {
    for (const OperandFormat& known : kOperandFormats)
        if (format == known.name) return QLatin1String(known.title);
    return format == "bf16" ? "BF16" : "FP16";
}

/// "2 of 8 sequences", empty in a recording without the label.
QString sampledText(const ProbeResult& sample) {
    const auto label = sample.labels.find("sampled");
    if (label == sample.labels.end() || label->second.empty()) return {};
    return QString::fromStdString(label->second.front());
}

/// A kind of operation of the probe (split_ops.h) as the axis names it.
QString kindTitle(const std::string& kind) {
    if (kind == "scores") return "QKᵀ";
    if (kind == "mixing") return "PV";
    if (kind == "projections") return "proj.";
    if (kind == "feed_forward") return "FFN";
    if (kind == "activation") return "act.";
    if (kind == "residual") return "sum";
    return QString::fromStdString(kind);
}

/// The split of the logits' error by kind of operation, a stem each, and what is left over.
void drawSplit(Figure& figure, const PanelInput& input, const std::string& format) {
    const QString title = format == "bf16" ? "BF16" : "FP16";
    figure.quantity = QString("share of the squared error of the logits, %1").arg(title);
    figure.formula =
        QString(
            "e_i² / e²; e the relative error of the logits with every operation in %1; e_i with the "
            "operations of one kind alone; GEMM rounds operands and result, others their result. Left "
            "over: 1 − Σ e_i²/e², "
            "negative where errors cancel")
            .arg(title);
    figure.source = "own measurement: Baek measures the error of whole passes alone";
    Plot plot;
    QStringList parts, sampled;
    const auto samples = shownSamples(input, "mismatch");
    for (const ShownSample& shown : samples) {
        if (!shown.own()) continue;
        const NamedArray* share = arrayOf(*shown.sample, "split_" + format, 1);
        const NamedArray* left = arrayOf(*shown.sample, "remainder_" + format, 0);
        const auto kinds = shown.sample->labels.find("parts");
        if (!share || !left || kinds == shown.sample->labels.end() ||
            share->data.size() != kinds->second.size())
            continue;
        const std::size_t count = share->data.size();
        Stems stems{nameOf(*shown.run), {Role::Kind::Run, shown.index, 0}, {}, share->data, 0,
                    shown.sample->step};
        stems.y.push_back(left->data.front());
        for (std::size_t i = 0; i <= count; ++i)
            stems.x.push_back(double(i) + 0.18 * (shown.index - (double(samples.size()) - 1) / 2));
        if (plot.x.ticks.empty()) {
            for (std::size_t i = 0; i < count; ++i)
                plot.x.ticks.push_back({double(i), kindTitle(kinds->second[i])});
            plot.x.ticks.push_back({double(count), "left over"});
            plot.x.range = {-0.6, double(count) + 0.6};
        }
        const auto most = std::max_element(share->data.begin(), share->data.end()) - share->data.begin();
        parts << QString("%1: most from %2, %3; left over %4")
                     .arg(nameOf(*shown.run), kindTitle(kinds->second[std::size_t(most)]),
                          brief(share->data[std::size_t(most)]), brief(left->data.front()));
        plot.stems.push_back(std::move(stems));
    }
    if (plot.stems.empty()) {
        figure.empty_text = "No split recorded: measure a step (M), or record the probe mismatch";
        figure.summary = "Split of the error: nothing to show";
        return;
    }
    plot.x.label = "kind of operation";
    plot.y.label = "share of e²";
    plot.references.push_back({Qt::Horizontal, 0, ""});
    figure.subtitle = title + ", sequence 1, " + atStep(samples);
    figure.summary = QString("%1, %2. %3").arg(figure.quantity, figure.subtitle, parts.join("; "));
    figure.plots = {std::move(plot)};
}

}  // namespace

PanelInfo mismatchPanel() {
    return {"mismatch",
            "Low-precision error",
            {"mismatch"},
            {{"format", "Format", {"bf16", "fp16", "e4m3", "e5m2", "mxe4m3"}},
             {"policy", "Rounded", {"pure", "autocast"}},
             {"of", "Of", {"error", "split"}},
             depthOrStepOption()},
            &buildMismatch,
            false,
            true};
}

Figure buildMismatch(const PanelInput& input) {
    const PanelInfo panel = mismatchPanel();
    const PanelOptions options = resolveOptions(panel, input.options);
    const std::string format = options.at("format");
    const bool eight_bit =
        format != "bf16" && format != "fp16";  // of these GEMM's operands alone are rounded
    const bool autocast = options.at("policy") == "autocast" && !eight_bit;
    const std::string name = format + (autocast ? "_autocast" : "");
    const QString title = formatTitle(format),
                  policy = eight_bit ? "operands in " + title : (autocast ? "autocast " : "pure ") + title;

    Figure figure = startFigure(panel);
    if (options.at("of") == "split" && !eight_bit) {
        drawSplit(figure, input, options.at("format"));
        return figure;
    }
    figure.quantity = QString("relative error of the hidden state, %1").arg(policy);
    figure.formula =
        QString("‖h_%1 − h_FP32‖_F / ‖h_FP32‖_F, same weights and batch; %1 by the policy %2: %3")
            .arg(title,
                 eight_bit  ? "operands"
                 : autocast ? "autocast"
                            : "pure",
                 eight_bit ? whatIsScaled(format == "mxe4m3", title) : whatIsRounded(autocast, title));
    figure.source =
        autocast ? "Baek, the observed error of a forward pass in low precision; PyTorch, torch.autocast"
                 : "Baek, the observed error of a forward pass in low precision";
    figure.erratum =
        "Baek states the error of a block's output; the released code measures it on the logits. "
        "Autocast leaves the embeddings unrounded, the pure policy rounds them: compare both.";

    const ProfileOf profile = [&](const ProbeResult& sample) {
        return hiddenProfile(sample, name + "_hidden");
    };
    const auto samples = shownSamples(input, panel.probes.front());
    // The measured part of the batch: each text once.
    QStringList sampled;
    for (const ShownSample& shown : samples)
        if (const QString text = sampledText(*shown.sample);
            shown.own() && !text.isEmpty() && !sampled.contains(text))
            sampled << text;
    if (options.at("x") == "step") {
        drawOverSteps(figure, input, panel.probes.front(), profile);
        figure.subtitle = (QStringList{figure.subtitle} + sampled).join(" · ");
        return figure;
    }
    drawOverDepth(figure, input, panel.probes.front(), profile);
    if (figure.plots.empty()) return figure;
    if (!figure.subtitle.isEmpty()) figure.subtitle = (QStringList{figure.subtitle} + sampled).join(" · ");
    Plot& plot = figure.plots.front();
    // Rounding once costs at most the unit roundoff.
    plot.references.push_back({Qt::Horizontal, unitRoundoff(format), "unit roundoff u"});
    QStringList parts;
    for (const ShownSample& shown : samples) {
        const auto p = profile(*shown.sample);
        if (!shown.own() || !p) continue;
        QString text = QString("%1: %2 after the embedding, %3 at layer %4")
                           .arg(nameOf(*shown.run), brief(p->y.front()), brief(p->y.back()))
                           .arg(p->depth);
        if (const NamedArray* logits = arrayOf(*shown.sample, name + "_logits", 0)) {
            QString value = QString("logits %1").arg(brief(logits->data.front()));
            if (const NamedArray* e = arrayOf(*shown.sample, name + "_logits_error", 0);
                e && std::isfinite(e->data.front()))
                value += QString(" ± %1").arg(brief(e->data.front()));
            // Errors accumulate from the embedding on, so the corner above it is usually free.
            plot.chips.push_back({Chip::Edge::TopLeft, nameOf(*shown.run) + ' ' + value,
                                  Role{Role::Kind::Run, shown.index, 0}});
            text += ", " + value;
        }
        parts << text;
    }
    figure.summary = QString("%1 %2. %3").arg(figure.quantity, figure.subtitle, parts.join("; "));
    return figure;
}

}  // namespace normscope::widgets
