// Reproducible blocked LU factorization of a distributed matrix.
#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "dist/arguments.hpp"
#include "exact/lu/rank_columns.hpp"
#include "exact/sums/arithmetic.hpp"
#include <heddle/comm/transport.hpp>
#include <heddle/exact/distributed.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <vector>

#ifdef __FAST_MATH__
#error "exact/lu/distributed_lu.cpp needs sums in the order written: no -ffast-math, please"
#endif

namespace heddle::exact {
namespace impl {
namespace {

// Number of columns of a panel, and of the blocks that ranks take in turn.
constexpr Index columns_of_block = heddle::impl::on_host ? 64 : most_device_columns;
constexpr int tag_of_panels = 21;

// Sends panels from the rank that factored them to those with columns on their right, which apply the trailing update.
template <Scalar T> class LuOverRanks {
 public:
  LuOverRanks(const Communicator& comm, const DistributedMatrix<T>& A, Index block)
      : comm_(comm),
        transport_(transport_of(comm)),
        axis_(A.placement().column_axis()),
        local_(A.local()),
        m_(A.rows()),
        block_(block),
        steps_(std::min(A.rows(), A.columns())),
        whole_(Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, "heddle::exact::whole_l"),
               static_cast<std::size_t>(m_), static_cast<std::size_t>(steps_)),
        columns_(comm.space(), local_, block, steps_, whole_) {
    message_ = Kokkos::View<T*, MemorySpace>(
        Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, "heddle::exact::panel"),
        static_cast<std::size_t>(m_ * block));
  }

  LuResult factor() {
    LuResult result;
    for (Index row = 0; row < steps_; row += block_) {
      const Index width = std::min(block_, steps_ - row);
      const int owner = axis_.owner(row);
      const Range mine = axis_.locals(comm_.rank(), {row, row + width});
      std::vector<Index> numbers(static_cast<std::size_t>(width + 1));
      if (comm_.rank() == owner) {
        numbers = columns_.factor(row, mine.begin, width);
      }
      comm_.broadcast(std::span<Index>(numbers), owner);
      const std::span<const Index> pivots(numbers.data(), static_cast<std::size_t>(width));
      result.pivots.insert(result.pivots.end(), pivots.begin(), pivots.end());
      if (result.info == 0) {
        result.info = numbers.back();
      }
      columns_.move(row, pivots, mine);
      take_off(row, width, owner, mine);
    }
    comm_.space().fence("heddle::exact::lu");
    return result;
  }

 private:
  [[nodiscard]] bool has_columns_behind(int rank, Index column) const {
    return axis_.count_below(rank, column) < axis_.count(rank);
  }
  // Returns the buffer of a message with the panel's rows and columns.
  [[nodiscard]] MatrixView<T> message(Index row, Index width) const {
    return heddle::impl::matrix_view(message_.data(), m_ - row, width, m_ - row);
  }
  void take_off(Index row, Index width, int owner, Range mine) {
    const int rank = comm_.rank();
    const Index behind = row + width;
    std::vector<Request> sent;
    const MatrixView<T> panel = message(row, width);
    const Kokkos::View<T*, MemorySpace> memory(panel.data(), panel.size());
    if (rank == owner) {
      heddle::impl::copy_elements<T>(comm_.space(), "heddle::exact::pack_panel",
                                     heddle::impl::block_of(local_, row, m_, mine.begin, mine.end), panel);
      for (int other = 0; other < comm_.size(); ++other) {
        if (other != owner && has_columns_behind(other, behind)) {
          sent.push_back(transport_.send<T>(Kokkos::View<const T*, MemorySpace>(memory), other, tag_of_panels));
        }
      }
    } else if (has_columns_behind(rank, behind)) {
      transport_.receive<T>(memory, owner, tag_of_panels).wait();
    }
    if (has_columns_behind(rank, behind)) {
      comm_.space().fence("heddle::exact::lu");
      columns_.keep(panel, row);
      columns_.apply({panel.data() - row, 1, m_ - row}, row, width, axis_.count_below(rank, behind));
    }
    // A message makes no progress while its sender is in a broadcast, which others may enter only after the message.
    for (Request& request : sent) {
      request.wait();
    }
  }

  Communicator comm_;
  Transport transport_;
  CyclicAxis axis_;
  MatrixView<T> local_;
  Index m_;
  Index block_;
  Index steps_;
  WholeL<T> whole_;
  RankColumns<T> columns_;
  Kokkos::View<T*, MemorySpace> message_;  // Buffer of a panel.
};

}  // namespace
}  // namespace impl

template <Scalar T> LuResult lu(const Communicator& comm, const DistributedMatrix<T>& A, const LuOptions& options) {
  const Kokkos::Profiling::ScopedRegion region("heddle::exact::lu");
  return comm.together([&] {
    using heddle::impl::argument;
    heddle::impl::require_alike(comm, "exact::lu",
                                {argument("A", A.placement()), argument("block", options.block),
                                 argument("algorithm", to_string(options.algorithm))},
                                [&] {
                                  heddle::impl::require_same_ranks("exact::lu", "A", A, comm);
                                  require(options.block >= 0, "exact::lu: blocks of ", options.block, " columns");
                                  require(options.algorithm == Algorithm::automatic, "exact::lu: the algorithm ",
                                          to_string(options.algorithm), " is for one rank; expected ",
                                          to_string(Algorithm::automatic));
                                });
    if (A.rows() == 0 || A.columns() == 0) {
      return LuResult{};
    }
    if (comm.size() == 1) {
      return compiled::lu<T>(comm.space(), strided(A.local()), options);
    }
    const impl::DefaultArithmetic arithmetic;
    const Index most = heddle::impl::on_host ? A.columns() : impl::most_device_columns;
    const Index block = options.block > 0 ? std::min<Index>(options.block, most) : impl::columns_of_block;
    const Placement dealt = Placement::block_cyclic(A.rows(), A.columns(), A.rows(), block, 1, comm.size());
    DistributedMatrix<T> columns = A;
    if (!(A.placement() == dealt)) {
      comm.on_each([&] { columns = DistributedMatrix<T>(comm, dealt, "heddle::exact::lu"); });
      redistribute(A, columns);
    }
    LuResult result = impl::LuOverRanks<T>(comm, columns, block).factor();
    if (!(A.placement() == dealt)) {
      redistribute(columns, A);
    }
    return result;
  });
}

#define HEDDLE_INSTANTIATE(T) \
  template LuResult lu<T>(const Communicator&, const DistributedMatrix<T>&, const LuOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::exact
