// Matrices over the ranks of a communicator, or on one rank without a communicator, with one interface.
#pragma once

#include "core/elementwise.hpp"
#include <heddle/dist/matrix.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <string>

namespace heddle::impl {

/// The ranks that an operation runs on: those of a communicator, or one rank alone, which calls no function of MPI.
class OptionalRanks {
 public:
  OptionalRanks() = default;
  explicit OptionalRanks(const Communicator& comm) : space_(comm.space()), comm_(comm) {}
  explicit OptionalRanks(const ExecutionSpace& space) : space_(space) {}

  [[nodiscard]] const ExecutionSpace& space() const { return space_; }
  /// Null if there is no communicator.
  [[nodiscard]] const Communicator* comm() const { return comm_ ? &*comm_ : nullptr; }
  [[nodiscard]] int rank() const { return comm_ ? comm_->rank() : 0; }
  [[nodiscard]] int size() const { return comm_ ? comm_->size() : 1; }
  void all_reduce(std::span<double> values, Reduction reduction) const {
    if (comm_) comm_->all_reduce(values, reduction);
  }
  [[nodiscard]] double all_reduce(double value, Reduction reduction) const {
    return comm_ ? comm_->all_reduce(value, reduction) : value;
  }
  template <class T> void broadcast(std::span<T> values, int root) const {
    if (comm_) comm_->broadcast(values, root);
  }
  template <class T> void all_gather(std::span<const T> mine, std::span<T> all) const {
    if (comm_) {
      comm_->all_gather(mine, all);
    } else {
      std::copy(mine.begin(), mine.end(), all.begin());
    }
  }

 private:
  ExecutionSpace space_;
  std::optional<Communicator> comm_;
};

/// Throws Error(argument) for a matrix that is not column-major.
template <class T> void require_column_major(const char* of, const MatrixView<T>& M, const char* name = "A") {
  const bool down = M.extent(0) <= 1 || M.stride(0) == 1;
  const bool along = M.extent(1) <= 1 || M.stride(1) >= M.extent(0);
  require(M.size() == 0 || (down && along), of, ": ", name, " is ", M.extent(0), " x ", M.extent(1), " with strides ",
          M.stride(0), " and ", M.stride(1), "; expected a column-major matrix, with strides 1 and ", M.extent(0),
          " or more");
}

/// A DistributedMatrix, or a column-major matrix of one rank, which has all rows and columns in their order in any
/// placement. Copies are shallow.
template <Scalar T> class PlacedMatrix {
 public:
  PlacedMatrix() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): the same matrix
  PlacedMatrix(const DistributedMatrix<T>& M)
      : ranks_(M.communicator()), placement_(M.placement()), local_(M.local()), distributed_(M) {}
  /// A matrix of one rank. Throws Error(argument), with the names of the operation and of the matrix, for strides that
  /// are not those of a column-major matrix.
  PlacedMatrix(const ExecutionSpace& space, const char* of, const char* name, const MatrixView<T>& M)
      : ranks_(space),
        placement_(Placement::on_rank(static_cast<Index>(M.extent(0)), static_cast<Index>(M.extent(1)), 0)) {
    require_column_major(of, M, name);
    const auto rows = static_cast<Index>(M.extent(0));
    const auto columns = static_cast<Index>(M.extent(1));
    // The stride of a single column has no meaning.
    const Index leading = columns > 1 ? static_cast<Index>(M.stride(1)) : rows;
    local_ = matrix_view(M.data(), rows, columns, std::max<Index>(leading, 1));
  }
  /// A read-only matrix of one rank.
  PlacedMatrix(const ExecutionSpace& space, const char* of, const char* name, const MatrixView<const T>& M)
      : PlacedMatrix(space, of, name,
                     // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): what is an input is not written
                     MatrixView<T>(const_cast<T*>(M.data()), M.layout())) {}
  /// A new matrix, whose elements are not initialised.
  PlacedMatrix(const OptionalRanks& ranks, const Placement& placement, const std::string& label)
      : ranks_(ranks), placement_(placement) {
    if (ranks.comm() != nullptr) {
      distributed_ = DistributedMatrix<T>(*ranks.comm(), placement, label);
      local_ = distributed_->local();
    } else {
      local_ =
          LocalMatrix<T>(Kokkos::view_alloc(ranks.space(), Kokkos::WithoutInitializing, label),
                         static_cast<std::size_t>(placement.rows()), static_cast<std::size_t>(placement.columns()));
    }
  }

  [[nodiscard]] const OptionalRanks& ranks() const { return ranks_; }
  [[nodiscard]] const ExecutionSpace& space() const { return ranks_.space(); }
  [[nodiscard]] Index rows() const { return placement_.rows(); }
  [[nodiscard]] Index columns() const { return placement_.columns(); }
  [[nodiscard]] const Placement& placement() const { return placement_; }
  [[nodiscard]] const MatrixView<T>& local() const { return local_; }
  /// Throws std::bad_optional_access for a matrix of one rank without a communicator.
  [[nodiscard]] const DistributedMatrix<T>& distributed() const { return distributed_.value(); }
  [[nodiscard]] Index global_row(Index local) const { return placement_.row_axis().global(grid_row(), local); }
  [[nodiscard]] Index global_column(Index local) const { return placement_.column_axis().global(grid_column(), local); }
  [[nodiscard]] int grid_row() const {
    return placement_.in_grid(ranks_.rank()) ? placement_.grid_row(ranks_.rank()) : 0;
  }
  [[nodiscard]] int grid_column() const {
    return placement_.in_grid(ranks_.rank()) ? placement_.grid_column(ranks_.rank()) : 0;
  }
  [[nodiscard]] Residence residence() const { return placement_.residence(); }
  /// Whether its elements are stored as in this placement. On one rank all placements store them alike.
  [[nodiscard]] bool lies_as(const Placement& placement) const {
    return ranks_.size() == 1 ? residence() == placement.residence() : placement_ == placement;
  }

 private:
  OptionalRanks ranks_;
  Placement placement_;
  MatrixView<T> local_;
  std::optional<DistributedMatrix<T>> distributed_;
};

/// Copies A into B, of the same shape and ranks. Blocks if there are several ranks.
template <Scalar T> void redistribute(const PlacedMatrix<T>& A, const PlacedMatrix<T>& B) {
  if (A.ranks().comm() != nullptr) {
    heddle::redistribute(A.distributed(), B.distributed());
  } else {
    copy_elements<T>(A.space(), "heddle::solve::copy", A.local(), B.local());
  }
}

/// Return the matrix in this placement: itself, or a copy.
template <Scalar T> PlacedMatrix<T> placed(const PlacedMatrix<T>& M, const Placement& placement) {
  if (M.lies_as(placement)) return M;
  const PlacedMatrix<T> copy(M.ranks(), placement, "heddle::solve::placed");
  redistribute(M, copy);
  return copy;
}

/// Whether a local element is on the diagonal of the matrix.
struct OnDiagonal {
  CyclicAxis rows;
  CyclicAxis columns;
  int grid_row;
  int grid_column;
  template <Scalar T>
  explicit OnDiagonal(const PlacedMatrix<T>& A)
      : rows(A.placement().row_axis()),
        columns(A.placement().column_axis()),
        grid_row(A.grid_row()),
        grid_column(A.grid_column()) {}
  KOKKOS_INLINE_FUNCTION bool operator()(Index i, Index j) const {
    return rows.global(grid_row, i) == columns.global(grid_column, j);
  }
};

/// The elements of I, and of A - I.
template <class T> struct SetIdentity {
  OnDiagonal on_diagonal;
  Elements<T> a;
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j) const { a(i, j) = on_diagonal(i, j) ? T(1) : T(0); }
};
template <class T> struct SubtractIdentity {
  OnDiagonal on_diagonal;
  Elements<T> a;
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j) const {
    if (on_diagonal(i, j)) a(i, j) -= T(1);
  }
};

/// Call body(i, j) for each of this rank's elements. Ordered on the instance.
template <Scalar T, class Body>
void for_each_local(const PlacedMatrix<T>& A, const std::string& label, const Body& body) {
  for_each_element(A.space(), label, static_cast<Index>(A.local().extent(0)), static_cast<Index>(A.local().extent(1)),
                   body);
}

/// A = I: ones on the diagonal, zeros elsewhere.
template <Scalar T> void set_identity(const PlacedMatrix<T>& A) {
  for_each_local(A, "heddle::solve::identity", SetIdentity<T>{OnDiagonal(A), Elements<T>(A.local())});
}

/// A = A - I.
template <Scalar T> void subtract_identity(const PlacedMatrix<T>& A) {
  for_each_local(A, "heddle::solve::subtract_identity", SubtractIdentity<T>{OnDiagonal(A), Elements<T>(A.local())});
}

/// Throws Error(argument) for a matrix that is not square.
template <class Matrix> void require_square(const char* of, const char* name, const Matrix& A) {
  require(A.rows() == A.columns(), of, ": ", name, " is ", A.rows(), " x ", A.columns(), "; expected a square matrix");
}
/// Throws Error(argument) for right-hand sides with another number of rows.
template <class Matrix> void require_rows(const char* of, const char* name, const Matrix& B, Index rows) {
  require(B.rows() == rows, of, ": ", name, " has ", B.rows(), " rows; expected ", rows);
}

}  // namespace heddle::impl
