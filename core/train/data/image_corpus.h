// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/data/corpus.h"

#include <span>

namespace normscope {

/// A source of images with a class each, as sequences for a stack of patches (Batch).
class ImageCorpus : public Corpus {
  public:
    /// Not defined for images: NaN.
    double entropy_given(int previous) const final;
    /// Not known: NaN.
    double entropy_rate() const final;

  protected:
    explicit ImageCorpus(const ImageSpec& shape) : shape_(shape) {}
    const ImageSpec& shape() const { return shape_; }

    /// Fills `pixels` [channels, size, size] with one image drawn from `random`; returns its class.
    virtual int draw(Split split, RandomRow random, std::span<float> pixels) const = 0;

  private:
    void append(Split split, RandomRow random, Batch& to) const final;

    ImageSpec shape_;
};

/// Appends one image [channels, size, size] of the class `target` to a batch whose length is that of the
/// image's sequence, or less: then its first patches.
void append_image(const ImageSpec& shape, std::span<const float> pixels, std::int32_t target, Batch& to);

}  // namespace normscope
