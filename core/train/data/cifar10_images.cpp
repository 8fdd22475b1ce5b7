// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/data/cifar10_images.h"

#include "core/base/error.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace normscope {

namespace fs = std::filesystem;

Cifar10Images::Cifar10Images(const std::string& folder, double held_out, const ImageSpec& shape)
    : ImageCorpus(shape) {
    if (shape.size != kSize || shape.channels != kChannels)
        throw InputError("stack.image",
                         std::to_string(shape.size) + " pixels and " + std::to_string(shape.channels) +
                             " channels are not those of CIFAR-10",
                         "size 32, channels 3");
    std::error_code error;
    if (!fs::is_directory(folder, error))
        throw InputError("data.path", "'" + folder + "' is not a folder",
                         "the folder of CIFAR-10's binary files");
    for (int i = 1; i <= 5; ++i)
        if (const fs::path file = fs::path(folder) / ("data_batch_" + std::to_string(i) + ".bin");
            fs::exists(file, error))
            read(file.string());
    const std::size_t in_batches = records_.size() / kRecord;
    if (in_batches == 0)
        throw InputError("data.path", "'" + folder + "' has no data_batch_1.bin … data_batch_5.bin",
                         "at least one of them");
    train_ = in_batches;
    if (const fs::path test = fs::path(folder) / "test_batch.bin"; fs::exists(test, error)) {
        read(test.string());
    } else {
        train_ = static_cast<std::size_t>(static_cast<double>(in_batches) * (1 - held_out));
        if (train_ == 0 || train_ == in_batches)
            throw InputError(
                "data.held_out",
                "leaves no image for training or for the held-out batches, of " + std::to_string(in_batches),
                "a share of which both have one, or a folder with test_batch.bin");
    }
    measure();
}

void Cifar10Images::read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<unsigned char> bytes{std::istreambuf_iterator<char>(file), {}};
    if (!file || bytes.empty() || bytes.size() % kRecord != 0)
        throw InputError("data.path",
                         "'" + path + "' has " + std::to_string(bytes.size()) +
                             " bytes, which are not whole records of CIFAR-10",
                         "a multiple of " + std::to_string(kRecord));
    for (std::size_t at = 0; at < bytes.size(); at += kRecord)
        if (bytes[at] >= kClasses)
            throw InputError("data.path",
                             "'" + path + "', image " + std::to_string(at / kRecord) + ": class " +
                                 std::to_string(bytes[at]),
                             "0 … 9");
    records_.insert(records_.end(), bytes.begin(), bytes.end());
}

void Cifar10Images::measure() {
    std::array<double, kClasses> counts{};
    std::array<double, kChannels> sums{}, squares{};
    for (std::size_t i = 0; i < train_; ++i) {
        const unsigned char* record = records_.data() + i * kRecord;
        ++counts[record[0]];
        for (std::size_t c = 0; c < kChannels; ++c)
            for (std::size_t p = 0; p < kPlane; ++p) {
                const double value = record[1 + c * kPlane + p] / 255.0;
                sums[c] += value;
                squares[c] += value * value;
            }
    }
    const double images = static_cast<double>(train_), values = images * static_cast<double>(kPlane);
    for (std::size_t c = 0; c < kChannels; ++c) {
        mean_[c] = sums[c] / values;
        std_[c] = std::sqrt(std::max(1e-12, squares[c] / values - mean_[c] * mean_[c]));
    }
    for (const double count : counts)
        if (count > 0) unigram_entropy_ -= count / images * std::log(count / images);
}

int Cifar10Images::draw(Split split, RandomRow random, std::span<float> pixels) const {
    const std::size_t image =
        split == Split::Train ? random.below(train_) : train_ + random.below(held_out_images());
    const unsigned char* record = records_.data() + image * kRecord;
    for (std::size_t i = 0; i < pixels.size(); ++i)
        pixels[i] = static_cast<float>((record[1 + i] / 255.0 - mean_[i / kPlane]) / std_[i / kPlane]);
    return record[0];
}

}  // namespace normscope
