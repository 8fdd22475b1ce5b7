// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/data/image_corpus.h"

#include "core/base/error.h"

#include <limits>
#include <string>
#include <vector>

namespace normscope {

double ImageCorpus::entropy_given(int) const {
    return std::numeric_limits<double>::quiet_NaN();
}
double ImageCorpus::entropy_rate() const {
    return std::numeric_limits<double>::quiet_NaN();
}

void ImageCorpus::append(Split split, RandomRow random, Batch& to) const {
    if (to.length > shape_.patches() + 1)
        throw InputError("batch",
                         "sequences of length " + std::to_string(to.length) + " are longer than an image",
                         "1 … " + std::to_string(shape_.patches() + 1));
    std::vector<float> pixels(static_cast<std::size_t>(shape_.channels * shape_.size * shape_.size));
    const int target = draw(split, random, pixels);
    append_image(shape_, pixels, target, to);
}

void append_image(const ImageSpec& shape, std::span<const float> pixels, std::int32_t target, Batch& to) {
    const int size = shape.size, p = shape.patch, across = size / p;
    to.tokens.push_back(kClassToken);
    to.targets.push_back(target);
    to.patches.insert(to.patches.end(), static_cast<std::size_t>(shape.patch_width()), 0.0f);
    for (int i = 0; i + 1 < to.length; ++i) {
        to.tokens.push_back(kPatchToken);
        to.targets.push_back(kIgnored);
        const int top = i / across * p, left = i % across * p;
        for (int c = 0; c < shape.channels; ++c)
            for (int y = top; y < top + p; ++y) {
                const auto row = pixels.begin() + (c * size + y) * size + left;
                to.patches.insert(to.patches.end(), row, row + p);
            }
    }
}

}  // namespace normscope
