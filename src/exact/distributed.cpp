#include "core/instantiate.hpp"
#include "exact/allreduce.hpp"
#include "exact/arithmetic.hpp"
#include "exact/operand.hpp"
#include "exact/reductions.hpp"
#include "exact/root.hpp"
#include <heddle/exact/distributed.hpp>

#include <algorithm>
#include <complex>
#include <cstring>
#include <utility>
#include <vector>

#ifdef __FAST_MATH__
#error "exact/distributed.cpp needs sums in the order written: no -ffast-math, please"
#endif

namespace heddle::exact {
namespace {

// As many bytes as an accumulator has, merged by MPI.
template <RealScalar T> class Merge {
 public:
  Merge() {
    static_assert(std::is_trivially_copyable_v<Accumulator<T>>);
    MPI_Type_contiguous(static_cast<int>(sizeof(Accumulator<T>)), MPI_BYTE, &type_);
    MPI_Type_commit(&type_);
    MPI_Op_create(&merge, 1, &operation_);
  }
  ~Merge() {
    MPI_Op_free(&operation_);
    MPI_Type_free(&type_);
  }
  Merge(const Merge&) = delete;
  Merge& operator=(const Merge&) = delete;
  [[nodiscard]] MPI_Datatype type() const { return type_; }
  [[nodiscard]] MPI_Op operation() const { return operation_; }

 private:
  static void merge(void* from, void* to, int* count, MPI_Datatype* /*type*/) {
    const auto* const one = static_cast<const Accumulator<T>*>(from);
    auto* const other = static_cast<Accumulator<T>*>(to);
    for (int k = 0; k < *count; ++k) {
      other[k].merge(one[k]);
    }
  }
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op operation_ = MPI_OP_NULL;
};

// x_0 + ... of what each rank sent, `stride` apart.
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

// Of `count` elements at `from`, few enough for MPI.
template <RealScalar T> int allreduce_piece(const T* from, T* receive, std::size_t count, MPI_Comm comm) {
  int size = 1;
  int rank = 0;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  const auto ranks = static_cast<std::size_t>(size);
  // Each rank sums a share of the elements.
  std::vector<int> counts(ranks);
  std::vector<int> places(ranks);
  std::vector<int> bytes(ranks);
  std::vector<int> mine(ranks);
  std::vector<int> mine_places(ranks);
  for (std::size_t k = 0; k < ranks; ++k) {
    places[k] = static_cast<int>(count * k / ranks);
    counts[k] = static_cast<int>(count * (k + 1) / ranks) - places[k];
  }
  const auto share = static_cast<std::size_t>(counts[static_cast<std::size_t>(rank)]);
  for (std::size_t k = 0; k < ranks; ++k) {
    mine[k] = static_cast<int>(share);
    mine_places[k] = static_cast<int>(k * share);
  }
  const MPI_Datatype type = sizeof(T) == 8 ? MPI_DOUBLE : MPI_FLOAT;
  std::vector<T> terms(share * ranks);
  if (const int error = MPI_Alltoallv(from, counts.data(), places.data(), type, terms.data(), mine.data(),
                                      mine_places.data(), type, comm);
      error != MPI_SUCCESS) {
    return error;
  }
  std::vector<T> sums(share);
  {
    const impl::DefaultArithmetic arithmetic;
    for (std::size_t k = 0; k < share; ++k) {
      sums[k] = rounded_sum_of(terms.data() + k, share, size);
    }
  }
  return MPI_Allgatherv(sums.data(), static_cast<int>(share), type, receive, counts.data(), places.data(), type, comm);
}

}  // namespace

namespace impl {

template <RealScalar T>
int allreduce_reals(const void* send, void* receive, std::size_t count, MPI_Comm comm, std::size_t most) {
  auto* const to = static_cast<T*>(receive);
  const T* const from = send == MPI_IN_PLACE ? to : static_cast<const T*>(send);
  for (std::size_t at = 0; at < count; at += most) {
    if (const int error = allreduce_piece(from + at, to + at, std::min(most, count - at), comm); error != MPI_SUCCESS) {
      return error;
    }
  }
  return MPI_SUCCESS;
}
template int allreduce_reals<float>(const void*, void*, std::size_t, MPI_Comm, std::size_t);
template int allreduce_reals<double>(const void*, void*, std::size_t, MPI_Comm, std::size_t);

template <RealScalar T>
void all_reduce_sums(const Communicator& comm, std::span<Accumulator<T>> sums, std::size_t most) {
  const Merge<T> merge;
  while (!sums.empty()) {
    const auto piece = sums.first(std::min(most, sums.size()));
    MPI_Allreduce(MPI_IN_PLACE, piece.data(), static_cast<int>(piece.size()), merge.type(), merge.operation(),
                  comm.native());
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

namespace impl {
namespace {

// What every rank knows alike of a sum in twice the precision.
struct Part {
  Compensated sum;
  Index terms = 0;
  Index other_terms = 0;  // Of the second vector.
};
Part merged(const Communicator& comm, const Part& mine) {
  std::vector<Part> all(static_cast<std::size_t>(comm.size()));
  comm.all_gather(std::span<const Part>(&mine, 1), std::span(all));
  Part total;
  for (const Part& part : all) {
    require(part.terms == part.other_terms, "exact::dot: parts of ", part.terms, " and ", part.other_terms,
            " elements on a rank");
    total.sum.merge(part.sum);
    total.terms += part.terms;
  }
  return total;
}

// The rounded sum of the terms of all ranks; finish(compensated, terms, absolute, result) tells whether it is known,
// exactly(sum) rounds the exact one.
template <RealScalar T, class Terms, class Finish, class Exactly>
T over_ranks(const Communicator& comm, const Terms& terms, Index n, Index other, const Finish& finish,
             const Exactly& exactly) {
  const DefaultArithmetic arithmetic;
  const Part mine{n > 0 && n == other ? compensated(comm.space(), terms, n) : Compensated(), n, other};
  const Part all = merged(comm, mine);
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
      [&](const Accumulator<double>& sum) {
        const T value = sum.value<T>();
        if (value != T(0) || sum.sign() != 0) {
          return value;
        }
        // -0 where every term of every rank is, and there is one.
        const Index others = n == 0 ? 0 : all_negative_zeros(comm.space(), terms, n) ? 0 : 1;
        return comm.all_reduce(others, Reduction::maximum) == 0 && comm.all_reduce(n, Reduction::maximum) > 0 ? -T(0)
                                                                                                              : T(0);
      });
}

}  // namespace

template <Scalar T> T sum(const Communicator& comm, const VectorView<const T>& x) {
  const auto n = static_cast<Index>(x.extent(0));
  std::array<Real<T>, parts_of_scalar<T>> parts;
  for (int p = 0; p < parts_of_scalar<T>; ++p) {
    parts[static_cast<std::size_t>(p)] =
        with_numbers<false>(x, p, [&](const auto& terms) { return reduced_over_ranks<Real<T>>(comm, terms, n, n); });
  }
  return scalar_of<T>(parts);
}

template <Scalar T>
T dot(const Communicator& comm, const VectorView<const T>& x, const VectorView<const T>& y, bool conjugated) {
  const auto n = static_cast<Index>(x.extent(0)) * terms_per_product<T>;
  const auto other = static_cast<Index>(y.extent(0)) * terms_per_product<T>;
  std::array<Real<T>, parts_of_scalar<T>> parts;
  for (int p = 0; p < parts_of_scalar<T>; ++p) {
    parts[static_cast<std::size_t>(p)] = with_products(
        x.data(), static_cast<Index>(x.stride(0)), y.data(), static_cast<Index>(y.stride(0)), p, conjugated,
        [&](const auto& terms) { return reduced_over_ranks<Real<T>>(comm, terms, n, other); });
  }
  return scalar_of<T>(parts);
}

template <Scalar T> Real<T> nrm2(const Communicator& comm, const VectorView<const T>& x) {
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
}

#define HEDDLE_INSTANTIATE(T)                                                                           \
  template T sum<T>(const Communicator&, const VectorView<const T>&);                                   \
  template T dot<T>(const Communicator&, const VectorView<const T>&, const VectorView<const T>&, bool); \
  template Real<T> nrm2<T>(const Communicator&, const VectorView<const T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace impl
}  // namespace heddle::exact
