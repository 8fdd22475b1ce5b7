// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/flags.h"

#include "tests/support/test_main.h"
#include "widgets/plots/collisions.h"
#include "widgets/plots/colour_map.h"
#include "widgets/plots/hover.h"

#include <QtTest>
#include <cmath>
#include <random>

using namespace normscope::widgets;

namespace {

constexpr int kSteps = 200;

/// Two losses over the steps, on log₂(1 + step).
Figure losses() {
    Figure figure;
    figure.panel = "training";
    figure.title = "Loss";
    figure.subtitle = "to step 199";
    figure.quantity = "loss";
    Plot plot;
    plot.x.label = "step";
    plot.x.integers = true;
    plot.x.scale = Scale::Log1p;
    plot.y.label = "loss";
    plot.y.unit = "nat";
    for (int run = 0; run < 2; ++run) {
        Curve curve;
        curve.name = run == 0 ? "Pre-LN" : "Post-LN";
        curve.role = {Role::Kind::Run, run, 0};
        for (int step = 0; step < kSteps; ++step) {
            curve.x.push_back(step);
            curve.y.push_back(1.5 + (run == 0 ? 2 : 1) * std::exp(-step / 60.0));
        }
        plot.curves.push_back(curve);
    }
    figure.plots = {plot};
    return figure;
}

Flag flag(double step, const QString& what, const QString& from, const QString& to, int run = 0) {
    return {step, run == 0 ? "Pre-LN" : "Post-LN", what, from, to, {Role::Kind::Run, run, 0}};
}

Figure withFlags(std::vector<Flag> flags) {
    Figure figure = losses();
    figure.plots[0].flags = std::move(flags);
    return figure;
}

FigureLayout onScreen(const Figure& figure, const QSizeF& size = {600, 300}, bool dark = false) {
    return layoutFigure(figure, size,
                        screenStyle(Theme::make(dark ? Theme::Kind::Dark : Theme::Kind::Light)));
}

QStringList textsOf(const FigureLayout& layout) {
    QStringList texts;
    for (const FlagShape& shape : layout.plots[0].flags) texts << shape.text;
    return texts;
}

/// Everything a text of flags has to obey, in words; empty where it does.
QString fault(const Figure& figure, const FigureLayout& layout, const RenderStyle& style) {
    const PlotLayout& plot = layout.plots[0];
    for (const Collision& found : collisionsIn(layout, style))
        if (found.kind != Collision::Kind::TextOnCurve || style.texts_outside)
            return collisionTexts({found}).join(QString());
    std::size_t next = 0;
    QRectF before;
    for (const FlagShape& shape : plot.flags) {
        if (shape.first != next) return QString("flag %1 is in no group").arg(next);
        next += shape.count;
        if (shape.text.isEmpty()) {
            if (plot.flags.size() > 1) return "a group of several has no text";
            if (!style.texts_outside) continue;
            const bool below = std::any_of(layout.texts.begin(), layout.texts.end(),
                                           [](const TextShape& t) { return t.text.startsWith("step "); });
            if (!below) return "a text on paper is lost";
            continue;
        }
        if (shape.text != mergedFlagText(figure.plots[0], shape.first, shape.count))
            return "another text: " + shape.text;
        if (shape.text_rect.bottom() > plot.area.top()) return "a text in the plot: " + shape.text;
        if (!before.isNull() && shape.text_rect.left() < before.right()) return "overlap: " + shape.text;
        before = shape.text_rect;
        for (const FlagShape& other : plot.flags)
            if (&other != &shape && other.pennants.intersects(shape.text_rect))
                return "a pennant on a text: " + shape.text;
    }
    return next == figure.plots[0].flags.size() ? QString() : QString("only %1 flags are drawn").arg(next);
}

}  // namespace

class FlagsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aFlagIsAtItsStepAboveThePlot() {
        const Figure figure = withFlags({flag(40, "Δt", "1", "0.2", 1)});
        const FigureLayout layout = onScreen(figure);
        const PlotLayout& plot = layout.plots[0];
        QCOMPARE(textsOf(layout), QStringList({"Δt 1→0.2"}));
        const FlagShape& shape = plot.flags[0];
        QCOMPARE(shape.poles.front(), plot.x.toPixel(40));
        QCOMPARE(shape.pennants.left(), plot.x.toPixel(40));
        QVERIFY(shape.text_rect.left() > shape.poles.front() && shape.text_rect.bottom() <= plot.area.top());
        // The pole has the run's colour and dash.
        const Theme theme = Theme::make(Theme::Kind::Light);
        const auto pole = std::find_if(plot.under.begin(), plot.under.end(), [&](const LineShape& line) {
            return line.lines.size() == 1 && line.lines[0].x1() == shape.poles.front() &&
                   line.colour == theme.run(1);
        });
        QVERIFY(pole != plot.under.end());
        QCOMPARE(pole->dash, runDash(1));
        QVERIFY(std::abs(pole->lines[0].length() - plot.area.height()) < 1);
        // Without flags the plot has the lane's height.
        const FigureLayout without = onScreen(losses());
        QVERIFY(without.plots[0].area.top() < plot.area.top());
        QVERIFY(without.plots[0].flags.empty());
    }

    void nearOnesAreMergedOrCounted() {
        // One chain of changes, too near each other.
        QCOMPARE(textsOf(onScreen(withFlags({flag(100, "Δt", "1", "0.7"), flag(101, "Δt", "0.7", "0.5"),
                                             flag(102, "Δt", "0.5", "0.2")}))),
                 QStringList({"Δt 1→0.2"}));
        // A gap in the chain: counted.
        QCOMPARE(textsOf(onScreen(withFlags({flag(100, "Δt", "1", "0.7"), flag(101, "Δt", "0.6", "0.5")}))),
                 QStringList({"Δt 1→0.7 +1"}));
        // There and back: the net change is none, but there were two.
        QCOMPARE(textsOf(onScreen(withFlags({flag(100, "τ", "1", "2"), flag(101, "τ", "2", "1")}))),
                 QStringList({"τ 1→2 +1"}));
        // Different knobs at one step.
        QCOMPARE(textsOf(onScreen(withFlags(
                     {flag(100, "Δt", "1", "0.2"), flag(100, "τ", "1", "2"), flag(100, "clip", "1", "2")}))),
                 QStringList({"Δt 1→0.2 +2"}));
        // Linked knobs: the same change of two runs, with two pennants.
        const FigureLayout linked =
            onScreen(withFlags({flag(40, "Δt", "1", "0.2", 0), flag(40, "Δt", "1", "0.2", 1)}));
        QCOMPARE(textsOf(linked), QStringList({"Δt 1→0.2"}));
        const FigureLayout one = onScreen(withFlags({flag(40, "Δt", "1", "0.2", 0)}));
        QVERIFY(linked.plots[0].flags[0].pennants.width() > 1.9 * one.plots[0].flags[0].pennants.width());
        // Far enough apart each has its own.
        QCOMPARE(textsOf(onScreen(withFlags({flag(3, "Δt", "1", "0.2"), flag(100, "Δt", "0.2", "1")}))),
                 QStringList({"Δt 1→0.2", "Δt 0.2→1"}));
        // The last one at the right end: left of its pole.
        const FigureLayout at_end = onScreen(withFlags({flag(199, "learning rate", "0.003", "0.001")}));
        QCOMPARE(textsOf(at_end), QStringList({"learning rate 0.003→0.001"}));
        QVERIFY(at_end.plots[0].flags[0].text_rect.right() < at_end.plots[0].flags[0].poles.front());
    }

    void noTextEverOverlapsAnother() {
        std::mt19937 random(7);
        const char* knobs[] = {"Δt", "τ", "learning rate", "weight decay", "clip"};
        int several = 0, counted = 0;
        for (int trial = 0; trial < 400; ++trial) {
            std::vector<Flag> flags;
            const int count = 1 + int(random() % 14);
            for (int i = 0; i < count; ++i)
                flags.push_back(flag(trial % 3 == 0 ? double(90 + random() % 12) : double(random() % kSteps),
                                     knobs[random() % 5], QString::number(random() % 7),
                                     QString::number(0.001 * double(random() % 9999)), int(random() % 2)));
            std::stable_sort(flags.begin(), flags.end(),
                             [](const Flag& a, const Flag& b) { return a.x < b.x; });
            Figure figure = withFlags(flags);
            if (trial % 2) figure.plots[0].x.scale = Scale::Linear;
            const bool paper = trial % 4 == 3;
            const RenderStyle style = paper ? paperStyle(Theme::make(Theme::Kind::Print))
                                            : screenStyle(Theme::make(Theme::Kind::Dark));
            const QSizeF size = paper ? QSizeF(85, 60) / 25.4 * kPaperUnitsPerInch
                                      : QSizeF(300 + double(random() % 700), 220 + double(random() % 400));
            const FigureLayout layout = layoutFigure(figure, size, style);
            QVERIFY2(fault(figure, layout, style).isEmpty(),
                     qPrintable(QString("%1: %2").arg(trial).arg(fault(figure, layout, style))));
            several += layout.plots[0].flags.size() > 1;
            for (const QString& text : textsOf(layout)) counted += text.contains(" +");
        }
        QVERIFY2(several > 100 && counted > 100, qPrintable(QString("%1 %2").arg(several).arg(counted)));
    }

    void textsHaveContrast() {
        for (const bool dark : {false, true}) {
            const Theme theme = Theme::make(dark ? Theme::Kind::Dark : Theme::Kind::Light);
            const FigureLayout layout =
                onScreen(withFlags({flag(40, "Δt", "1", "0.2", 1)}), {600, 300}, dark);
            const auto& texts = layout.plots[0].texts;
            const auto found = std::find_if(texts.begin(), texts.end(),
                                            [](const TextShape& t) { return t.text == "Δt 1→0.2"; });
            QVERIFY(found != texts.end());
            QVERIFY(contrast(found->colour, theme.background) >= 4.5);
            const QColor c = found->colour;  // hue is the runs'
            QVERIFY(std::max({c.red(), c.green(), c.blue()}) - std::min({c.red(), c.green(), c.blue()}) < 16);
        }
    }

    void theCardHasTheWholeText() {
        const Figure figure = withFlags(
            {flag(100, "Δt", "1", "0.7"), flag(101, "Δt", "0.7", "0.5"), flag(101, "τ", "1", "2", 1)});
        const FigureLayout layout = onScreen(figure);
        QCOMPARE(textsOf(layout), QStringList({"Δt 1→0.5 +1"}));
        const FlagShape& shape = layout.plots[0].flags[0];
        for (const QPointF& at : {shape.text_rect.center(), shape.pennants.center(),
                                  QPointF(shape.poles.front() + 1, layout.plots[0].area.center().y())}) {
            const auto point = hoverAt(figure, layout, at);
            QVERIFY(point);
            QCOMPARE(point->x, 100.0);
            QStringList lines;
            for (const HoverLine& line : hoverLines(figure, *point)) lines << line.text;
            for (const char* text : {"Pre-LN  Δt 1→0.7 at step 100", "Pre-LN  Δt 0.7→0.5 at step 101",
                                     "Post-LN  τ 1→2 at step 101"})
                QVERIFY2(lines.contains(text), qPrintable(lines.join('\n')));
        }
        // By keys: the step itself.
        HoverPoint step{0, 100, 0};
        QStringList lines;
        for (const HoverLine& line : hoverLines(figure, step)) lines << line.text;
        QVERIFY(lines.contains("Pre-LN  Δt 1→0.7 at step 100"));
        QVERIFY(!lines.contains("Pre-LN  Δt 0.7→0.5 at step 101"));
        // Elsewhere: none.
        const auto away = hoverAt(figure, layout, {layout.plots[0].x.toPixel(5), 150});
        QVERIFY(away && away->flags == 0);
    }

    void aBranchIsARingWithItsSentence() {
        Figure figure = losses();
        Curve& fork = figure.plots[0].curves[1];
        fork.branch = Branch{39, "fork of Pre-LN at step 40"};
        const FigureLayout layout = onScreen(figure);
        const PlotLayout& plot = layout.plots[0];
        const QPointF at(plot.x.toPixel(39), plot.y.toPixel(fork.y[39]));
        int around = 0;
        for (const LineShape& line : plot.over)
            for (const QLineF& side : line.lines)
                around += std::abs(QLineF(at, side.p1()).length() - 4.5) < 0.01 &&
                          line.colour == Theme::make(Theme::Kind::Light).run(1);
        QCOMPARE(around, 24);
        const auto point = hoverAt(figure, layout, at + QPointF(5, 3));
        QVERIFY(point);
        QCOMPARE(point->x, 39.0);
        QStringList lines;
        for (const HoverLine& line : hoverLines(figure, *point)) lines << line.text;
        QVERIFY2(lines.contains("Post-LN  fork of Pre-LN at step 40"), qPrintable(lines.join('\n')));
    }
};

NORMSCOPE_WIDGET_TEST(FlagsTest)
#include "flags_test.moc"
