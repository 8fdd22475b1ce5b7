// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/growing_dataset.h"

#include <algorithm>

namespace normscope::hdf5 {

GrowingDataset::GrowingDataset(hid_t parent, const std::string& name, Handle type, Shape row_shape)
    : type_(std::move(type)),
      dataset_(make_growing(parent, name, type_, row_shape)),
      row_shape_(std::move(row_shape)),
      row_bytes_(element_count(row_shape_) * H5Tget_size(type_)) {}

void GrowingDataset::reserve_row() {
    const std::size_t needed = pending_.size() + row_bytes_;
    if (needed > pending_.capacity()) pending_.reserve(std::max(needed, 2 * pending_.capacity()));
}

void GrowingDataset::append(const void* row) {
    const auto* bytes = static_cast<const std::byte*>(row);
    pending_.insert(pending_.end(), bytes, bytes + row_bytes_);
    ++waiting_;
}

void GrowingDataset::write() {
    if (waiting_ == 0) return;
    std::vector<hsize_t> start(row_shape_.size() + 1, 0), count{waiting_}, extent{rows_ + waiting_};
    count.insert(count.end(), row_shape_.begin(), row_shape_.end());
    extent.insert(extent.end(), row_shape_.begin(), row_shape_.end());
    start[0] = rows_;
    if (H5Dset_extent(dataset_, extent.data()) < 0) fail_writing(dataset_, "");
    if (row_bytes_ > 0) {
        const Handle in_file(H5Dget_space(dataset_));
        const Handle in_memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr));
        if (H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) < 0 ||
            H5Dwrite(dataset_, type_, in_memory, in_file, H5P_DEFAULT, pending_.data()) < 0)
            fail_writing(dataset_, "");
    }
    if (H5Dflush(dataset_) < 0) fail_writing(dataset_, "");
    rows_ += waiting_;
    waiting_ = 0;
    pending_.clear();
}

}  // namespace normscope::hdf5
