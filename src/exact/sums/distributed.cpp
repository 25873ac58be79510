// Correctly rounded sums, inner products and norms over ranks, and the exact MPI reduction.
#include "comm/reductions.hpp"
#include "core/instantiate.hpp"
#include "exact/products/operand.hpp"
#include "exact/sums/allreduce.hpp"
#include "exact/sums/arithmetic.hpp"
#include "exact/sums/reductions.hpp"
#include "exact/sums/root.hpp"
#include <heddle/exact/distributed.hpp>

#include <algorithm>
#include <complex>
#include <cstring>
#include <utility>
#include <vector>

#ifdef __FAST_MATH__
#error "exact/sums/distributed.cpp needs sums in the order written: no -ffast-math, please"
#endif

namespace heddle::exact {
namespace {

// Returns x_0 + ..., one term per rank, `stride` apart.
template <RealScalar T> T rounded_sum_of(const T* terms, std::size_t stride, int count) {
  Compensated sum;
  for (int k = 0; k < count; ++k) {
    sum.add(static_cast<double>(terms[static_cast<std::size_t>(k) * stride]), 0);
  }
  T rounded;
  if (sum.rounds_to(count, 0, rounded)) {
    return rounded;
  }
  Accumulator<T> exact;
  for (int k = 0; k < count; ++k) {
    exact.add(terms[static_cast<std::size_t>(k) * stride]);
  }
  return exact.value();
}

}  // namespace

namespace impl {

template <RealScalar T>
int allreduce_reals(const void* send, void* receive, std::size_t count, MPI_Comm comm, std::size_t most) {
  auto* const to = static_cast<T*>(receive);
  const T* const from = send == MPI_IN_PLACE ? to : static_cast<const T*>(send);
  const auto sum = [](const void* terms, void* sums, std::size_t share, int ranks) {
    const DefaultArithmetic arithmetic;
    for (std::size_t k = 0; k < share; ++k) {
      static_cast<T*>(sums)[k] = rounded_sum_of(static_cast<const T*>(terms) + k, share, ranks);
    }
  };
  for (std::size_t at = 0; at < count; at += most) {
    const std::size_t piece = std::min(most, count - at);
    const int error = heddle::impl::all_reduce_by_shares(from + at, to + at, piece, sizeof(T), comm, sum);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}
template int allreduce_reals<float>(const void*, void*, std::size_t, MPI_Comm, std::size_t);
template int allreduce_reals<double>(const void*, void*, std::size_t, MPI_Comm, std::size_t);

template <RealScalar T>
void all_reduce_sums(const Communicator& comm, std::span<Accumulator<T>> sums, std::size_t most) {
  while (!sums.empty()) {
    const auto piece = sums.first(std::min(most, sums.size()));
    comm.all_reduce_by(piece, [](const Accumulator<T>& from, Accumulator<T>& to) { to.merge(from); });
    sums = sums.subspan(piece.size());
  }
}
template void all_reduce_sums<float>(const Communicator&, std::span<Accumulator<float>>, std::size_t);
template void all_reduce_sums<double>(const Communicator&, std::span<Accumulator<double>>, std::size_t);

}  // namespace impl

template <RealScalar T> void all_reduce(const Communicator& comm, std::span<Accumulator<T>> sums) {
  impl::all_reduce_sums(comm, sums);
}
template void all_reduce<float>(const Communicator&, std::span<Accumulator<float>>);
template void all_reduce<double>(const Communicator&, std::span<Accumulator<double>>);

int allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Comm comm) {
  const auto is = [&](std::initializer_list<MPI_Datatype> types) {
    return std::find(types.begin(), types.end(), type) != types.end();
  };
  if (count < 0) return MPI_ERR_COUNT;
  const auto elements = static_cast<std::size_t>(count);
  if (is({MPI_FLOAT, MPI_REAL})) {
    return impl::allreduce_reals<float>(send, receive, elements, comm);
  }
  if (is({MPI_DOUBLE, MPI_DOUBLE_PRECISION})) {
    return impl::allreduce_reals<double>(send, receive, elements, comm);
  }
  if (is({MPI_C_FLOAT_COMPLEX, MPI_COMPLEX, MPI_CXX_FLOAT_COMPLEX})) {
    return impl::allreduce_reals<float>(send, receive, 2 * elements, comm);
  }
  if (is({MPI_C_DOUBLE_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_CXX_DOUBLE_COMPLEX})) {
    return impl::allreduce_reals<double>(send, receive, 2 * elements, comm);
  }
  return MPI_ERR_TYPE;
}

namespace compiled {
namespace {

using namespace impl;

// Global state of a sum in twice the precision, the same on every rank.
struct RankSum {
  Compensated sum;
  Index terms = 0;
  Index other_terms = 0;  // Length of the second vector.
};
RankSum merged(const Communicator& comm, const RankSum& mine) {
  std::vector<RankSum> all(static_cast<std::size_t>(comm.size()));
  comm.all_gather(std::span<const RankSum>(&mine, 1), std::span(all));
  RankSum total;
  for (const RankSum& part : all) {
    require(part.terms == part.other_terms, "exact::dot: parts of ", part.terms, " and ", part.other_terms,
            " elements on a rank");
    total.sum.merge(part.sum);
    total.terms += part.terms;
  }
  return total;
}

// Returns the rounded sum of the terms of all ranks; finish(compensated, terms, absolute, result) returns whether it is
// known, exactly(sum) rounds the exact one.
template <RealScalar T, class Terms, class Finish, class Exactly>
T over_ranks(const Communicator& comm, const Terms& terms, Index n, Index other, const Finish& finish,
             const Exactly& exactly) {
  const DefaultArithmetic arithmetic;
  const RankSum mine{n > 0 && n == other ? compensated(comm.space(), terms, n) : Compensated(), n, other};
  const RankSum all = merged(comm, mine);
  T result = 0;
  if (finish(all.sum, additions_in_a_row(all.terms) + 8192 * comm.size(), lost_in<Terms>(all.terms), result)) {
    return result;
  }
  Accumulator<double> sum = accumulated(comm.space(), terms, n);
  exact::all_reduce(comm, std::span<Accumulator<double>>(&sum, 1));
  return exactly(sum);
}

template <RealScalar T, class Terms>
T reduced_over_ranks(const Communicator& comm, const Terms& terms, Index n, Index other) {
  return over_ranks<T>(
      comm, terms, n, other,
      [](const Compensated& sum, Index count, double absolute, T& result) {
        return sum.rounds_to(count, absolute, result);
      },
      [](const Accumulator<double>& sum) { return sum.value<T>(); });
}

}  // namespace

template <Scalar T> T sum(const Communicator& comm, const StridedVector<const T>& x) {
  return comm.together([&] {
    const auto n = static_cast<Index>(x.extent(0));
    std::array<Real<T>, parts_of_scalar<T>> parts;
    for (int p = 0; p < parts_of_scalar<T>; ++p) {
      parts[static_cast<std::size_t>(p)] =
          with_numbers<false>(x, p, [&](const auto& terms) { return reduced_over_ranks<Real<T>>(comm, terms, n, n); });
    }
    return scalar_of<T>(parts);
  });
}

template <Scalar T>
T dot(const Communicator& comm, const StridedVector<const T>& x, const StridedVector<const T>& y, bool conjugated) {
  return comm.together([&] {
    const auto n = static_cast<Index>(x.extent(0)) * terms_per_product<T>;
    const auto other = static_cast<Index>(y.extent(0)) * terms_per_product<T>;
    std::array<Real<T>, parts_of_scalar<T>> parts;
    for (int p = 0; p < parts_of_scalar<T>; ++p) {
      parts[static_cast<std::size_t>(p)] = with_products(
          x.data(), static_cast<Index>(x.stride(0)), y.data(), static_cast<Index>(y.stride(0)), p, conjugated,
          [&](const auto& terms) { return reduced_over_ranks<Real<T>>(comm, terms, n, other); });
    }
    return scalar_of<T>(parts);
  });
}

template <Scalar T> Real<T> nrm2(const Communicator& comm, const StridedVector<const T>& x) {
  return comm.together([&] {
    const auto n = static_cast<Index>(x.extent(0)) * terms_per_product<T>;
    const auto stride = static_cast<Index>(x.stride(0));
    return with_products(x.data(), stride, x.data(), stride, 0, true, [&](const auto& squares) {
      return over_ranks<Real<T>>(
          comm, squares, n, n,
          [](const Compensated& sum, Index count, double absolute, Real<T>& root) {
            return square_root(sum, count, absolute, root);
          },
          [](const Accumulator<double>& sum) { return SquareRoot::of<Real<T>>(sum); });
    });
  });
}

#define HEDDLE_INSTANTIATE(T)                                                                                 \
  template T sum<T>(const Communicator&, const StridedVector<const T>&);                                      \
  template T dot<T>(const Communicator&, const StridedVector<const T>&, const StridedVector<const T>&, bool); \
  template Real<T> nrm2<T>(const Communicator&, const StridedVector<const T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace compiled
}  // namespace heddle::exact
