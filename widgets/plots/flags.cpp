// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/flags.h"

#include "widgets/figures/number_text.h"
#include "widgets/plots/colour_map.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {
namespace {

using Font = TextShape::Font;

/// Successive changes of one knob in one run.
struct Chain {
    const Flag* first;
    const Flag* last;
    std::vector<const Flag*> links;
    bool whole;  ///< each begins at the value where the one before ended

    bool isOne() const { return whole && first->from != last->to; }
};

std::vector<Chain> chainsIn(const Plot& plot, std::size_t first, std::size_t count) {
    std::vector<Chain> chains;
    for (std::size_t i = first; i < first + count; ++i) {
        const Flag& flag = plot.flags[i];
        const auto chain = std::find_if(chains.begin(), chains.end(), [&](const Chain& c) {
            return c.first->role.run == flag.role.run && c.first->what == flag.what;
        });
        if (chain == chains.end()) {
            chains.push_back({&flag, &flag, {&flag}, true});
            continue;
        }
        chain->whole &= !flag.from.isEmpty() && chain->last->to == flag.from;
        chain->last = &flag;
        chain->links.push_back(&flag);
    }
    return chains;
}

/// Runs with a pennant in a group of flags, ascending.
std::vector<int> runsOf(const Plot& plot, const FlagShape& shape) {
    std::vector<int> runs;
    for (std::size_t i = shape.first; i < shape.first + shape.count; ++i)
        runs.push_back(plot.flags[i].role.run);
    std::sort(runs.begin(), runs.end());
    runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
    return runs;
}

class Placer {
  public:
    Placer(const Plot& plot, const RenderStyle& style, const QRectF& lane, PlotLayout& layout)
        : plot_(plot), style_(style), lane_(lane), layout_(layout), gap_(4 * style.unit) {}

    std::vector<FlagShape> place() {
        const QRectF& area = layout_.area;
        for (std::size_t i = 0; i < plot_.flags.size(); ++i) {
            const double x = layout_.x.toPixel(plot_.flags[i].x);
            if (!(x >= area.left() - 0.5 && x <= area.right() + 0.5)) continue;
            // Those of one pixel look the same.
            if (!shapes_.empty() && x - shapes_.back().poles.front() < style_.unit) {
                ++shapes_.back().count;
                if (x != shapes_.back().poles.back()) shapes_.back().poles.push_back(x);
            } else {
                shapes_.push_back({i, 1, {}, {}, {}, {x}});
            }
        }
        for (std::size_t i = 0; i < shapes_.size();) {
            if (put(i)) {
                ++i;
            } else if (i + 1 < shapes_.size()) {
                merge(i);
            } else if (i > 0) {
                merge(i - 1);
                --i;
            } else {
                break;  // one group, and no text of it fits
            }
        }
        return std::move(shapes_);
    }

  private:
    double pennants(const FlagShape& shape) const {
        return pennantWidth(style_) * static_cast<double>(runsOf(plot_, shape).size());
    }

    /// Sets text and place of a group; false where it has no space between its neighbours.
    bool put(std::size_t i) {
        FlagShape& shape = shapes_[i];
        const QString text = mergedFlagText(plot_, shape.first, shape.count);
        const double width = textSize(text, Font::Small, style_).width() + style_.unit;
        const double x = shape.poles.front(), right = x + pennants(shape);
        const double from = i > 0 ? rightOf(shapes_[i - 1]) + 2 * gap_ : lane_.left();
        const bool last = i + 1 == shapes_.size();
        const double end = last ? lane_.right() : shapes_[i + 1].poles.front() - gap_;
        shape.pennants = QRectF(x, lane_.top(), right - x, lane_.height());
        shape.text = text;
        if (right + gap_ / 2 + width <= end)
            shape.text_rect = QRectF(right + gap_ / 2, lane_.top(), width, lane_.height());
        else if (x - gap_ - width >= from && (last || right <= end))
            shape.text_rect = QRectF(x - gap_ - width, lane_.top(), width, lane_.height());
        else
            shape.text_rect = {}, shape.text.clear();
        return !shape.text.isEmpty();
    }

    static double rightOf(const FlagShape& shape) {
        return std::max(shape.pennants.right(), shape.text_rect.isNull() ? 0 : shape.text_rect.right());
    }

    void merge(std::size_t i) {
        FlagShape& next = shapes_[i + 1];
        shapes_[i].count = next.first + next.count - shapes_[i].first;
        shapes_[i].poles.insert(shapes_[i].poles.end(), next.poles.begin(), next.poles.end());
        shapes_.erase(shapes_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }

  public:
    static double pennantWidth(const RenderStyle& style) { return 7 * style.unit; }

  private:
    const Plot& plot_;
    const RenderStyle& style_;
    const QRectF lane_;
    PlotLayout& layout_;
    const double gap_;
    std::vector<FlagShape> shapes_;
};

/// A pole for each run at each x, next to each other where they would coincide.
void addPoles(const Plot& plot, const RenderStyle& style, PlotLayout& layout) {
    const QRectF& area = layout.area;
    double last = kNaN;
    int shift = 0;
    std::vector<int> here;
    for (const Flag& flag : plot.flags) {
        const double x = layout.x.toPixel(flag.x);
        if (!(x >= area.left() - 0.5 && x <= area.right() + 0.5)) continue;
        if (!(std::abs(x - last) < style.unit)) {
            last = x, shift = 0;
            here.clear();
        }
        if (std::find(here.begin(), here.end(), flag.role.run) != here.end()) continue;
        here.push_back(flag.role.run);
        const double at = std::min(last + 2 * style.thin * shift++, area.right());
        layout.under.push_back({{QLineF(at, area.top(), at, area.bottom())},
                                style.theme.colour(flag.role),
                                style.thin,
                                runDash(flag.role.run)});
    }
}

void addPennants(const Plot& plot, const RenderStyle& style, const FlagShape& shape, PlotLayout& layout) {
    const double width = Placer::pennantWidth(style), height = 0.8 * width;
    const double top = shape.pennants.center().y() - height / 2;
    double x = shape.pennants.left();
    for (const int run : runsOf(plot, shape)) {
        const QColor colour = style.theme.run(run);
        layout.areas.push_back(
            {QPolygonF({{x, top}, {x + width - style.unit, top + height / 2}, {x, top + height}}), colour});
        layout.over.push_back({{QLineF(x, top, x, shape.pennants.bottom())}, colour, style.thin, {}});
        x += width;
    }
}

}  // namespace

double flagLaneHeight(const Plot& plot, const RenderStyle& style) {
    if (plot.flags.empty() || !plot.maps.empty()) return 0;
    return textSize(QStringLiteral("X"), Font::Small, style).height() + 2 * style.unit;
}

QString mergedFlagText(const Plot& plot, std::size_t first, std::size_t count) {
    QStringList texts;
    for (const Chain& chain : chainsIn(plot, first, count)) {
        QStringList own;
        if (chain.links.size() > 1 && chain.isOne()) {
            Flag net = *chain.first;
            net.to = chain.last->to;
            own << net.text();
        } else {
            for (const Flag* flag : chain.links) own << flag->text();
        }
        for (const QString& text : own)  // linked knobs: the same change of several runs
            if (!texts.contains(text)) texts << text;
    }
    if (texts.isEmpty()) return {};
    return texts.size() == 1 ? texts[0] : QStringLiteral("%1 +%2").arg(texts[0]).arg(texts.size() - 1);
}

void addFlags(const Plot& plot, const RenderStyle& style, const QRectF& lane, OutsideTexts* outside,
              PlotLayout& layout) {
    if (plot.flags.empty() || !plot.maps.empty()) return;
    addPoles(plot, style, layout);
    if (lane.height() <= 0) return;
    layout.flags = Placer(plot, style, lane, layout).place();
    for (const FlagShape& shape : layout.flags) {
        addPennants(plot, style, shape, layout);
        if (shape.text.isEmpty() && outside)
            outside->take({QStringLiteral("%1 %2: %3")
                               .arg(plot.x.label, numberText(plot.flags[shape.first].x, 10),
                                    mergedFlagText(plot, shape.first, shape.count)),
                           {}});
        if (!shape.text.isEmpty())
            layout.texts.push_back({shape.text_rect,
                                    Qt::AlignLeft | Qt::AlignVCenter,
                                    shape.text,
                                    readable(style.theme.text, style.theme.background),
                                    Font::Small,
                                    {}});
    }
}

}  // namespace normscope::widgets
