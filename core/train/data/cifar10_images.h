// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/data/image_corpus.h"

#include <array>
#include <string>
#include <vector>

namespace normscope {

/// The images of a folder in CIFAR-10's binary format: data_batch_1.bin … data_batch_5.bin (those that are
/// there) and test_batch.bin, which held-out batches are drawn from. Without test_batch.bin they come from
/// the last `held_out` share of the training images. A record is a class, 0 … 9, and 3·32·32 bytes. Each
/// channel is shifted and scaled to mean 0 and standard deviation 1 over the training images.
class Cifar10Images final : public ImageCorpus {
  public:
    /// Throws InputError where the folder has no batch, a file is not of whole records, a class is above 9,
    /// or the stack's images are not 32 × 32 with 3 channels.
    Cifar10Images(const std::string& folder, double held_out, const ImageSpec& shape);

    int vocab() const override { return kClasses; }
    /// Of the classes of the training images.
    double unigram_entropy() const override { return unigram_entropy_; }

    /// The paths of a folder's batches that are there, test_batch.bin last.
    static std::vector<std::string> files(const std::string& folder);

    std::size_t train_images() const { return train_; }
    std::size_t held_out_images() const { return records_.size() / kRecord - train_; }

    static constexpr int kClasses = 10, kSize = 32, kChannels = 3;
    static constexpr std::size_t kPlane = std::size_t{kSize} * kSize, kRecord = 1 + kChannels * kPlane;

  private:
    int draw(Split split, RandomRow random, std::span<float> pixels) const override;
    void read(const std::string& path);
    void measure();

    std::vector<unsigned char> records_;  ///< [images, kRecord], those of training first
    std::size_t train_ = 0;
    std::array<double, kChannels> mean_{}, std_{};
    double unigram_entropy_ = 0;
};

}  // namespace normscope
