// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/data/cifar10_images.h"

#include "core/base/error.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

namespace normscope {

namespace fs = std::filesystem;

std::vector<std::string> Cifar10Images::files(const std::string& folder) {
    std::vector<std::string> found;
    std::error_code error;
    for (const char* name :
         {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"})
        if (const fs::path file = fs::path(folder) / (std::string(name) + ".bin"); fs::exists(file, error))
            found.push_back(file.string());
    return found;
}

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
    std::vector<std::string> batches = files(folder);
    const bool has_test = !batches.empty() && batches.back().ends_with("test_batch.bin");
    const std::string test = has_test ? batches.back() : "";
    if (has_test) batches.pop_back();
    for (const std::string& batch : batches) read(batch);
    const std::size_t in_batches = records_.size() / kRecord;
    if (in_batches == 0)
        throw InputError("data.path", "'" + folder + "' has no data_batch_1.bin … data_batch_5.bin",
                         "at least one of them");
    train_ = in_batches;
    if (has_test) {
        read(test);
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
    std::error_code error;
    if (!fs::is_regular_file(path, error))
        throw InputError("data.path", "'" + path + "' is no regular file", "a file");
    const auto size = static_cast<std::size_t>(fs::file_size(path, error));
    if (error || size == 0 || size % kRecord != 0)
        throw InputError("data.path",
                         "'" + path + "' has " + std::to_string(error ? 0 : size) +
                             " bytes, which are not whole records of CIFAR-10",
                         "a multiple of " + std::to_string(kRecord));
    std::vector<unsigned char> bytes(size);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size)))
        throw InputError("data.path", "reading '" + path + "' failed", "");
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
