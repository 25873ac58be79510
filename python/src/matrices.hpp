// Matrices over the ranks of a communicator, as objects of Python.
#pragma once

#include "runtime.hpp"
#include <heddle/dist/matrix.hpp>

#include <memory>
#include <utility>
#include <variant>

namespace heddle::python {

/// A matrix over ranks, of one of the four types.
class Matrix {
 public:
  template <Scalar T>
  explicit Matrix(DistributedMatrix<T> matrix)
      : kept_(std::make_unique<Kept<AnyMatrix>>(std::in_place, std::in_place_type<DistributedMatrix<T>>,
                                                std::move(matrix))) {}
  /// Call visit(matrix) for the matrix it holds.
  template <class Visitor> auto visit(Visitor&& visitor) const {
    return std::visit(std::forward<Visitor>(visitor), **kept_);
  }
  /// Throws nb::type_error for another type of elements.
  template <Scalar T> [[nodiscard]] const DistributedMatrix<T>& as() const {
    const auto* found = std::get_if<DistributedMatrix<T>>(&**kept_);
    if (found == nullptr) throw nb::type_error("matrices of different types of elements");
    return *found;
  }

 private:
  using AnyMatrix = std::variant<DistributedMatrix<float>, DistributedMatrix<double>,
                                 DistributedMatrix<Kokkos::complex<float>>, DistributedMatrix<Kokkos::complex<double>>>;
  std::unique_ptr<Kept<AnyMatrix>> kept_;
};

}  // namespace heddle::python
