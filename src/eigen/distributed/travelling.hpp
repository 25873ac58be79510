// Groups of block columns that move round the ranks, each in two halves.
#pragma once

#include "comm/failures/checked.hpp"
#include "comm/transports/tags.hpp"
#include "eigen/dense/columns.hpp"
#include "eigen/distributed/counts.hpp"
#include <heddle/comm/transport.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace heddle::eigen::impl {

/// The columns of one rank: an upper and a lower group in the order of Brent and Luk, positions rank and ranks + rank
/// of 2 ranks. Each half of a group has a slot of `half` blocks; four slots are rotated, four receive halves that
/// arrive.
template <Scalar T> class TravellingColumns {
 public:
  using R = Real<T>;

  TravellingColumns(const Communicator& comm, Index n, int block, int half)
      : comm_(comm),
        transport_(comm.transport()),
        half_(half),
        columns_(comm.space(), n, Index{8} * half * block, block),
        sent_(8) {
    for (int slot = 4; slot < 8; ++slot) {
      free_.push_back(slot);
    }
  }
  ~TravellingColumns() = default;
  TravellingColumns(const TravellingColumns&) = delete;
  TravellingColumns& operator=(const TravellingColumns&) = delete;

  /// Blocks that hold columns for a group size; 0: chosen for n columns over `ranks` ranks.
  static std::pair<int, int> chosen_blocks(Index n, int ranks, int block, int preferred) {
    const Index share = (n + 4 * ranks - 1) / (4 * ranks);
    const int width = block > 0 ? clamped_block(n, block) : preferred;
    const auto blocks = static_cast<int>(std::max<Index>(1, (share + width - 1) / width));
    // Blocks of a half meet one another in pairs.
    return {width, blocks == 1 ? 1 : (blocks + 1) / 2 * 2};
  }

  /// Columns of a half.
  [[nodiscard]] Index width() const { return Index{half_} * columns_.block(); }
  /// Rows x columns of the halves of this rank at home, 0 <= at < 4: those of the upper group, then those of the lower
  /// one; zeros at the end of all.
  [[nodiscard]] MatrixView<T> home(int at) const { return slot(here_[static_cast<std::size_t>(at)]); }

  /// Every pair of columns on all ranks once.
  SweepCounts<R> sweep(R tolerance) {
    const int ranks = comm_.size();
    for (int step = 0; step < 2 * ranks - 1; ++step) {
      if (step == 0) {
        inside(tolerance);
      }
      for (int phase = 0; phase < 4; ++phase) {
        const int upper = phase / 2;
        const int lower = phase % 2;
        arrive(0, upper);
        arrive(1, lower);
        across(here_[slot_of(0, upper)], here_[slot_of(1, lower)], tolerance);
        // A half that has met all others here is sent while the rest is rotated.
        if (phase == 1) {
          leave(0, 0);
        } else if (phase == 2) {
          leave(1, 0);
        } else if (phase == 3) {
          leave(0, 1);
          leave(1, 1);
        }
      }
      here_ = next_;
    }
    for (int group = 0; group < 2; ++group) {
      arrive(group, 0);
      arrive(group, 1);
    }
    return counts_of_all(comm_, columns_.counts());
  }

 private:
  static std::size_t slot_of(int group, int h) { return static_cast<std::size_t>(2 * group + h); }
  [[nodiscard]] MatrixView<T> slot(int number) const {
    return Kokkos::subview(MatrixView<T>(columns_.columns()), Kokkos::ALL,
                           Kokkos::make_pair(number * width(), (number + 1) * width()));
  }

  // Columns that are on this rank together for a whole sweep: of a half, and of the two halves of a group.
  void inside(R tolerance) {
    for (const int at : here_) {
      for (int step = 0; half_ > 1 && step < half_ - 1; ++step) {
        columns_.step({half_ / 2, step, false, at * half_}, tolerance);
        transport_.progress();
      }
    }
    across(here_[0], here_[1], tolerance);
    across(here_[2], here_[3], tolerance);
  }
  void across(int first, int second, R tolerance) {
    for (int step = 0; step < half_; ++step) {
      columns_.step({half_, step, true, first * half_, second * half_}, tolerance);
      transport_.progress();
    }
  }
  void arrive(int group, int h) { arriving_[slot_of(group, h)].wait(); }

  // Sends a half to where it is next, and begins to receive what comes in its place.
  void leave(int group, int h) {
    const int ranks = comm_.size();
    const int rank = comm_.rank();
    const int position = group * ranks + rank;
    const int to = next_position(position, ranks);
    int from = 0;
    while (next_position(from, ranks) != position) {
      ++from;
    }
    const int leaving = here_[slot_of(group, h)];
    const auto tag = [h](int to_group) { return heddle::impl::tag_jacobi + 2 * to_group + h; };
    const auto whole = [&](int number) {
      const MatrixView<T> view = slot(number);
      // Rows of zeros travel too, so that a slot is one contiguous block.
      return MatrixView<T>(view.data(), Kokkos::LayoutStride(view.stride(1), 1, view.extent(1), view.stride(1)));
    };
    // A slot whose own columns have left it.
    const int place = free_.front();
    free_.erase(free_.begin());
    sent_[static_cast<std::size_t>(place)].wait();
    next_[slot_of(group, h)] = place;
    arriving_[slot_of(group, h)] = transport_.template receive<T>(whole(place), from % ranks, tag(group));
    sent_[static_cast<std::size_t>(leaving)] =
        transport_.template send<T>(MatrixView<const T>(whole(leaving)), to % ranks, tag(to / ranks));
    free_.push_back(leaving);
  }

  const Communicator& comm_;
  Transport transport_;
  int half_;
  BlockColumns<T> columns_;
  std::array<int, 4> here_ = {0, 1, 2, 3};
  std::array<int, 4> next_ = {};
  std::vector<int> free_;
  heddle::impl::KeptWhereFailed kept_{columns_.columns()};
  std::vector<Request> sent_;
  std::array<Request, 4> arriving_;
};

}  // namespace heddle::eigen::impl
