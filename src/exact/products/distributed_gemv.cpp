// Correctly rounded product of a distributed matrix and a vector.
#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "dist/arguments.hpp"
#include "exact/products/columns.hpp"
#include "exact/products/device.hpp"
#include "exact/sums/chunks.hpp"
#include <heddle/exact/distributed.hpp>

#include <algorithm>
#include <vector>

#ifdef __FAST_MATH__
#error "exact/products/distributed_gemv.cpp needs sums in the order written: no -ffast-math, please"
#endif

namespace heddle::exact {
namespace {

using heddle::impl::on_host;

struct EveryRow {
  KOKKOS_INLINE_FUNCTION Index operator()(Index k) const { return k; }
};
struct ListedRows {
  Kokkos::View<Index*, MemorySpace> list;
  KOKKOS_INLINE_FUNCTION Index operator()(Index k) const { return list(k); }
};

// This rank's part of op(A) x: sums over its columns, for its rows.
template <Scalar T> class LocalProducts {
 public:
  LocalProducts(const ExecutionSpace& space, const impl::Operand<T>& A, const std::vector<T>& x)
      : space_(space), A_(A), x_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::x"), x.size()) {
    Kokkos::deep_copy(space, x_, Kokkos::View<const T*, Kokkos::HostSpace>(x.data(), x.size()));
    space.fence("heddle::exact::gemv");
  }

  [[nodiscard]] std::vector<impl::InnerSum<T>> compensated() const {
    return of_rows<impl::InnerSum<T>>(A_.rows, EveryRow());
  }
  [[nodiscard]] std::vector<impl::ExactSum<T>> exact(const std::vector<Index>& rows) const {
    const Kokkos::View<Index*, MemorySpace> list(
        Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "heddle::exact::rows"), rows.size());
    Kokkos::deep_copy(space_, list, Kokkos::View<const Index*, Kokkos::HostSpace>(rows.data(), rows.size()));
    space_.fence("heddle::exact::gemv");
    return of_rows<impl::ExactSum<T>>(static_cast<Index>(rows.size()), ListedRows{list});
  }

 private:
  // Returns the sums of rows row(0), ..., row(count - 1).
  template <class Sum, class Row> [[nodiscard]] std::vector<Sum> of_rows(Index count, const Row& row) const {
    constexpr bool is_exact = std::is_same_v<Sum, impl::ExactSum<T>>;
    std::vector<Sum> sums(static_cast<std::size_t>(count));
    const impl::Operand<T> A = A_;
    const auto x = x_;
    if constexpr (on_host) {
      const impl::RowSums<T> rows(A, x.data());
      impl::for_each_chunk(space_, "heddle::exact::gemv", 0, count, 16, true, [&](Index first, Index last) {
        for (Index k = first; k < last; ++k) {
          if constexpr (is_exact) {
            sums[static_cast<std::size_t>(k)] = rows.exact(row(k), 0, A.columns);
          } else {
            sums[static_cast<std::size_t>(k)] = rows.compensated(row(k), 0, A.columns);
          }
        }
      });
    } else {
      const Kokkos::View<Sum*, MemorySpace> found(
          Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "heddle::exact::sums"),
          static_cast<std::size_t>(count));
      impl::device_rows(space_, A, x, count, row, found);
      Kokkos::deep_copy(
          space_, Kokkos::View<Sum*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(sums.data(), sums.size()), found);
      space_.fence("heddle::exact::gemv");
    }
    return sums;
  }

  ExecutionSpace space_;
  impl::Operand<T> A_;
  Kokkos::View<T*, MemorySpace> x_;
};

}  // namespace

template <Scalar T>
void gemv(const Communicator& comm, Operation op, std::type_identity_t<T> alpha, const DistributedMatrix<T>& A,
          std::span<const std::type_identity_t<T>> x, std::type_identity_t<T> beta,
          std::span<std::type_identity_t<T>> y) {
  comm.together([&] {
    heddle::impl::require_same_ranks("exact::gemv", "A", A, comm);
    const bool crossed = op != Operation::none;
    const auto m = static_cast<std::size_t>(crossed ? A.columns() : A.rows());
    const auto n = static_cast<std::size_t>(crossed ? A.rows() : A.columns());
    require(x.size() == n && y.size() == m, "exact::gemv: op(A) is ", m, " x ", n, ", x has ", x.size(),
            " elements, y has ", y.size());
    if (m == 0) {
      return;
    }
    const impl::DefaultArithmetic arithmetic;
    const bool nothing = alpha == T(0) || n == 0;
    const impl::Update<T> update{nothing ? T(1) : alpha, beta};
    const impl::Operand<T> local(op, strided(MatrixView<const T>(A.local())));
    const auto row_of = [&](Index k) {
      return static_cast<std::size_t>(crossed ? A.global_column(k) : A.global_row(k));
    };
    const Index rows = nothing || A.local().size() == 0 ? 0 : local.rows;
    std::vector<T> part(rows == 0 ? 0 : static_cast<std::size_t>(local.columns));
    for (std::size_t k = 0; k < part.size(); ++k) {
      const auto at = static_cast<Index>(k);
      part[k] = x[static_cast<std::size_t>(crossed ? A.global_row(at) : A.global_column(at))];
    }
    const LocalProducts<T> products(comm.space(), local.block(0, 0, rows, static_cast<Index>(part.size())), part);
    // Every rank merges the sums in order of rank.
    std::vector<impl::InnerSum<T>> mine(m);
    const std::vector<impl::InnerSum<T>> sums = products.compensated();
    for (Index k = 0; k < rows; ++k) {
      mine[row_of(k)] = sums[static_cast<std::size_t>(k)];
    }
    std::vector<impl::InnerSum<T>> all(m * static_cast<std::size_t>(comm.size()));
    comm.all_gather(std::span<const impl::InnerSum<T>>(mine), std::span(all));
    std::vector<std::size_t> unknown;
    const Index terms = static_cast<Index>(n) + 64 * comm.size();
    for (std::size_t i = 0; i < m; ++i) {
      impl::InnerSum<T> sum;
      for (std::size_t rank = 0; rank < static_cast<std::size_t>(comm.size()); ++rank) {
        sum.merge(all[rank * m + i]);
      }
      T result;
      if (update.rounds_to(sum, terms, y[i], result)) {
        y[i] = result;
      } else {
        unknown.push_back(i);
      }
    }
    // The remaining rows exactly, some at a time.
    constexpr std::size_t at_once = 1024;
    for (std::size_t begin = 0; begin < unknown.size(); begin += at_once) {
      const std::size_t count = std::min(at_once, unknown.size() - begin);
      std::vector<Index> wanted;
      std::vector<std::size_t> places;
      for (Index k = 0; k < rows; ++k) {
        const auto first = unknown.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto found = std::lower_bound(first, first + static_cast<std::ptrdiff_t>(count), row_of(k));
        if (found != first + static_cast<std::ptrdiff_t>(count) && *found == row_of(k)) {
          wanted.push_back(k);
          places.push_back(static_cast<std::size_t>(found - first));
        }
      }
      std::vector<impl::ExactSum<T>> exact(count);
      const std::vector<impl::ExactSum<T>> local_sums = products.exact(wanted);
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        exact[places[k]] = local_sums[k];
      }
      for (int p = 0; p < impl::parts_of_scalar<T>; ++p) {
        std::vector<Accumulator<double>> accumulators(count);
        for (std::size_t k = 0; k < count; ++k) {
          accumulators[k] = exact[k].part[p];
        }
        all_reduce(comm, std::span(accumulators));
        for (std::size_t k = 0; k < count; ++k) {
          exact[k].part[p] = accumulators[k];
        }
      }
      for (std::size_t k = 0; k < count; ++k) {
        T& result = y[unknown[begin + k]];
        result = update.exactly(exact[k], result);
      }
    }
  });
}

#define HEDDLE_INSTANTIATE(T)                                                                                  \
  template void gemv<T>(const Communicator&, Operation, T, const DistributedMatrix<T>&, std::span<const T>, T, \
                        std::span<T>)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::exact
