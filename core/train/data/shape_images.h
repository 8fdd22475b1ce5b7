// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/data/image_corpus.h"

namespace normscope {

/// Generated images: one of ten shapes, its place, size and colour, the colour of the background and the
/// noise drawn at random. In each channel the shape is brighter than the background as often as darker, so
/// that no linear function of the pixels separates the classes. Values are about −2 … 2.
class ShapeImages final : public ImageCorpus {
  public:
    /// Throws InputError where the image is too small to show the shapes.
    explicit ShapeImages(const ImageSpec& shape);

    int vocab() const override { return kClasses; }
    double unigram_entropy() const override;

    static constexpr int kClasses = 10;
    static constexpr int kSmallest = 12;  ///< pixels of an edge

  private:
    int draw(Split split, RandomRow random, std::span<float> pixels) const override;
};

}  // namespace normscope
