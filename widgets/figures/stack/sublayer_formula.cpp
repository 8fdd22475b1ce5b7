// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/stack/sublayer_formula.h"

#include "widgets/figures/number_text.h"

#include <QCoreApplication>
#include <QStringList>

namespace normscope::widgets {

QString sublayerFormula(const StackSpec& spec, int layer, Sublayer kind) {
    const SublayerRule rule = sublayer_rule(spec, layer, kind);
    const auto wrapped = [](const char* map, const QString& inside) {
        return QStringLiteral("%1(%2)").arg(QString::fromUtf8(map), inside);
    };
    const auto gate = [&](GateSite site, const QString& inside) {
        return spec.gpas.enabled && rule.gate == site ? wrapped("P", inside) : inside;
    };
    const bool scaled = spec.branch_scale != BranchScale::None;
    QStringList numbers{QStringLiteral("Δt = %1").arg(numberText(spec.residual_step))};

    // In a parallel layer attention returns h', to which the feed-forward map of the same x is added.
    const bool parallel = spec.layout == Layout::Parallel;
    const bool first = parallel && kind == Sublayer::Attention;
    const bool second = parallel && kind == Sublayer::FeedForward;

    const QString input = gate(GateSite::Input, QStringLiteral("x"));  // of both branches
    QString branch = rule.in ? wrapped("N_in", input) : input;
    if (rule.s_in != 1) {
        branch.prepend(QStringLiteral("s·"));
        numbers << QStringLiteral("s = %1").arg(numberText(rule.s_in));
    }
    branch = gate(GateSite::Norm, branch);
    branch = wrapped(sublayer_name(kind), branch);
    if (rule.out) branch = wrapped("N_out", branch);
    branch = gate(GateSite::Branch, branch);
    if (scaled) branch.prepend(QStringLiteral("λ·"));
    if (rule.b != 1) {
        branch.prepend(QStringLiteral("b·"));
        numbers << QStringLiteral("b = %1").arg(numberText(rule.b));
    }
    QString shortcut = second ? QStringLiteral("h'") : gate(GateSite::Shortcut, input);
    if (rule.a != 1 && !second) {
        shortcut.prepend(QStringLiteral("a·"));
        numbers << QStringLiteral("a = %1").arg(numberText(rule.a));
    }
    QString sum = shortcut + QStringLiteral(" + Δt·") + branch;
    if (rule.post) sum = wrapped("N_post", sum);
    QString text =
        first ? QStringLiteral("h' = ") + sum : QStringLiteral("x' = ") + gate(GateSite::Output, sum);

    text += u'\n' + numbers.join(QStringLiteral(",  "));
    const auto note = [&](const char* words) {
        text += u'\n' + QCoreApplication::translate("SublayerFormula", words);
    };
    if (kind == Sublayer::Attention) text += QStringLiteral(",  τ = %1").arg(numberText(spec.temperature));
    if (scaled) note(QT_TRANSLATE_NOOP("SublayerFormula", "λ is learned"));
    if (spec.gpas.enabled) note(QT_TRANSLATE_NOOP("SublayerFormula", "P(x) = x − act(g)·sg(x), GPAS"));
    if (parallel)
        note(QT_TRANSLATE_NOOP("SublayerFormula",
                               "parallel: both sub-layers read the same x and share one sum"));
    return text;
}

}  // namespace normscope::widgets
