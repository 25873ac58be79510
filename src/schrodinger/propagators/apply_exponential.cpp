// Product of a complex matrix in row bands with psi.
#include "schrodinger/propagators/apply_exponential.hpp"

#include "core/elementwise.hpp"

#include <string>

namespace heddle::impl {

namespace {

using Complex = Kokkos::complex<double>;

// Sums over one chunk of columns. On a CPU one item is a block of rows, whose partial sums stay in the L1 cache and
// whose loop vectorises; on a GPU it is one row, so that neighbouring threads read neighbouring elements and a sum
// stays in its register.
struct ChunkSums {
  static constexpr Index rows_per_item = on_host ? 256 : 1;
  Elements<double> real;
  Elements<double> imaginary;
  Index rows;
  Index columns;
  Index blocks;
  DeviceState state;
  LocalMatrix<double> partial_real;
  LocalMatrix<double> partial_imaginary;

  KOKKOS_INLINE_FUNCTION void operator()(Index item) const {
    const Index c = item / blocks;
    const Index begin = c * ApplyExponential::chunk;
    const Index end = begin + ApplyExponential::chunk < columns ? begin + ApplyExponential::chunk : columns;
    const Index first_row = item % blocks * rows_per_item;
    if constexpr (on_host) {
      const Index height = first_row + rows_per_item < rows ? rows_per_item : rows - first_row;
      double* sum_real = &partial_real(first_row, c);
      double* sum_imaginary = &partial_imaginary(first_row, c);
      for (Index i = 0; i < height; ++i) {
        sum_real[i] = 0.0;
        sum_imaginary[i] = 0.0;
      }
      for (Index j = begin; j < end; ++j) {
        const double x = state(j).real();
        const double y = state(j).imag();
        const double* a = &real(first_row, j);
        const double* b = &imaginary(first_row, j);
        for (Index i = 0; i < height; ++i) {
          sum_real[i] += a[i] * x - b[i] * y;
          sum_imaginary[i] += a[i] * y + b[i] * x;
        }
      }
    } else {
      double sum_real = 0.0;
      double sum_imaginary = 0.0;
      for (Index j = begin; j < end; ++j) {
        const Complex z = state(j);
        const double a = real(first_row, j);
        const double b = imaginary(first_row, j);
        sum_real += a * z.real() - b * z.imag();
        sum_imaginary += a * z.imag() + b * z.real();
      }
      partial_real(first_row, c) = sum_real;
      partial_imaginary(first_row, c) = sum_imaginary;
    }
  }
};

void sum_chunks(const ExecutionSpace& space, const SplitMatrix<double>& E, const DeviceState& state,
                const LocalMatrix<double>& partial_real, const LocalMatrix<double>& partial_imaginary) {
  constexpr Index most = ChunkSums::rows_per_item;
  const auto rows = static_cast<Index>(E.real->local().extent(0));
  const auto columns = static_cast<Index>(E.real->local().extent(1));
  const Index blocks = (rows + most - 1) / most;
  Kokkos::parallel_for("heddle::schrodinger::apply_chunks",
                       Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(
                           space, 0, blocks * static_cast<Index>(partial_real.extent(1))),
                       ChunkSums{Elements<double>(E.real->local()), Elements<double>(E.imaginary->local()), rows,
                                 columns, blocks, state, partial_real, partial_imaginary});
}

void sum_rows(const ExecutionSpace& space, const LocalMatrix<double>& partial_real,
              const LocalMatrix<double>& partial_imaginary, const DeviceState& result) {
  const auto rows = static_cast<Index>(partial_real.extent(0));
  const auto chunks = static_cast<Index>(partial_real.extent(1));
  Kokkos::parallel_for(
      "heddle::schrodinger::apply_rows", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, rows),
      KOKKOS_LAMBDA(Index i) {
        double real = 0.0;
        double imaginary = 0.0;
        for (Index c = 0; c < chunks; ++c) {
          real += partial_real(i, c);
          imaginary += partial_imaginary(i, c);
        }
        result(i) = Complex(real, imaginary);
      });
}

auto uninitialised(const ExecutionSpace& space, const char* label) {
  return Kokkos::view_alloc(space, Kokkos::WithoutInitializing, std::string(label));
}

}  // namespace

ApplyExponential::ApplyExponential(const Communicator& comm, Index points) : comm_(comm) {
  const ExecutionSpace& space = comm.space();
  const Index rows = Placement::row_bands(points, points, comm.size()).local_rows(comm.rank());
  const Index chunks = (points + chunk - 1) / chunk;
  partial_real_ = LocalMatrix<double>(uninitialised(space, "heddle::schrodinger::apply_partial_real"), rows, chunks);
  partial_imaginary_ =
      LocalMatrix<double>(uninitialised(space, "heddle::schrodinger::apply_partial_imaginary"), rows, chunks);
}

void ApplyExponential::operator()(const SplitMatrix<double>& E, WaveFunction& psi) {
  const ExecutionSpace& space = comm_.space();
  sum_chunks(space, E, psi.device(), partial_real_, partial_imaginary_);
  sum_rows(space, partial_real_, partial_imaginary_, psi.band());
  psi.assemble();
}

}  // namespace heddle::impl
