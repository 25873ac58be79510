#include "expm/dense/lu.hpp"

#include "core/instantiate.hpp"
#include "core/on_host.hpp"
#include "dist/elementwise.hpp"

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <limits>
#include <string>

// gfortran's convention: everything by reference, the lengths of character arguments by value at the end.
extern "C" {
void sgetrf_(const int*, const int*, void*, const int*, int*, int*);
void dgetrf_(const int*, const int*, void*, const int*, int*, int*);
void cgetrf_(const int*, const int*, void*, const int*, int*, int*);
void zgetrf_(const int*, const int*, void*, const int*, int*, int*);
void strtri_(const char*, const char*, const int*, void*, const int*, int*, std::size_t, std::size_t);
void dtrtri_(const char*, const char*, const int*, void*, const int*, int*, std::size_t, std::size_t);
void ctrtri_(const char*, const char*, const int*, void*, const int*, int*, std::size_t, std::size_t);
void ztrtri_(const char*, const char*, const int*, void*, const int*, int*, std::size_t, std::size_t);
}

namespace heddle::impl {
namespace {

template <Scalar T> constexpr auto* fortran_getrf = &dgetrf_;
template <> constexpr auto* fortran_getrf<float> = &sgetrf_;
template <> constexpr auto* fortran_getrf<Kokkos::complex<float>> = &cgetrf_;
template <> constexpr auto* fortran_getrf<Kokkos::complex<double>> = &zgetrf_;
template <Scalar T> constexpr auto* fortran_trtri = &dtrtri_;
template <> constexpr auto* fortran_trtri<float> = &strtri_;
template <> constexpr auto* fortran_trtri<Kokkos::complex<float>> = &ctrtri_;
template <> constexpr auto* fortran_trtri<Kokkos::complex<double>> = &ztrtri_;

// Not functions of the number of ranks, which would then show in the bits. On CPUs OpenBLAS's products are nearly as
// fast with these as with whole matrices, and what a panel costs beside them is small.
constexpr Index panel_width = on_host ? 64 : 128;
constexpr Index block_width = on_host ? 128 : 512;

template <class View> auto first(const View& view, Index count) {
  return Kokkos::subview(view, Kokkos::pair<Index, Index>(0, count));
}

// Interchanges rows i and pivots(i), i = 0 ... extent of `top`, in turn, of each column; the first rows go to `top`,
// and what they leave in `a` is not defined.
template <Scalar T>
void take_pivot_rows(const ExecutionSpace& space, const MatrixView<T>& matrix,
                     const Kokkos::View<int*, MemorySpace>& pivots, const MatrixView<T>& taken) {
  const Elements<T> a(matrix);
  const Elements<T> top(taken);
  const auto count = static_cast<Index>(taken.extent(0));
  Kokkos::parallel_for(
      "heddle::expm::lu_swap_rows",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, static_cast<Index>(taken.extent(1))),
      KOKKOS_LAMBDA(Index j) {
        for (Index i = 0; i < count; ++i) {
          const Index from = pivots(i);
          const T kept = a(i, j);
          top(i, j) = a(from, j);
          a(from, j) = kept;
        }
      });
}

}  // namespace

template <Scalar T>
LuSolver<T>::LuSolver(const Communicator& comm, Index n)
    : comm_(comm),
      context_(comm.space()),
      n_(n),
      placement_(Placement::block_cyclic(n, n, std::max<Index>(n, 1), block_width, 1, comm.size())) {
  require(n <= std::numeric_limits<int>::max(), "LU: n = ", n, " is beyond the host LAPACK's integers");
  const auto elements = [&](const std::string& label, Index count) {
    return Kokkos::View<T*, MemorySpace>(Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, label), count);
  };
  panel_ = elements("heddle::expm::lu_panel", (n + panel_width) * panel_width);
  host_panel_ = pinned_mirror(panel_);
  inverses_ = elements("heddle::expm::lu_inverses", (n + panel_width - 1) / panel_width * panel_width * panel_width);
  top_ = elements("heddle::expm::lu_block_row", panel_width * placement_.column_axis().block);
  pivots_ = Kokkos::View<int*, MemorySpace>(
      Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, "heddle::expm::lu_pivots"), panel_width + 1);
  host_pivots_ = pinned_mirror(pivots_);
}

template <Scalar T> MatrixView<T> LuSolver<T>::inverse_of_upper(Range panel) const {
  return matrix_view(inverses_.data() + panel.begin * panel_width, panel.size(), panel.size(), panel.size());
}

template <Scalar T>
template <class Body>
void LuSolver<T>::for_each_block(const MatrixView<T>& matrix, Index first, const Body& body) const {
  // A rank's blocks are whole but for the matrix's last.
  const Index block = placement_.column_axis().block;
  const auto columns = static_cast<Index>(matrix.extent(1));
  for (Index begin = first; begin < columns;) {
    const Index end = std::min((begin / block + 1) * block, columns);
    body(block_of(matrix, 0, n_, begin, end));
    begin = end;
  }
}

template <Scalar T> void LuSolver<T>::factor_on_host(Range panel) {
  const auto width = static_cast<int>(panel.size());
  const auto height = static_cast<int>(n_ - panel.begin);
  T* const upper = host_panel_.data();
  T* const lower = upper + width * width;
  int& info = host_pivots_(width);
  fortran_getrf<T>(&height, &width, lower, &height, host_pivots_.data(), &info);
  if (info != 0) {
    return;
  }
  const auto at = [&](int i, int j) -> T& { return lower[i + static_cast<Index>(j) * height]; };
  for (int j = 0; j < width; ++j) {
    --host_pivots_(j);  // Fortran counts from one
    for (int i = 0; i < width; ++i) {
      upper[i + j * width] = i <= j ? at(i, j) : T(0);
      at(i, j) = i > j ? at(i, j) : i == j ? T(1) : T(0);
    }
  }
  fortran_trtri<T>("U", "N", &width, upper, &width, &info, 1, 1);
  fortran_trtri<T>("L", "U", &width, lower, &height, &info, 1, 1);
}

template <Scalar T> void LuSolver<T>::share(int owner, Index count) {
  if (count == 0) {
    return;
  }
  comm_.broadcast(std::span<T>(host_panel_.data(), static_cast<std::size_t>(count)), owner);
  Kokkos::deep_copy(comm_.space(), first(panel_, count), first(host_panel_, count));
  // The next one needs the host's buffer.
  comm_.space().fence("heddle::expm::lu_panel");
}

template <Scalar T> void LuSolver<T>::eliminate(Range panel) {
  const ExecutionSpace& space = comm_.space();
  const Index width = panel.size();
  const Index height = n_ - panel.begin;
  const int owner = placement_.column_axis().owner(panel.begin);
  const MatrixView<T> lower = matrix_view(panel_.data() + width * width, height, width, height);
  if (comm_.rank() == owner) {
    const Range mine = placement_.local_columns(owner, panel);
    copy_elements<T>(space, "heddle::expm::lu_panel", block_of(q_, panel.begin, n_, mine.begin, mine.end), lower);
    const Index count = width * (width + height);
    Kokkos::deep_copy(space, first(host_panel_, count), first(panel_, count));
    space.fence("heddle::expm::lu_panel");
    factor_on_host(panel);
  }
  comm_.broadcast(std::span<int>(host_pivots_.data(), static_cast<std::size_t>(width + 1)), owner);
  if (host_pivots_(width) != 0) {
    throw Error(ErrorKind::computation, message_of("LU: the matrix of ", n_, " rows is singular: no pivot in column ",
                                                   panel.begin + host_pivots_(width)));
  }
  Kokkos::deep_copy(space, pivots_, host_pivots_);
  share(owner, width * (width + height));
  copy_elements<T>(space, "heddle::expm::lu_inverse", matrix_view(panel_.data(), width, width, width),
                   inverse_of_upper(panel));

  const MatrixView<const T> inverse = block_of(lower, 0, width, 0, width);
  const MatrixView<const T> below = block_of(lower, width, height, 0, width);
  const auto update = [&](const MatrixView<T>& columns) {
    const auto count = static_cast<Index>(columns.extent(1));
    const MatrixView<T> top = matrix_view(top_.data(), width, count, width);
    take_pivot_rows(space, block_of(columns, panel.begin, n_, 0, count), pivots_, top);
    const MatrixView<T> row = block_of(columns, panel.begin, panel.end, 0, count);
    blas::gemm<T>(context_, Operation::none, Operation::none, T(1), inverse, top, T(0), row);
    blas::gemm<T>(context_, Operation::none, Operation::none, T(-1), below, row, T(1),
                  block_of(columns, panel.end, n_, 0, count));
  };
  for_each_block(q_, placement_.local_columns(comm_.rank(), panel).end, update);
  for_each_block(p_, 0, update);
}

template <Scalar T> void LuSolver<T>::substitute(Range panel) {
  const ExecutionSpace& space = comm_.space();
  const Index width = panel.size();
  const int owner = placement_.column_axis().owner(panel.begin);
  MatrixView<T> above = matrix_view(panel_.data(), panel.begin, width, panel.begin);
  const Range mine = placement_.local_columns(comm_.rank(), panel);
  if (comm_.size() == 1) {
    above = block_of(q_, 0, panel.begin, mine.begin, mine.end);
  } else {
    if (comm_.rank() == owner) {
      copy_elements<T>(space, "heddle::expm::lu_panel", block_of(q_, 0, panel.begin, mine.begin, mine.end), above);
      Kokkos::deep_copy(space, first(host_panel_, panel.begin * width), first(panel_, panel.begin * width));
      space.fence("heddle::expm::lu_panel");
    }
    share(owner, panel.begin * width);
  }
  for_each_block(p_, 0, [&](const MatrixView<T>& columns) {
    const auto count = static_cast<Index>(columns.extent(1));
    const MatrixView<T> top = matrix_view(top_.data(), width, count, width);
    const MatrixView<T> row = block_of(columns, panel.begin, panel.end, 0, count);
    copy_elements<T>(space, "heddle::expm::lu_block_row", row, top);
    blas::gemm<T>(context_, Operation::none, Operation::none, T(1), inverse_of_upper(panel), top, T(0), row);
    blas::gemm<T>(context_, Operation::none, Operation::none, T(-1), above, row, T(1),
                  block_of(columns, 0, panel.begin, 0, count));
  });
}

template <Scalar T> void LuSolver<T>::solve(const DistributedMatrix<T>& Q, const DistributedMatrix<T>& P) {
  const Kokkos::Profiling::ScopedRegion region("heddle::expm::lu");
  const auto require_shape = [&](const char* name, const DistributedMatrix<T>& matrix) {
    require(matrix.rows() == n_ && matrix.columns() == n_, "LU: ", name, " is ", matrix.rows(), " x ", matrix.columns(),
            "; expected ", n_, " x ", n_);
  };
  require_shape("Q", Q);
  require_shape("P", P);
  // One rank has all columns, in order, whatever the placement says.
  const auto in_place = [&](const DistributedMatrix<T>& matrix) {
    return comm_.size() == 1 || matrix.placement() == placement_;
  };
  const auto brought = [&](const DistributedMatrix<T>& matrix, DistributedMatrix<T>& copy) {
    if (in_place(matrix)) {
      return matrix.local();
    }
    if (!(copy.placement() == placement_)) {
      copy = DistributedMatrix<T>(comm_, placement_, "lu_workspace");
    }
    redistribute(matrix, copy);
    return copy.local();
  };
  q_ = brought(Q, redistributed_q_);
  p_ = brought(P, redistributed_p_);
  const Index panels = (n_ + panel_width - 1) / panel_width;
  const auto panel = [&](Index k) { return Range{k * panel_width, std::min((k + 1) * panel_width, n_)}; };
  for (Index k = 0; k < panels; ++k) {
    eliminate(panel(k));
  }
  for (Index k = panels; k-- > 0;) {
    substitute(panel(k));
  }
  if (!in_place(P)) {
    redistribute(redistributed_p_, P);
  }
  q_ = {};
  p_ = {};
}

template class LuSolver<float>;
template class LuSolver<double>;
template class LuSolver<Kokkos::complex<float>>;
template class LuSolver<Kokkos::complex<double>>;

}  // namespace heddle::impl
