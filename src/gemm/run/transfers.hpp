// Types that bands and tiles share: buffers, pieces of them, and the record of a transfer.
#pragma once

#include "gemm/run/bands.hpp"

namespace heddle::impl {

template <Scalar T> Buffer<T> make_buffer(const Setting& setting, Index size) {
  return Buffer<T>(Kokkos::view_alloc(setting.comm.space(), Kokkos::WithoutInitializing, "heddle::gemm::buffer"),
                   static_cast<std::size_t>(size));
}

// A buffer that holds `size` elements from now on.
template <Scalar T> void grow(const Setting& setting, Buffer<T>& buffer, Index size) {
  if (static_cast<Index>(buffer.size()) < size) {
    buffer = make_buffer<T>(setting, size);
  }
}

// A piece as it lies in a buffer of its own.
template <class T> MatrixView<T> packed_view(T* data, const Piece& piece) {
  return matrix_view(data, piece.rows.size(), piece.columns.size(), piece.rows.size());
}

template <class T> MatrixView<T> part_of(const MatrixView<T>& local, const Piece& piece) {
  return block_of(local, piece.rows.begin, piece.rows.end, piece.columns.begin, piece.columns.end);
}

template <class T> bool is_contiguous(const MatrixView<T>& view) {
  return view.extent(1) <= 1 || view.stride(1) == view.extent(0);
}

// An interval of a transfer, by the device's clock where it is known.
inline void record_transfer(const Setting& setting, const TimelineInterval& interval, const Request& request) {
  if (request.begin().state()) {
    setting.recorder->add(interval, request.begin(), request.event());
  } else {
    TimelineInterval timed = interval;
    timed.end = setting.recorder->now();
    setting.recorder->add(timed);
  }
}

inline bool records_transfers(const Setting& setting) {
  return setting.recorder != nullptr && setting.recorder->everything();
}

}  // namespace heddle::impl
