// Reproducible solution of a distributed triangular system.
#include "core/instantiate.hpp"
#include "dist/arguments.hpp"
#include "exact/sums/arithmetic.hpp"
#include "exact/triangles/rank_rows.hpp"
#include <heddle/exact/distributed.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <vector>

#ifdef __FAST_MATH__
#error "exact/triangles/distributed_trsv.cpp needs sums in the order written: no -ffast-math, please"
#endif

namespace heddle::exact {
namespace impl {
namespace {

// A triangular system whose rows are distributed over the ranks in blocks.
template <Scalar T> class SolveOverRanks {
 public:
  SolveOverRanks(const Communicator& comm, const RankSystem<T>& system, const CyclicAxis& axis)
      : comm_(comm), axis_(axis), lower_(system.lower), rows_(comm.space(), system) {}

  [[nodiscard]] std::vector<T> solve(const std::vector<T>& b) {
    std::vector<T> x(b.size());
    rows_.begin(mine(b));
    const Index blocks = (axis_.extent + axis_.block - 1) / axis_.block;
    for (Index step = 0; step < blocks; ++step) {
      const Index number = lower_ ? step : blocks - 1 - step;
      const Range block{number * axis_.block, std::min((number + 1) * axis_.block, axis_.extent)};
      const int owner = axis_.owner(block.begin);
      T* const found = x.data() + block.begin;
      if (comm_.rank() == owner) {
        rows_.solve({block.begin, block.end, axis_.local(block.begin)}, found);
      }
      comm_.broadcast(std::span<T>(found, static_cast<std::size_t>(block.size())), owner);
      const Range rest = lower_ ? Range{block.end, axis_.extent} : Range{0, block.begin};
      rows_.take_off(block, found, axis_.locals(comm_.rank(), rest));
    }
    return x;
  }
  // Returns b - op(A) x, on every rank.
  [[nodiscard]] std::vector<T> residual(const std::vector<T>& b, const std::vector<T>& x) {
    const auto most = static_cast<std::size_t>(axis_.count(0));
    std::vector<T> part = rows_.residual(mine(b), x, [&](Index i) { return axis_.global(comm_.rank(), i); });
    part.resize(most);
    std::vector<T> parts(most * static_cast<std::size_t>(comm_.size()));
    comm_.all_gather(std::span<const T>(part), std::span<T>(parts));
    std::vector<T> whole(b.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      const auto at = static_cast<Index>(i);
      whole[i] = parts[static_cast<std::size_t>(axis_.owner(at)) * most + static_cast<std::size_t>(axis_.local(at))];
    }
    return whole;
  }

 private:
  [[nodiscard]] std::vector<T> mine(const std::vector<T>& whole) const {
    std::vector<T> part(static_cast<std::size_t>(axis_.count(comm_.rank())));
    for (std::size_t i = 0; i < part.size(); ++i) {
      part[i] = whole[static_cast<std::size_t>(axis_.global(comm_.rank(), static_cast<Index>(i)))];
    }
    return part;
  }

  Communicator comm_;
  CyclicAxis axis_;
  bool lower_;
  RankRows<T> rows_;
};

}  // namespace
}  // namespace impl

template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
void trsv(const Communicator& comm, Triangle triangle, Operation op, Diagonal diagonal, const DistributedMatrix<T>& A,
          std::span<std::type_identity_t<T>> x, int refinements) {
  const Kokkos::Profiling::ScopedRegion region("heddle::exact::trsv");
  comm.together([&] {
    using heddle::impl::argument;
    heddle::impl::require_alike(comm, "exact::trsv",
                                {argument("A", A.placement()), argument("triangle", static_cast<int>(triangle)),
                                 argument("op", static_cast<int>(op)), argument("diagonal", static_cast<int>(diagonal)),
                                 argument("refinements", refinements)},
                                [&] {
                                  heddle::impl::require_same_ranks("exact::trsv", "A", A, comm);
                                  require(A.rows() == A.columns() && A.rows() == static_cast<Index>(x.size()),
                                          "exact::trsv: A is ", A.rows(), " x ", A.columns(), ", x has ", x.size(),
                                          " elements");
                                  require(refinements >= 0, "exact::trsv: ", refinements, " refinements");
                                });
    const Index n = A.rows();
    if (n == 0) {
      return;
    }
    const impl::DefaultArithmetic arithmetic;
    // Whole rows of op(A).
    constexpr Index block = impl::solve_block<T>;
    const bool crossed = op != Operation::none;
    const Placement dealt = crossed ? Placement::block_cyclic(n, n, n, block, 1, comm.size())
                                    : Placement::block_cyclic(n, n, block, n, comm.size(), 1);
    DistributedMatrix<T> rows = A;
    if (!(A.placement() == dealt)) {
      comm.on_each([&] { rows = DistributedMatrix<T>(comm, dealt, "heddle::exact::trsv"); });
      redistribute(A, rows);
    }
    comm.space().fence("heddle::exact::trsv");
    impl::Operand<T> local(op, strided(MatrixView<const T>(rows.local())));
    local.columns = n;
    const bool lower = (triangle == Triangle::lower) == (op == Operation::none);
    impl::SolveOverRanks<T> system(comm, {local, lower, diagonal == Diagonal::unit},
                                   crossed ? dealt.column_axis() : dealt.row_axis());
    const std::vector<T> b(x.begin(), x.end());
    std::vector<T> found = system.solve(b);
    for (int round = 0; round < refinements; ++round) {
      const std::vector<T> correction = system.solve(system.residual(b, found));
      for (std::size_t i = 0; i < found.size(); ++i) {
        found[i] += correction[i];
      }
    }
    std::copy(found.begin(), found.end(), x.begin());
  });
}

#define HEDDLE_INSTANTIATE(T)                                                                                          \
  template void trsv<T>(const Communicator&, Triangle, Operation, Diagonal, const DistributedMatrix<T>&, std::span<T>, \
                        int)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::exact
