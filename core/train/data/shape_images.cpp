// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/data/shape_images.h"

#include "core/base/error.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace normscope {

namespace {

constexpr double kNoise = 0.2;  // uniform in ± this

/// Whether a shape covers the point (u, v); it lies in −1 … 1 in both.
bool covers(int shape, double u, double v) {
    const double edge = std::max(std::abs(u), std::abs(v)), radius = std::hypot(u, v);
    if (edge > 1) return false;
    switch (shape) {
        case 0:  // disc
            return radius < 1;
        case 1:  // ring
            return radius < 1 && radius > 0.55;
        case 2:  // square
            return true;
        case 3:  // frame
            return edge > 0.55;
        case 4:  // plus
            return std::min(std::abs(u), std::abs(v)) < 0.3;
        case 5:  // diagonal cross
            return std::min(std::abs(u - v), std::abs(u + v)) < 0.45;
        case 6:  // triangle, its tip above
            return std::abs(u) < (v + 1) / 2;
        case 7:  // triangle, its tip below
            return std::abs(u) < (1 - v) / 2;
        case 8:  // horizontal bars
            return std::abs(v) > 0.33;
        default:  // vertical bars
            return std::abs(u) > 0.33;
    }
}

}  // namespace

ShapeImages::ShapeImages(const ImageSpec& shape) : ImageCorpus(shape) {
    if (shape.size < kSmallest)
        throw InputError("stack.image.size",
                         std::to_string(shape.size) + " is too small for the shapes of data.source images",
                         std::to_string(kSmallest) + " and above");
}

double ShapeImages::unigram_entropy() const {
    return std::log(static_cast<double>(kClasses));
}

int ShapeImages::draw(Split, RandomRow random, std::span<float> pixels) const {
    const int kind = static_cast<int>(random.below(kClasses)), size = shape().size;
    const double radius = size * (0.25 + 0.15 * random.uniform()), free = size - 1 - 2 * radius;
    const double x0 = radius + free * random.uniform(), y0 = radius + free * random.uniform();
    std::vector<double> background, foreground;
    for (int c = 0; c < shape().channels; ++c) {
        background.push_back(random.uniform() - 0.5);
        const double contrast = 0.7 + 0.5 * random.uniform();
        foreground.push_back(background.back() + (random.below(2) ? contrast : -contrast));
    }
    std::size_t at = 0;
    for (std::size_t c = 0; c < background.size(); ++c)
        for (int y = 0; y < size; ++y)
            for (int x = 0; x < size; ++x) {
                const bool inside = covers(kind, (x - x0) / radius, (y - y0) / radius);
                const double noise = kNoise * (2 * random.uniform() - 1);
                pixels[at++] = static_cast<float>((inside ? foreground[c] : background[c]) + noise);
            }
    return kind;
}

}  // namespace normscope
