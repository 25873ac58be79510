// Products of matrices in a multiple of the precision, by exact native products of digits.
#pragma once

#include "solve/grid/placed_matrix.hpp"

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace heddle::impl {

/// An unevaluated sum of one to three matrices in one placement, each element's largest number first.
template <Scalar T> using LongMatrix = std::vector<PlacedMatrix<T>>;

/// Products of long matrices whose elements have parts of at most 1 in size.
///
/// Elements are cut into signed digits of so few bits that native products of matrices of digits have no rounding,
/// whatever the order of their sums; products of digits are added in three numbers an element (K. Ozaki, T. Ogita, S.
/// Oishi, S. Rump, "Error-free transformations of matrix multiplication by using fast routines of matrix
/// multiplication", Numerical Algorithms 59, 2012). T is double or complex of it. Bits: no promise.
template <Scalar T> class LongProduct {
 public:
  /// For square matrices of an order in one placement; takes the memory of three of them. The threads must have the
  /// default arithmetic.
  LongProduct(const OptionalRanks& ranks, const Placement& placement);

  /// Number of bits of a digit; digit s of x is a multiple of 2^(-s digit_bits()).
  [[nodiscard]] Index digit_bits() const { return bits_; }
  /// Rounds elements to their first `digits` digits. Ordered on the instance.
  void cut(const PlacedMatrix<T>& A, Index digits) const;

  /// The part of a product that is computed: pairs of digits s of A and t of B, from 1, with s + t <= levels. `of_a`
  /// and `of_b` are numbers of digits after which A and B have none, or `unknown`.
  struct Digits {
    static constexpr Index unknown = 1000;
    Index levels;
    Index of_a = unknown;
    Index of_b = unknown;
  };
  /// C = C + 2^power A B, |power| up to 600, for C of three terms and elements of at most 1; returns a proven bound of
  /// the error of each element's absolute value. Collective. Cost: up to levels^2 / 2 products of matrices of digits.
  [[nodiscard]] double add(const LongMatrix<T>& A, const LongMatrix<T>& B, const Digits& digits, Index power,
                           const LongMatrix<T>& C) const;

 private:
  [[nodiscard]] bool take_digit(const LongMatrix<T>& from, Index digit, const PlacedMatrix<T>& to) const;

  Index order_;
  Index bits_;
  PlacedMatrix<T> left_;
  PlacedMatrix<T> right_;
  PlacedMatrix<T> product_;
};

/// Bytes of a rank that round_determinant() and round_inverse() take.
template <Scalar T> [[nodiscard]] double bytes_of_long_matrices(Index order, int ranks);

/// Double or complex of it: T's numbers and more.
template <Scalar T> using InDouble = std::conditional_t<is_complex<T>, Kokkos::complex<double>, double>;
/// Return A in double precision and in this placement: A itself, or a copy.
template <Scalar T>
[[nodiscard]] PlacedMatrix<InDouble<T>> in_double(const PlacedMatrix<T>& A, const Placement& placement);
/// Return the largest part of each row, and of each column with elements times powers of two; infinity for a NaN.
/// Collective.
template <Scalar T> [[nodiscard]] std::vector<double> sizes_by_row(const PlacedMatrix<T>& M);
template <Scalar T>
[[nodiscard]] std::vector<double> sizes_by_column(const PlacedMatrix<T>& M, const std::vector<Index>& rows,
                                                  const std::vector<Index>& columns);
/// A matrix scaled by powers of two, all parts below 1 in size.
template <Scalar T> struct ScaledMatrix {
  PlacedMatrix<T> matrix;
  Index power = 0;  ///< The power that all elements have beyond those of their row and column.
};
/// Return A with rows and columns scaled, in a placement; none if that rounds an element. Collective.
template <Scalar T>
[[nodiscard]] std::optional<ScaledMatrix<T>> scaled_exactly(const PlacedMatrix<T>& A, std::vector<Index> rows,
                                                            const std::vector<Index>& columns,
                                                            const Placement& placement);

/// C = C + factor M, C of three terms; factor is a power of two or minus one. Loses less than u^2 times the largest
/// sum, and no bit where M is zero. Ordered on the instance.
template <Scalar T> void add_to(const LongMatrix<T>& C, const PlacedMatrix<T>& M, double factor);
/// Return three matrices of zeros.
template <Scalar T>
[[nodiscard]] LongMatrix<T> long_zeros(const OptionalRanks& ranks, const Placement& placement,
                                       const std::string& label);

}  // namespace heddle::impl
