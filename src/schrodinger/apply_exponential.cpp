#include "apply_exponential.hpp"

#include <algorithm>
#include <string>

namespace heddle::impl {

namespace {

using Complex = Kokkos::complex<double>;
using Vector = Kokkos::View<Complex*, MemorySpace>;

// On a CPU one item is a block of rows, whose partial sums stay in the first cache and whose loop vectorises; on a GPU
// it is one row, so that neighbouring threads read neighbouring elements.
constexpr Index rows_per_item =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible ? Index{256} : Index{1};

void sum_chunks(const ExecutionSpace& space, const MatrixView<double>& real, const MatrixView<double>& imaginary,
                const Vector& state, const LocalMatrix<double>& partial_real,
                const LocalMatrix<double>& partial_imaginary) {
  const auto rows = static_cast<Index>(real.extent(0));
  const auto columns = static_cast<Index>(real.extent(1));
  const auto chunks = static_cast<Index>(partial_real.extent(1));
  const Index most = rows_per_item;  // A local copy: device code can't refer to the constant itself.
  const Index blocks = (rows + most - 1) / most;
  Kokkos::parallel_for(
      "heddle::schrodinger::apply_chunks",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, blocks * chunks),
      KOKKOS_LAMBDA(Index item) {
        const Index first_row = item % blocks * most;
        const Index height = Kokkos::min(most, rows - first_row);
        const Index c = item / blocks;
        double* sum_real = &partial_real(first_row, c);
        double* sum_imaginary = &partial_imaginary(first_row, c);
        for (Index i = 0; i < height; ++i) {
          sum_real[i] = 0.0;
          sum_imaginary[i] = 0.0;
        }
        const Index end = Kokkos::min((c + 1) * ApplyExponential::chunk, columns);
        for (Index j = c * ApplyExponential::chunk; j < end; ++j) {
          const double x = state(j).real();
          const double y = state(j).imag();
          const double* a = &real(first_row, j);
          const double* b = &imaginary(first_row, j);
          for (Index i = 0; i < height; ++i) {
            sum_real[i] += a[i] * x - b[i] * y;
            sum_imaginary[i] += a[i] * y + b[i] * x;
          }
        }
      });
}

void sum_rows(const ExecutionSpace& space, const LocalMatrix<double>& partial_real,
              const LocalMatrix<double>& partial_imaginary, const Vector& result) {
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

ApplyExponential::ApplyExponential(const Communicator& comm, Index points) : comm_(comm), points_(points) {
  const ExecutionSpace& space = comm.space();
  const Placement placement = Placement::row_bands(points, points, comm.size());
  const Index rows = placement.local_rows(comm.rank());
  const Index band = placement.row_axis().block;
  const Index chunks = (points + chunk - 1) / chunk;
  partial_real_ = LocalMatrix<double>(uninitialised(space, "heddle::schrodinger::apply_partial_real"), rows, chunks);
  partial_imaginary_ =
      LocalMatrix<double>(uninitialised(space, "heddle::schrodinger::apply_partial_imaginary"), rows, chunks);
  state_ = Vector(uninitialised(space, "heddle::schrodinger::state"), points);
  // All ranks send a full band, so that one all-gather does it; the last ones' padding is never read.
  mine_ = Vector(Kokkos::view_alloc(space, "heddle::schrodinger::state_band"), band);
  host_state_ = HostVector(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::schrodinger::host_state"), points);
  host_mine_ = HostVector(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::schrodinger::host_band"), band);
  gathered_.resize(static_cast<std::size_t>(band * comm.size()));
}

void ApplyExponential::operator()(const SplitMatrix<double>& E, schrodinger::State& state) {
  const ExecutionSpace& space = comm_.space();
  for (Index i = 0; i < points_; ++i) host_state_(i) = Complex(state[i].real(), state[i].imag());
  Kokkos::deep_copy(space, state_, host_state_);
  sum_chunks(space, E.real->local(), E.imaginary->local(), state_, partial_real_, partial_imaginary_);
  sum_rows(space, partial_real_, partial_imaginary_, mine_);
  Kokkos::deep_copy(space, host_mine_, mine_);
  space.fence("heddle::schrodinger::apply");
  comm_.all_gather(std::span<const Complex>(host_mine_.data(), host_mine_.size()), std::span<Complex>(gathered_));
  for (Index i = 0; i < points_; ++i) state[i] = {gathered_[i].real(), gathered_[i].imag()};
}

}  // namespace heddle::impl
