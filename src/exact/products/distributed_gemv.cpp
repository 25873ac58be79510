// Correctly rounded product of a distributed matrix and a vector.
#include "core/instantiate.hpp"
#include "dist/arguments.hpp"
#include "exact/products/columns.hpp"
#include "exact/products/local_products.hpp"
#include <heddle/exact/distributed.hpp>

#include <algorithm>
#include <vector>

#ifdef __FAST_MATH__
#error "exact/products/distributed_gemv.cpp needs sums in the order written: no -ffast-math, please"
#endif

namespace heddle::exact {

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
    const impl::LocalProducts<T> products(comm.space(), local.block(0, 0, rows, static_cast<Index>(part.size())), part);
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
      impl::add_over_ranks(comm, std::span(exact));
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
