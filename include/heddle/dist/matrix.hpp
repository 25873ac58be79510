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

/// rows x columns matrix of which each rank keeps the part that the placement gives it, column-major, in local().
///
/// Copies are shallow, as those of Views: both name the same elements. Construction is local (no messages), but all
/// ranks must construct with equal arguments. Elements are uninitialised. Where the placement says host memory, the
/// library pins it; kernels reach it too, through the bus.
template <Scalar T> class DistributedMatrix {
 public:
  DistributedMatrix() = default;
  /// Throws Error(argument), on every rank alike, where the placement names a rank that `comm` lacks.
  DistributedMatrix(const Communicator& comm, const Placement& placement, const std::string& label = "matrix");
  /// Takes the caller's own storage: local.extent(0) x local.extent(1) must be this rank's part, columns contiguous
  /// with any leading dimension. A ScaLAPACK user hands over the local array as it is. On GPU backends the array may be
  /// in host memory where the placement says so: pinned already, or pinned by the library until the last copy is gone.
  DistributedMatrix(const Communicator& comm, const Placement& placement, const MatrixView<T>& local);

  [[nodiscard]] Index rows() const noexcept { return placement_.rows(); }
  [[nodiscard]] Index columns() const noexcept { return placement_.columns(); }
  [[nodiscard]] const Placement& placement() const noexcept { return placement_; }
  [[nodiscard]] const Communicator& communicator() const { return *comm_; }
  /// This rank's elements; local (i, j) is global (global_row(i), global_column(j)).
  [[nodiscard]] const MatrixView<T>& local() const noexcept { return local_; }
  [[nodiscard]] Index global_row(Index local) const { return placement_.row_axis().global(grid_row(), local); }
  [[nodiscard]] Index global_column(Index local) const { return placement_.column_axis().global(grid_column(), local); }

  /// Grid coordinates of this rank; 0 where it is outside the grid (and owns nothing).
  [[nodiscard]] int grid_row() const {
    return placement_.in_grid(comm_->rank()) ? placement_.grid_row(comm_->rank()) : 0;
  }
  [[nodiscard]] int grid_column() const {
    return placement_.in_grid(comm_->rank()) ? placement_.grid_column(comm_->rank()) : 0;
  }

 private:
  std::shared_ptr<const Communicator> comm_;
  Placement placement_;
  std::shared_ptr<void> storage_;  // Host memory, or its pin, that local_ does not own.
  MatrixView<T> local_;
};

/// A(i, j) = f(i, j) for all global (i, j). `f` is a KOKKOS_LAMBDA or functor (Index, Index) -> T. Does not block.
template <Scalar T, class Function>
  requires(!std::convertible_to<Function, T>)
void fill(const DistributedMatrix<T>& A, const Function& f) {
  T* const elements = A.local().data();
  const auto leading = static_cast<Index>(A.local().stride(1));
  const CyclicAxis rows = A.placement().row_axis();
  const CyclicAxis columns = A.placement().column_axis();
  const int p = A.grid_row();
  const int q = A.grid_column();
  const auto height = static_cast<Index>(A.local().extent(0));
  Kokkos::parallel_for(
      "heddle::dist::fill",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(A.communicator().space(), 0,
                                                                    static_cast<Index>(A.local().size())),
      KOKKOS_LAMBDA(Index k) {
        const Index i = k % height;
        const Index j = k / height;
        elements[i + j * leading] = f(rows.global(p, i), columns.global(q, j));
      });
}

// Scalars beside a matrix are whatever converts to its elements: -1, 0.5, std::complex for Kokkos::complex.

/// Every element = value. Does not block.
template <Scalar T> void fill(const DistributedMatrix<T>& A, std::type_identity_t<T> value);

/// B = A, same shape, any two placements on communicators of the same ranks. What two ranks share travels in panels, of
/// which one is packed while others are under way. Blocks. Bits: the elements themselves. Throws Error(argument) for
/// unequal shapes.
template <Scalar T> void redistribute(const DistributedMatrix<T>& A, const DistributedMatrix<T>& B);

/// The whole matrix in host memory of rank `root` (a 0 x 0 View elsewhere). Blocks.
template <Scalar T> [[nodiscard]] HostMatrix<T> gather(const DistributedMatrix<T>& A, int root);

/// A = `whole`, which is read on rank `root` alone and has A's shape there. Blocks.
template <Scalar T> void scatter(const HostMatrix<T>& whole, int root, const DistributedMatrix<T>& A);

/// Matrix norms. Block; the same bits on every rank. one: max_j sum_i |a_ij|; infinity: max_i sum_j |a_ij|;
/// frobenius: sqrt(sum |a_ij|^2), scaled so that it neither overflows nor underflows; maximum: max |a_ij|. NaN anywhere
/// gives NaN, but that a complex element with one infinite part counts as infinite. 0 for empty matrices. Bits: none
/// (the order of the sums follows the placement).
enum class Norm { one, infinity, frobenius, maximum };
template <Scalar T> [[nodiscard]] Real<T> norm(const DistributedMatrix<T>& A, Norm kind);

/// Sum of the diagonal of a square matrix. Blocks.
template <Scalar T> [[nodiscard]] T trace(const DistributedMatrix<T>& A);

/// B = A of equal placements; does not block.
template <Scalar T> void copy(const DistributedMatrix<T>& A, const DistributedMatrix<T>& B);
/// A = alpha A; does not block.
template <Scalar T> void scale(std::type_identity_t<T> alpha, const DistributedMatrix<T>& A);
/// B = alpha A + B, equal placements; does not block.
template <Scalar T>
void add(std::type_identity_t<T> alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B);
/// A = A + alpha I; does not block.
template <Scalar T> void add_identity(std::type_identity_t<T> alpha, const DistributedMatrix<T>& A);

}  // namespace heddle
