// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/hdf5.h"

#include <cstddef>
#include <string>
#include <vector>

namespace normscope::hdf5 {

/// A data set that grows by rows: appended rows are buffered until write() adds them to the file at once.
class GrowingDataset {
  public:
    GrowingDataset(hid_t parent, const std::string& name, Handle type, Shape row_shape);

    std::size_t row_elements() const { return element_count(row_shape_); }
    /// Memory for one more row: the next append() does not throw. Throws std::bad_alloc.
    void reserve_row();
    void append(const void* row);
    /// Writes and flushes the buffered rows; a no-op if there are none. Throws SystemError and keeps the
    /// rows.
    void write();
    hid_t dataset() const { return dataset_; }

  private:
    Handle type_, dataset_;
    Shape row_shape_;
    std::size_t row_bytes_, rows_ = 0, waiting_ = 0;
    std::vector<std::byte> pending_;
};

}  // namespace normscope::hdf5
