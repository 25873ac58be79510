// Tests for symmetry, triangles and zero parts, and diagonals of matrices and of exponentials of triangular ones.
#include "expm/dense/structure.hpp"

#include "core/complex_exponential.hpp"
#include "core/instantiate.hpp"
#include "dist/transposed_block.hpp"
#include "libm/functions.hpp"

#include <cmath>
#include <limits>

namespace heddle::impl {
namespace {

enum Seen : int { above = 1, below = 2, asymmetric = 4, not_antisymmetric = 8, on_diagonal = 16 };

// Compare blocks of A's row band with those across the diagonal, which are in its column band; both are read down
// columns.
template <class T> struct Inspect {
  Elements<T> rows;
  Elements<T> columns;
  Index first_row;
  Index height;
  Index n;
  Index blocks_high;

  KOKKOS_INLINE_FUNCTION void operator()(const BlockTeams::member_type& team, int& seen) const {
    const Index i0 = team.league_rank() % blocks_high * block_edge;
    const Index j0 = team.league_rank() / blocks_high * block_edge;
    const int high = static_cast<int>(Kokkos::min(height - i0, Index{block_edge}));
    const int wide = static_cast<int>(Kokkos::min(n - j0, Index{block_edge}));
    const TransposedBlock<T> across = transposed_block(team, columns, j0, i0, wide, high);
    int found = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, wide),
        [&](int j, int& mine) {
          int in_column = 0;
          Kokkos::parallel_reduce(
              Kokkos::ThreadVectorRange(team, high),
              [&](int i, int& part) {
                const T value = rows(i0 + i, j0 + j);
                const T other = across(j, i);
                const Index right = (j0 + j) - (first_row + i0 + i);
                part |= (value != T(0) && right > 0 ? above : 0) | (value != T(0) && right < 0 ? below : 0) |
                        (value != T(0) && right == 0 ? on_diagonal : 0) | (value != other ? asymmetric : 0) |
                        (value != -other ? not_antisymmetric : 0);
              },
              Kokkos::BOr<int>(in_column));
          mine |= in_column;
        },
        Kokkos::BOr<int>(found));
    Kokkos::single(Kokkos::PerTeam(team), [&] { seen |= found; });
  }
};

template <RealScalar T>
int inspect(const Communicator& comm, const SharedMatrix<T>& A, const SharedMatrix<T>& columns) {
  int seen = 0;
  if (A->local().size() > 0) {
    const auto height = static_cast<Index>(A->local().extent(0));
    const Index high = (height + block_edge - 1) / block_edge;
    const Index wide = (A->columns() + block_edge - 1) / block_edge;
    Kokkos::parallel_reduce("heddle::expm::inspect", block_teams<T>(comm.space(), high * wide),
                            Inspect<T>{Elements<T>(A->local()), Elements<T>(columns->local()), A->global_row(0), height,
                                       A->columns(), high},
                            Kokkos::BOr<int>(seen));
  }
  int all = 0;
  for (const int flag : {above, below, asymmetric, not_antisymmetric, on_diagonal}) {
    all |= comm.all_reduce((seen & flag) != 0 ? 1 : 0, Reduction::maximum) != 0 ? flag : 0;
  }
  return all;
}

// Divided difference of exp: (exp(b) - exp(a)) / (b - a), without cancellation if a and b are near.
std::complex<double> divided_difference(std::complex<double> a, std::complex<double> b) {
  const std::complex<double> half = (b - a) / 2.0;
  const std::complex<double> middle = exponential((a + b) / 2.0);
  if (libm::hypot(half.real(), half.imag()) < 1.0) {
    // sinh(x) / x.
    const std::complex<double> square = half * half;
    std::complex<double> term = 1.0;
    std::complex<double> sum = 1.0;
    for (int k = 1; k <= 10; ++k) {
      term *= square / (2.0 * k * (2.0 * k + 1.0));
      sum += term;
    }
    return middle * sum;
  }
  return (exponential(b) - exponential(a)) / (b - a);
}

}  // namespace

template <RealScalar T> Structure structure_of(const Communicator& comm, const Parts<T>& A, const Parts<T>& columns) {
  const int real = A.real ? inspect(comm, A.real, columns.real) : 0;
  const int imaginary = A.imaginary ? inspect(comm, A.imaginary, columns.imaginary) : 0;
  Structure structure;
  structure.upper = ((real | imaginary) & below) == 0;
  structure.lower = ((real | imaginary) & above) == 0;
  structure.real_is_zero = (real & (above | below | on_diagonal)) == 0;
  structure.imaginary_is_zero = (imaginary & (above | below | on_diagonal)) == 0;
  if ((real & asymmetric) == 0 && (imaginary & not_antisymmetric) == 0) {
    structure.symmetry = Symmetry::hermitian;
  } else if ((real & not_antisymmetric) == 0 && (imaginary & asymmetric) == 0) {
    structure.symmetry = Symmetry::skew_hermitian;
  }
  return structure;
}

template <Scalar T>
std::vector<std::complex<double>> diagonal_of(const Communicator& comm, const DistributedMatrix<T>& A, Index offset) {
  std::vector<std::complex<double>> values(static_cast<std::size_t>(A.rows()));
  if (A.local().size() > 0) {
    const Elements<T> from(A.local());
    const auto height = static_cast<Index>(A.local().extent(0));
    const Index first = A.global_row(0);
    const Index columns = A.columns();
    const Kokkos::View<T*, MemorySpace> mine(
        Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, "heddle::expm::diagonal"),
        static_cast<std::size_t>(height));
    Kokkos::parallel_for(
        "heddle::expm::diagonal",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(comm.space(), 0, height), KOKKOS_LAMBDA(Index i) {
          const Index j = first + i + offset;
          mine(i) = j >= 0 && j < columns ? from(i, j) : T(0);
        });
    const auto host = Kokkos::create_mirror_view(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, Kokkos::SharedHostPinnedSpace{}), mine);
    Kokkos::deep_copy(comm.space(), host, mine);
    comm.space().fence("heddle::expm::diagonal");
    for (Index i = 0; i < height; ++i) {
      values[static_cast<std::size_t>(first + i)] = {static_cast<double>(Kokkos::real(host(i))),
                                                     static_cast<double>(Kokkos::imag(host(i)))};
    }
  }
  // Each value is nonzero on at most one rank.
  comm.all_reduce(std::span<double>(reinterpret_cast<double*>(values.data()), 2 * values.size()), Reduction::sum);
  return values;
}

template <RealScalar T>
std::vector<std::complex<double>> diagonal_of(const Communicator& comm, const Parts<T>& A, Index offset) {
  std::vector<std::complex<double>> values = diagonal_of(comm, A.real ? *A.real : *A.imaginary, offset);
  if (A.imaginary) {
    const std::vector<std::complex<double>> imaginary = A.real ? diagonal_of(comm, *A.imaginary, offset) : values;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = {A.real ? values[i].real() : 0.0, imaginary[i].real()};
  }
  return values;
}

template <RealScalar T> std::complex<double> mean_eigenvalue(const Communicator& comm, const Parts<T>& A) {
  // Summed on every rank in the same order, for any placement.
  const std::vector<std::complex<double>> values = diagonal_of(comm, A, 0);
  std::complex<double> mean;
  for (const std::complex<double>& value : values) mean += value / static_cast<double>(values.size());
  return {static_cast<double>(static_cast<T>(mean.real())), static_cast<double>(static_cast<T>(mean.imag()))};
}

template <RealScalar T>
void set_diagonal(const Communicator& comm, WorkParts<T>& A, Index offset,
                  const std::vector<std::complex<double>>& values) {
  for (const bool real : {true, false}) {
    WorkMatrix<T>& part = real ? A.real : A.imaginary;
    if (!part || part.read()->local().size() == 0) {
      continue;
    }
    const DistributedMatrix<T>& written = part.write();
    const Elements<T> to(written.local());
    const auto height = static_cast<Index>(written.local().extent(0));
    const Index first = written.global_row(0);
    const Index columns = written.columns();
    std::vector<T> mine;
    for (Index i = 0; i < height; ++i) {
      const std::complex<double>& value = values[static_cast<std::size_t>(first + i)];
      mine.push_back(static_cast<T>(real ? value.real() : value.imag()));
    }
    const Kokkos::View<T*, MemorySpace> from(
        Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, "heddle::expm::diagonal"), mine.size());
    Kokkos::deep_copy(comm.space(), from, Kokkos::View<const T*, Kokkos::HostSpace>(mine.data(), mine.size()));
    comm.space().fence("heddle::expm::diagonal");
    Kokkos::parallel_for(
        "heddle::expm::set_diagonal",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(comm.space(), 0, height), KOKKOS_LAMBDA(Index i) {
          const Index j = first + i + offset;
          if (j >= 0 && j < columns) to(i, j) = from(i);
        });
  }
}

template <RealScalar T>
TriangularDiagonals::TriangularDiagonals(const Communicator& comm, const Parts<T>& A, const Structure& structure,
                                         std::complex<double> shift)
    : offset_(structure.upper ? 1 : -1), diagonal_(diagonal_of(comm, A, 0)), beside_(diagonal_of(comm, A, offset_)) {
  for (std::complex<double>& value : diagonal_) value += shift;
}

template <RealScalar T>
void TriangularDiagonals::correct(const Communicator& comm, int halvings, WorkParts<T>& E) const {
  const double scale = std::ldexp(1.0, -halvings);
  const std::size_t n = diagonal_.size();
  std::vector<std::complex<double>> diagonal(n);
  std::vector<std::complex<double>> beside(n);
  for (std::size_t i = 0; i < n; ++i) {
    diagonal[i] = exponential(scale * diagonal_[i]);
    const std::size_t j = i + static_cast<std::size_t>(offset_);
    if (j < n && beside_[i] != 0.0) {
      beside[i] = scale * beside_[i] * divided_difference(scale * diagonal_[i], scale * diagonal_[j]);
    }
  }
  set_diagonal(comm, E, 0, diagonal);
  set_diagonal(comm, E, offset_, beside);
}

#define HEDDLE_INSTANTIATE(T)                                                                                         \
  template Structure structure_of<T>(const Communicator&, const Parts<T>&, const Parts<T>&);                          \
  template std::vector<std::complex<double>> diagonal_of(const Communicator&, const Parts<T>&, Index);                \
  template std::complex<double> mean_eigenvalue(const Communicator&, const Parts<T>&);                                \
  template void set_diagonal<T>(const Communicator&, WorkParts<T>&, Index, const std::vector<std::complex<double>>&); \
  template TriangularDiagonals::TriangularDiagonals(const Communicator&, const Parts<T>&, const Structure&,           \
                                                    std::complex<double>);                                            \
  template void TriangularDiagonals::correct<T>(const Communicator&, int, WorkParts<T>&) const
HEDDLE_INSTANTIATE(float);
HEDDLE_INSTANTIATE(double);
#undef HEDDLE_INSTANTIATE
#define HEDDLE_INSTANTIATE(T) \
  template std::vector<std::complex<double>> diagonal_of(const Communicator&, const DistributedMatrix<T>&, Index)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
