// Column sums and largest elements of distributed matrices, rounded or in integers.
#include "expm/dense/norms.hpp"

#include "core/elementwise.hpp"
#include "core/on_host.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace heddle::impl {
namespace {

// Reducer in the form that Kokkos requires for a team.
template <class Operation> struct TeamReducer {
  using reducer = TeamReducer;
  using value_type = typename Operation::Value;
  using result_view_type = Kokkos::View<value_type, Kokkos::AnonymousSpace, Kokkos::MemoryUnmanaged>;

  KOKKOS_INLINE_FUNCTION explicit TeamReducer(value_type& result) : result_(&result) {}
  KOKKOS_INLINE_FUNCTION void init(value_type& value) const { value = value_type{}; }
  KOKKOS_INLINE_FUNCTION void join(value_type& into, const value_type& other) const { Operation::join(into, other); }
  KOKKOS_INLINE_FUNCTION value_type& reference() const { return *result_; }
  KOKKOS_INLINE_FUNCTION result_view_type view() const { return result_view_type(result_); }
  KOKKOS_INLINE_FUNCTION bool references_scalar() const { return true; }

 private:
  value_type* result_;
};

// operation.store(j, result of operation.add() over column j). On GPUs a team takes a column, and neighbouring threads
// neighbouring elements; on CPUs a column has several sums, so that its loop vectorises.
template <class T, class Operation>
void reduce_columns(const ExecutionSpace& space, const std::string& label, const MatrixView<const T>& matrix,
                    const Operation& operation) {
  using Value = typename Operation::Value;
  const Elements<const T> a(matrix);
  const auto rows = static_cast<Index>(matrix.extent(0));
  const auto columns = static_cast<Index>(matrix.extent(1));
  if (columns == 0) {
    return;
  }
  if constexpr (on_host) {
    constexpr Index lanes = 8;
    Kokkos::parallel_for(
        label, Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, columns),
        KOKKOS_LAMBDA(Index j) {
          Value values[lanes] = {};
          const Index whole = rows - rows % lanes;
          for (Index i = 0; i < whole; i += lanes) {
            for (Index lane = 0; lane < lanes; ++lane) {
              operation.add(values[lane], a(i + lane, j));
            }
          }
          for (Index i = whole; i < rows; ++i) {
            operation.add(values[0], a(i, j));
          }
          for (Index lane = 1; lane < lanes; ++lane) {
            Operation::join(values[0], values[lane]);
          }
          operation.store(j, values[0]);
        });
  } else {
    using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
    Kokkos::parallel_for(
        label, Policy(space, static_cast<int>(columns), Kokkos::AUTO),
        KOKKOS_LAMBDA(const typename Policy::member_type& team) {
          Value value{};
          Kokkos::parallel_reduce(
              Kokkos::TeamThreadRange(team, rows),
              [&](Index i, Value& part) { operation.add(part, a(i, team.league_rank())); },
              TeamReducer<Operation>(value));
          Kokkos::single(Kokkos::PerTeam(team), [&] { operation.store(team.league_rank(), value); });
        });
  }
}

// The bits of nonnegative numbers rise with them, and those of NaN are last: the largest is NaN if any is.
template <RealScalar T> struct SumAndLargest {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  struct Value {
    T sum = 0;
    Bits largest = 0;
  };
  Kokkos::View<double*, MemorySpace> seen;
  Index columns;

  KOKKOS_INLINE_FUNCTION void add(Value& value, T element) const {
    const T size = Kokkos::abs(element);
    const Bits bits = Kokkos::bit_cast<Bits>(size);
    value.sum += size;
    value.largest = bits > value.largest ? bits : value.largest;
  }
  KOKKOS_INLINE_FUNCTION static void join(Value& into, const Value& other) {
    into.sum += other.sum;
    into.largest = other.largest > into.largest ? other.largest : into.largest;
  }
  KOKKOS_INLINE_FUNCTION void store(Index j, const Value& value) const {
    seen(j) = static_cast<double>(value.sum);
    seen(columns + j) = static_cast<double>(Kokkos::bit_cast<T>(value.largest));
  }
};

// Sum of |a| / unit, each rounded up. The power of two comes as two factors, which don't overflow.
template <RealScalar T> struct SumOfSteps {
  using Value = Index;
  Kokkos::View<Index*, MemorySpace> steps;
  double factor;
  double second_factor;

  KOKKOS_INLINE_FUNCTION void add(Index& value, T element) const {
    value += static_cast<Index>(Kokkos::ceil(static_cast<double>(Kokkos::abs(element)) * factor * second_factor));
  }
  KOKKOS_INLINE_FUNCTION static void join(Index& into, const Index& other) { into += other; }
  KOKKOS_INLINE_FUNCTION void store(Index j, const Index& value) const { steps(j) = value; }
};

}  // namespace

template <RealScalar T>
ColumnNorms<T>::ColumnNorms(const Communicator& comm, const Placement& placement)
    : comm_(comm),
      seen_(Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, "heddle::expm::column_sums"),
            2 * placement.local_columns(comm.rank())),
      host_seen_(pinned_mirror(seen_)),
      steps_(Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, "heddle::expm::column_steps"),
             placement.local_columns(comm.rank())),
      host_steps_(pinned_mirror(steps_)),
      all_sums_(static_cast<std::size_t>(placement.columns())),
      all_steps_(static_cast<std::size_t>(placement.columns())) {}

template <RealScalar T> typename ColumnNorms<T>::Seen ColumnNorms<T>::measure(const DistributedMatrix<T>& A) {
  const ExecutionSpace& space = comm_.space();
  const auto columns = static_cast<Index>(A.local().extent(1));
  reduce_columns<T>(space, "heddle::expm::column_sums", A.local(), SumAndLargest<T>{seen_, columns});
  Kokkos::deep_copy(space, host_seen_, seen_);
  space.fence("heddle::expm::column_sums");
  std::fill(all_sums_.begin(), all_sums_.end(), 0.0);
  Index largest = 0;
  for (Index j = 0; j < columns; ++j) {
    all_sums_[static_cast<std::size_t>(A.global_column(j))] = host_seen_(j);
    largest = std::max(largest, std::bit_cast<Index>(host_seen_(columns + j)));
  }
  comm_.all_reduce(std::span<double>(all_sums_), Reduction::sum);
  Seen seen{0.0, std::bit_cast<double>(comm_.all_reduce(largest, Reduction::maximum))};
  for (const double sum : all_sums_) {
    seen.one = std::isnan(sum) || sum > seen.one ? sum : seen.one;
    if (std::isnan(seen.one)) {
      break;
    }
  }
  return seen;
}

template <RealScalar T> double ColumnNorms<T>::reproducible_bound(const DistributedMatrix<T>& A, double largest) {
  if (largest == 0.0 || !std::isfinite(largest)) {
    return largest;
  }
  // 2^40 steps in a value up to 2^exponent: sums of 2^22 of them fit in 63 bits.
  int exponent = 0;
  std::frexp(largest, &exponent);
  const int scale = 40 - exponent;
  const ExecutionSpace& space = comm_.space();
  reduce_columns<T>(space, "heddle::expm::column_steps", A.local(),
                    SumOfSteps<T>{steps_, std::ldexp(1.0, scale / 2), std::ldexp(1.0, scale - scale / 2)});
  Kokkos::deep_copy(space, host_steps_, steps_);
  space.fence("heddle::expm::column_steps");
  std::fill(all_steps_.begin(), all_steps_.end(), 0);
  for (std::size_t j = 0; j < host_steps_.extent(0); ++j) {
    all_steps_[static_cast<std::size_t>(A.global_column(static_cast<Index>(j)))] = host_steps_(j);
  }
  comm_.all_reduce(std::span<Index>(all_steps_), Reduction::sum);
  return all_steps_.empty() ? 0.0
                            : static_cast<double>(*std::max_element(all_steps_.begin(), all_steps_.end())) *
                                  std::ldexp(1.0, exponent - 40);
}

template <RealScalar T> double ColumnNorms<T>::bound_of(const Parts<T>& A) {
  double bound = 0.0;
  for (const SharedMatrix<T>* part : {&A.real, &A.imaginary}) {
    if (*part) bound += reproducible_bound(**part, measure(**part).largest);
  }
  return bound;
}

template class ColumnNorms<float>;
template class ColumnNorms<double>;

}  // namespace heddle::impl
