// A dense matrix spread over the ranks of a communicator.
#pragma once

#include <heddle/comm/communicator.hpp>
#include <heddle/core/error.hpp>
#include <heddle/core/scalar.hpp>
#include <heddle/dist/placement.hpp>

#include <concepts>
#include <memory>
#include <string>
#include <type_traits>

namespace heddle {

/// A dense matrix of which each rank keeps, in local(), the part that the placement gives it, column-major.
///
/// Copies are shallow, as those of Kokkos Views are: both objects name the same elements. All ranks must
/// construct with equal arguments. Making one with storage of its own is local (no messages); with the caller's storage
/// it is collective, and a rank waits for the others, since one whose array does not fit is every rank's error.
/// Elements are not initialised. If the placement says host memory, the library pins it; kernels reach it too, over
/// the bus.
template <Scalar T> class DistributedMatrix {
 public:
  /// Makes an empty matrix without ranks, to which another can be assigned; until then communicator() and every
  /// operation throw Error(argument).
  DistributedMatrix() = default;
  /// Makes a matrix with storage of its own. Throws Error(argument), on every rank alike, where the placement names a
  /// rank that `comm` lacks, and on a rank that has no memory for its part Error(memory).
  DistributedMatrix(const Communicator& comm, const Placement& placement, const std::string& label = "matrix");
  /// Makes a matrix in the caller's storage. `local` has the extents of this rank's part, and its columns are
  /// contiguous with any leading dimension; a local array of ScaLAPACK can be given as it is. On GPU backends the array
  /// may be in host memory where the placement says so: it is either pinned already, or the library pins it until the
  /// last copy of the matrix is gone. Collective; throws Error(argument), on every rank alike, where the array of one
  /// does not fit.
  DistributedMatrix(const Communicator& comm, const Placement& placement, const MatrixView<T>& local);

  [[nodiscard]] Index rows() const noexcept { return placement_.rows(); }
  [[nodiscard]] Index columns() const noexcept { return placement_.columns(); }
  /// Owner rank of each element.
  [[nodiscard]] const Placement& placement() const noexcept { return placement_; }
  /// The communicator whose ranks keep the matrix.
  [[nodiscard]] const Communicator& communicator() const {
    require(comm_ != nullptr, "matrix: it was made by the default constructor and has no ranks; expected one that was ",
            "made with a communicator and a placement");
    return *comm_;
  }
  /// This rank's elements; element (i, j) of local() is element (global_row(i), global_column(j)) of the matrix.
  [[nodiscard]] const MatrixView<T>& local() const noexcept { return local_; }
  /// The row of the matrix that local row `local` of this rank is.
  [[nodiscard]] Index global_row(Index local) const { return placement_.row_axis().global(grid_row(), local); }
  /// The column of the matrix that local column `local` of this rank is.
  [[nodiscard]] Index global_column(Index local) const { return placement_.column_axis().global(grid_column(), local); }

  /// Row of this rank in the process grid; 0 where it is outside the grid (and owns nothing).
  [[nodiscard]] int grid_row() const {
    return placement_.in_grid(communicator().rank()) ? placement_.grid_row(comm_->rank()) : 0;
  }
  /// Column of this rank in the process grid; 0 where it is outside the grid.
  [[nodiscard]] int grid_column() const {
    return placement_.in_grid(communicator().rank()) ? placement_.grid_column(comm_->rank()) : 0;
  }

 private:
  std::shared_ptr<const Communicator> comm_;
  Placement placement_;
  std::shared_ptr<void> storage_;  // Host memory, or its pin, that local_ does not own.
  MatrixView<T> local_;
};

namespace impl {
// Element k of a rank's part, which is row and column of its place in the whole matrix.
template <class T, class Function> struct FillElement {
  T* elements;
  Index leading;
  Index height;
  CyclicAxis rows;
  CyclicAxis columns;
  int grid_row;
  int grid_column;
  Function f;
  KOKKOS_INLINE_FUNCTION void operator()(Index k) const {
    const Index i = k % height;
    const Index j = k / height;
    elements[i + j * leading] = f(rows.global(grid_row, i), columns.global(grid_column, j));
  }
};
}  // namespace impl

/// Sets A(i, j) = f(i, j) for all (i, j) of the whole matrix. `f` is a KOKKOS_LAMBDA or functor (Index, Index) -> T.
/// Does not block.
template <Scalar T, class Function>
  requires(!std::convertible_to<Function, T>)
void fill(const DistributedMatrix<T>& A, const Function& f) {
  Kokkos::parallel_for("heddle::dist::fill",
                       Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(
                           A.communicator().space(), 0, static_cast<Index>(A.local().size())),
                       impl::FillElement<T, Function>{A.local().data(), static_cast<Index>(A.local().stride(1)),
                                                      static_cast<Index>(A.local().extent(0)), A.placement().row_axis(),
                                                      A.placement().column_axis(), A.grid_row(), A.grid_column(), f});
}

// Scalar arguments may be of any type that converts to the matrix's elements: -1, 0.5, std::complex for
// Kokkos::complex.

/// Sets every element of A to `value`. Does not block.
template <Scalar T> void fill(const DistributedMatrix<T>& A, std::type_identity_t<T> value);

/// Copies A into B, of the same shape, between any two placements on communicators of the same ranks. Elements that two
/// ranks share travel in panels, of which one is packed while others are under way. Throws Error(argument) for unequal
/// shapes and for communicators of different ranks. Blocks. Bits: the elements are copied.
template <Scalar T> void redistribute(const DistributedMatrix<T>& A, const DistributedMatrix<T>& B);

/// The whole matrix in the host memory of rank `root`; a 0 x 0 View on other ranks. Throws Error(argument) where no
/// rank has the number `root`. Blocks.
template <Scalar T> [[nodiscard]] HostMatrix<T> gather(const DistributedMatrix<T>& A, int root);

/// Copies `whole` into A. `whole` is read on rank `root` alone, where it has A's shape. Throws Error(argument), on
/// every rank alike, where it has another, and where no rank has the number `root`. Blocks.
template <Scalar T> void scatter(const HostMatrix<T>& whole, int root, const DistributedMatrix<T>& A);

/// Kind of a norm of a matrix: `one` is max_j sum_i |a_ij|, `infinity` is max_i sum_j |a_ij|, `frobenius` is
/// sqrt(sum |a_ij|^2), and `maximum` is max |a_ij|.
enum class Norm { one, infinity, frobenius, maximum };
/// The norm of a matrix; 0 for an empty one. The Frobenius norm is scaled so that it neither overflows nor underflows.
/// A NaN anywhere gives NaN, except that a complex element with one infinite part counts as infinite. Blocks; the same
/// bits on every rank. Bits: none (the order of the sums follows the placement).
template <Scalar T> [[nodiscard]] Real<T> norm(const DistributedMatrix<T>& A, Norm kind);

/// The sum of the diagonal of a square matrix. Blocks.
template <Scalar T> [[nodiscard]] T trace(const DistributedMatrix<T>& A);

/// Copies A into B, which has the same placement on the same ranks. Does not block.
template <Scalar T> void copy(const DistributedMatrix<T>& A, const DistributedMatrix<T>& B);
/// Multiplies A by alpha. Does not block.
template <Scalar T> void scale(std::type_identity_t<T> alpha, const DistributedMatrix<T>& A);
/// Adds alpha A to B, which has the same placement on the same ranks. Does not block.
template <Scalar T>
void add(std::type_identity_t<T> alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B);
/// Adds alpha to each element on the diagonal of A. Does not block.
template <Scalar T> void add_identity(std::type_identity_t<T> alpha, const DistributedMatrix<T>& A);

}  // namespace heddle
