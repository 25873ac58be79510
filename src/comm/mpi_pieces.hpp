// Messages longer than MPI's int counts.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace heddle::impl {

/// One message as MPI requests; start(offset, count, request) posts each piece.
class MpiPieces {
 public:
  template <class Start> void start(std::size_t bytes, const Start& start) {
    // Several pieces of a long message can be under way side by side.
    constexpr std::size_t most = std::size_t{1} << 30;
    pieces_.assign((bytes + most - 1) / most, MPI_REQUEST_NULL);
    for (std::size_t k = 0; k < pieces_.size(); ++k) {
      start(k * most, static_cast<int>(std::min(most, bytes - k * most)), &pieces_[k]);
    }
    started_ = true;
  }
  [[nodiscard]] bool started() const { return started_; }
  [[nodiscard]] bool test() {
    int done = 0;
    MPI_Testall(static_cast<int>(pieces_.size()), pieces_.data(), &done, MPI_STATUSES_IGNORE);
    return done != 0;
  }

 private:
  std::vector<MPI_Request> pieces_;
  bool started_ = false;
};

}  // namespace heddle::impl
