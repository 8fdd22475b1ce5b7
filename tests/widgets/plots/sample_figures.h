// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/figure.h"

#include <cmath>

namespace normscope::widgets::samples {

/// One figure of each kind that the panels draw, with synthetic but typical values.

inline Curve curve(const QString& name, int run, std::vector<double> x, std::vector<double> y) {
    Curve c;
    c.name = name;
    c.role.run = run;
    c.x = std::move(x);
    c.y = std::move(y);
    return c;
}

inline std::vector<double> halfLayers(int depth) {
    std::vector<double> x;
    for (int k = 0; k <= 2 * depth; ++k) x.push_back(k / 2.0);
    return x;
}

/// Two depth curves on a log axis, a bound, a chip, and the ratio strip under them.
inline Figure gradients() {
    Figure f;
    f.panel = "gradients";
    f.title = "Gradients";
    f.subtitle = "at step 0";
    f.quantity = "gradient norm ‖∂L/∂h‖";
    f.summary = "Post-LN: gradient falls 1e-7 from layer 12 to 1";
    Plot main;
    main.x.label = "layer";
    main.x.integers = true;
    main.x.ticks.push_back({0, "emb", false});
    for (int l = 1; l <= 12; ++l) main.x.ticks.push_back({double(l), QString::number(l), false});
    for (int l = 0; l < 12; ++l) main.x.ticks.push_back({l + 0.5, "", true});
    main.y.label = "‖∂L/∂h‖";
    main.y.scale = Scale::Log;
    const auto x = halfLayers(12);
    std::vector<double> pre, post, ratio, bound;
    for (const double l : x) {
        pre.push_back(0.3 * std::exp(-0.05 * l));
        post.push_back(std::pow(10.0, -7 + 7 * l / 12) * (1 + 0.1 * std::sin(5 * l)));
        ratio.push_back(post.back() / pre.back());
        bound.push_back(0.9 * std::exp(-0.03 * l));
    }
    main.curves = {curve("Pre-LN", 0, x, pre), curve("Post-LN", 1, x, post), curve("bound", 0, x, bound)};
    main.curves[2].kind = LineKind::Bound;
    main.curves[2].label_at_end = false;
    main.curves[0].markers = true;
    main.chips = {{Chip::Edge::TopLeft, "bound 3e9 ↑", Role{}},
                  {Chip::Edge::BottomRight, "first/last 1.0e-7", Role{Role::Kind::Run, 1, 0}}};
    main.frame_marks = {{7.0, "▲", Role{Role::Kind::Run, 1, 0}}};
    main.height_share = 4;
    Plot strip;
    strip.x = main.x;
    strip.y.label = "Post-LN / Pre-LN";
    strip.y.scale = Scale::Log;
    strip.curves = {curve("B/A", 1, x, ratio)};
    strip.curves[0].label_at_end = false;
    strip.references = {{Qt::Horizontal, 1, ""}};
    strip.height_share = 1;
    f.plots = {main, strip};
    for (int k = 0; k <= 24; ++k) {
        f.x_names.append(k == 0 ? QString("embedding")
                                : QString("layer %1 · %2").arg((k + 1) / 2).arg(k % 2 ? "attn" : "ffn"));
        f.x_name_at.push_back(k / 2.0);
    }
    return f;
}

/// Losses with floors; run B diverges at step 120, run C stalls.
inline Figure losses() {
    Figure f;
    f.panel = "training";
    f.title = "Loss";
    f.subtitle = "at step 200";
    f.quantity = "training loss";
    f.unit = "nat";
    Plot p;
    p.x.label = "step";
    p.x.integers = true;
    p.y.label = "loss";
    p.y.unit = "nat";
    std::vector<double> x, a, b, c;
    for (int s = 0; s < 200; ++s) {
        x.push_back(s);
        a.push_back(1.65 + 3.9 * std::exp(-s / 25.0) + 0.08 * std::sin(s * 1.7) * std::sin(s * 0.9));
        b.push_back(s < 120 ? 2.2 + 3.3 * std::exp(-s / 30.0) + (s > 90 ? 0.05 * (s - 90) : 0) +
                                  0.06 * std::cos(s * 2.3)
                            : kNaN);
        c.push_back(3.09 + 2.4 * std::exp(-s / 8.0) + 0.02 * std::sin(s * 3.0));
    }
    p.curves = {curve("Pre-LN", 0, x, a), curve("No norm", 1, x, b), curve("Post-LN", 2, x, c)};
    p.curves[1].end = {EndMark::Kind::Diverged, "step 119 · L7 ffn.w2 · inf"};
    p.curves[2].end = {EndMark::Kind::Stalled, "stalled"};
    p.references = {{Qt::Horizontal, 5.545, "ln V"},
                    {Qt::Horizontal, 3.09, "unigram entropy"},
                    {Qt::Horizontal, 1.35, "entropy rate"}};
    p.plateaus = {{3.03, 3.15, "", Role{Role::Kind::Run, 2, 0}}};
    f.plots = {p};
    return f;
}

/// A fan of singular values per layer with the lane of exact nulls.
inline Figure spectra() {
    Figure f;
    f.panel = "jacobian";
    f.title = "Jacobian spectra";
    f.subtitle = "at step 0";
    f.quantity = "singular value σ";
    Plot p;
    p.x.label = "layer";
    p.x.integers = true;
    p.y.label = "σ";
    p.y.scale = Scale::Log;
    p.lane_label = "0";
    std::vector<double> x;
    for (int l = 1; l <= 12; ++l) x.push_back(l);
    for (int run = 0; run < 2; ++run) {
        Band wide, inner;
        Curve median = curve(run ? "Post-LN" : "Pre-LN", run, x, {});
        wide.role.run = inner.role.run = run;
        wide.name = "min … max";
        inner.name = "5 … 95 %";
        wide.x = inner.x = x;
        wide.strength = 0.15;
        inner.strength = 0.25;
        for (const double l : x) {
            const double m = run ? 0.5 + 0.02 * l : 1.05;
            median.y.push_back(m);
            wide.low.push_back(run ? m * 0.01 : m * 0.4), wide.high.push_back(m * (run ? 6 : 2.2));
            inner.low.push_back(m * 0.6), inner.high.push_back(m * 1.5);
            if (run) p.frame_marks.push_back({l, "4", Role{Role::Kind::Run, 1, 0}});
        }
        p.bands.push_back(wide);
        p.bands.push_back(inner);
        p.curves.push_back(median);
    }
    p.references = {{Qt::Horizontal, 1, "σ = 1"}};
    f.plots = {p};
    return f;
}

/// Two maps side by side, with a neutral, a NaN and an Inf cell.
inline Figure theta() {
    Figure f;
    f.panel = "theta";
    f.title = "θ";
    f.subtitle = "at step 100";
    f.quantity = "share of rows with θ < 0.99";
    f.side_by_side = true;
    for (int run = 0; run < 2; ++run) {
        Plot p;
        p.heading = run ? "Post-LN" : "Pre-LN";
        p.x.label = "head";
        p.y.label = "layer";
        HeatMap map;
        map.name = p.heading;
        map.role.run = run;
        map.rows = 12;
        map.columns = 4;
        map.low = -4;
        map.high = 0;
        map.scale_label = "log₁₀(1 − θ)";
        for (int i = 0; i < 48; ++i) {
            map.value.push_back(-4 + 4.0 * ((i * 7 + run * 13) % 48) / 47);
            map.raw.push_back(1 - std::pow(10.0, map.value.back()));
            map.text.append(QString::number(map.raw.back(), 'f', 2));
            map.neutral.push_back(i == 5);
        }
        map.value[10] = kNaN;
        map.value[20] = std::numeric_limits<double>::infinity();
        map.selected_row = 3;
        map.selected_column = 2;
        p.maps = {map};
        f.plots.push_back(p);
    }
    return f;
}

/// Lollipops per norm site.
inline Figure sites() {
    Figure f;
    f.panel = "null_space";
    f.title = "Norm sites";
    f.subtitle = "at step 0";
    f.quantity = "gain 1/σ_ε";
    Plot p;
    p.x.label = "site";
    p.y.label = "1/σ_ε";
    p.y.scale = Scale::Log;
    for (int run = 0; run < 2; ++run) {
        Stems s;
        s.name = run ? "Post-LN" : "Pre-LN";
        s.role.run = run;
        for (int i = 0; i < 25; ++i)
            s.x.push_back(i + 0.3 * run), s.y.push_back(run ? 0.7 + 0.01 * i : 1.2 / std::sqrt(1.0 + i));
        p.stems.push_back(s);
    }
    f.plots = {p};
    return f;
}

/// Layers as curves over steps in one sequential map, with a ghost and a draft, gaps, zeros and an Inf.
inline Figure layersOverSteps() {
    Figure f;
    f.panel = "growth";
    f.title = "Growth over steps";
    f.quantity = "RMS of the hidden state";
    Plot p;
    p.x.label = "step";
    p.x.integers = true;
    p.y.label = "RMS";
    p.y.scale = Scale::Log;
    for (int l = 0; l <= 12; ++l) {
        Curve c;
        c.name = QString("layer %1").arg(l);
        c.role = {Role::Kind::Sequential, 0, l / 12.0};
        c.label_at_end = l == 0 || l == 6 || l == 12;
        for (int s = 0; s <= 100; ++s)
            c.x.push_back(s), c.y.push_back((1 + 0.3 * l) * std::exp(0.002 * l * s));
        if (l == 6) c.y[40] = kNaN, c.y[60] = 0, c.y[80] = std::numeric_limits<double>::infinity();
        p.curves.push_back(c);
    }
    Curve ghost = p.curves[9];
    ghost.kind = LineKind::Ghost;
    ghost.label_at_end = false;
    for (auto& y : ghost.y) y *= 1.2;
    Curve draft = p.curves[3];
    draft.kind = LineKind::Draft;
    draft.label_at_end = false;
    for (auto& y : draft.y) y *= 0.8;
    Curve preview = p.curves[0];
    preview.kind = LineKind::Preview;
    preview.label_at_end = false;
    for (auto& y : preview.y) y *= 0.6;
    p.curves.push_back(ghost);
    p.curves.push_back(draft);
    p.curves.push_back(preview);
    f.plots = {p};
    return f;
}

}  // namespace normscope::widgets::samples
