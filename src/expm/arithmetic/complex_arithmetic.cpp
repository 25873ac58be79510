// Kernels of sums of matrices in parts, and complex products from three or four real ones.
#include "expm/arithmetic/complex_arithmetic.hpp"

#include "core/elementwise.hpp"
#include <heddle/transpose/transpose.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace heddle::impl {
namespace {

// Most terms of one linear combination: sqrt(degree) powers at most.
constexpr std::size_t most_terms = 8;

// target = sum_k coefficients[k] terms[k], plus `identity` on the diagonal.
template <RealScalar T>
void combine_terms(const Communicator& comm, T identity, std::span<const T> coefficients,
                   std::span<const SharedMatrix<T>> terms, const DistributedMatrix<T>& target) {
  const Elements<T> to(target.local());
  Kokkos::Array<Elements<T>, most_terms> from = {{to, to, to, to, to, to, to, to}};
  Kokkos::Array<T, most_terms> weights{};
  const int count = static_cast<int>(terms.size());
  for (std::size_t k = 0; k < terms.size(); ++k) {
    from[k] = Elements<T>(terms[k]->local());
    weights[k] = coefficients[k];
  }
  // On this rank the diagonal is at j = i + diagonal: in bands, local indices are shifted global ones.
  Index diagonal = std::numeric_limits<Index>::max() / 2;
  if (identity != T{0} && target.local().size() > 0) {
    diagonal = target.global_row(0) - target.global_column(0);
  }
  for_each_element(
      comm.space(), "heddle::expm::combine", static_cast<Index>(target.local().extent(0)),
      static_cast<Index>(target.local().extent(1)), KOKKOS_LAMBDA(Index i, Index j) {
        T sum = 0;
        for (int k = 0; k < count; ++k) {
          sum = heddle::multiply_add(weights[k], from[k](i, j), sum);
        }
        to(i, j) = j == i + diagonal ? sum + identity : sum;
      });
}

// result = re X + im Y, for matrices of the same placement.
template <RealScalar T>
void add_scaled(const Communicator& comm, T re, const SharedMatrix<T>& X, T im, const SharedMatrix<T>& Y,
                const DistributedMatrix<T>& result) {
  const Elements<T> x(X->local());
  const Elements<T> y(Y->local());
  const Elements<T> to(result.local());
  for_each_element(
      comm.space(), "heddle::expm::scale", static_cast<Index>(X->local().extent(0)),
      static_cast<Index>(X->local().extent(1)),
      KOKKOS_LAMBDA(Index i, Index j) { to(i, j) = heddle::multiply_add(re, x(i, j), im * y(i, j)); });
}

// Combine three products, P = Xr Yr, Q = Xi Yi and S = (Xr + Xi) (Yr + Yi): S = S - P - Q, then P = P - Q.
template <RealScalar T>
void join_three_products(const Communicator& comm, const DistributedMatrix<T>& P, const DistributedMatrix<T>& Q,
                         const DistributedMatrix<T>& S) {
  const Elements<T> real(P.local());
  const Elements<T> imaginary(S.local());
  const Elements<T> other(Q.local());
  for_each_element(
      comm.space(), "heddle::expm::join_three_products", static_cast<Index>(P.local().extent(0)),
      static_cast<Index>(P.local().extent(1)), KOKKOS_LAMBDA(Index i, Index j) {
        imaginary(i, j) = imaginary(i, j) - real(i, j) - other(i, j);
        real(i, j) = real(i, j) - other(i, j);
      });
}

}  // namespace

template <RealScalar T>
ComplexArithmetic<T>::ComplexArithmetic(const Communicator& comm, Index n, int complex_products,
                                        const GemmOptions& options)
    : comm_(comm),
      rows_(comm, Placement::row_bands(n, n, comm.size())),
      columns_(comm, Placement::column_bands(n, n, comm.size())),
      complex_products_(complex_products),
      products_of_(choose_products(comm, rows_, columns_, options)) {}

template <RealScalar T> SharedMatrix<T> ComplexArithmetic<T>::in_column_bands(const SharedMatrix<T>& part, int sign) {
  if (!part || rows_.placement() == columns_.placement()) {
    return part;
  }
  WorkMatrix<T> result = columns_.take();
  const DistributedMatrix<T>& written = result.write();
  if (sign != 0) {
    heddle::transpose(comm_.space(), static_cast<T>(sign), part->local(), Operation::transpose, written.local());
  } else {
    if (!to_columns_) to_columns_.emplace(comm_, rows_.placement(), columns_.placement());
    (*to_columns_)(*part, written);
  }
  return result;
}

template <RealScalar T>
Parts<T> ComplexArithmetic<T>::column_bands(const Parts<T>& Y, const Parts<T>& columns, Symmetry of_Y) {
  return {columns.real ? columns.real : in_column_bands(Y.real, sign_of_real(of_Y)),
          columns.imaginary ? columns.imaginary : in_column_bands(Y.imaginary, sign_of_imaginary(of_Y))};
}

template <RealScalar T>
RightFactor<T> ComplexArithmetic<T>::right_factor(const Parts<T>& Y, const Parts<T>& columns, Symmetry of_Y) {
  RightFactor<T> factor{column_bands(Y, columns, of_Y), nullptr, of_Y};
  if (complex_products_ == 3 && Y.real && Y.imaginary) {
    factor.sum = sum(factor.parts, columns_);
  }
  return factor;
}

template <RealScalar T> void ComplexArithmetic<T>::reset_counts() {
  products_ = 0;
  flops_ = 0.0;
  gemm_seconds_ = 0.0;
  probes_ = 0;
}

template <RealScalar T> Trust ComplexArithmetic<T>::trust_in(const Parts<T>& A) {
  CarefulProducts<T>* const careful = products_of_.careful;
  const auto even = [&](const SharedMatrix<T>& part) { return !part || careful->evenly_filled(part); };
  return careful == nullptr || (even(A.real) && even(A.imaginary)) ? Trust::tested : Trust::never;
}

template <RealScalar T>
void ComplexArithmetic<T>::product(T alpha, const RealFactor<T>& X, const RealFactor<T>& Y, T beta, WorkMatrix<T>& Z,
                                   bool half) {
  RealProducts<T>& products = half ? *products_of_.half : *products_of_.whole;
  const ProductCost cost = products.multiply(alpha, X, Y, beta, Z.write());
  flops_ += cost.flops;
  gemm_seconds_ += cost.seconds;
  probes_ += cost.probed ? 1 : 0;
  ++products_;
  if (after_product) {
    after_product();
  }
}

template <RealScalar T> void ComplexArithmetic<T>::complete(WorkParts<T>& Z, Symmetry symmetry) {
  if (symmetry == Symmetry::none) {
    return;
  }
  if (Z.real) products_of_.half->complete(Z.real.write(), static_cast<T>(sign_of_real(symmetry)));
  if (Z.imaginary) products_of_.half->complete(Z.imaginary.write(), static_cast<T>(sign_of_imaginary(symmetry)));
}

template <RealScalar T> WorkMatrix<T> ComplexArithmetic<T>::sum(const Parts<T>& X, const MatrixPool<T>& pool) const {
  WorkMatrix<T> result = pool.take();
  const std::array<T, 2> ones = {1, 1};
  const std::array<SharedMatrix<T>, 2> terms = {X.real, X.imaginary};
  combine_terms<T>(comm_, T{0}, ones, terms, result.write());
  return result;
}

template <RealScalar T>
void ComplexArithmetic<T>::add_products(T alpha, const Parts<T>& X, const RightFactor<T>& Y, WorkParts<T>& Z,
                                        Symmetry symmetry) {
  const bool half = symmetry != Symmetry::none;
  const Symmetry of_X = product_of(symmetry, Y.symmetry);
  const RealFactor<T> left_real{X.real, sign_of_real(of_X)};
  const RealFactor<T> left_imaginary{X.imaginary, sign_of_imaginary(of_X)};
  const RealFactor<T> right_real{Y.parts.real, sign_of_real(Y.symmetry)};
  const RealFactor<T> right_imaginary{Y.parts.imaginary, sign_of_imaginary(Y.symmetry)};
  const auto add_product = [&](T factor, const RealFactor<T>& left, const RealFactor<T>& right, WorkMatrix<T>& result) {
    if (left.matrix && right.matrix) {
      const T beta = result ? T{1} : T{0};
      if (!result) result = take();
      product(factor, left, right, beta, result, half);
    }
  };
  add_product(alpha, left_real, right_real, Z.real);
  add_product(-alpha, left_imaginary, right_imaginary, Z.real);
  add_product(alpha, left_real, right_imaginary, Z.imaginary);
  add_product(alpha, left_imaginary, right_real, Z.imaginary);
}

template <RealScalar T>
WorkParts<T> ComplexArithmetic<T>::multiply(T alpha, const Parts<T>& X, const RightFactor<T>& Y, Symmetry symmetry) {
  WorkParts<T> Z;
  if (Y.sum && X.real && X.imaginary) {
    // N. Higham (1992): Zr = Xr Yr - Xi Yi, Zi = (Xr + Xi)(Yr + Yi) - Xr Yr - Xi Yi.
    const bool half = symmetry != Symmetry::none;
    const Symmetry of_X = product_of(symmetry, Y.symmetry);
    Z = {take(), take()};
    WorkMatrix<T> other = take();
    product(alpha, {X.real, sign_of_real(of_X)}, {Y.parts.real, sign_of_real(Y.symmetry)}, T{0}, Z.real, half);
    product(alpha, {X.imaginary, sign_of_imaginary(of_X)}, {Y.parts.imaginary, sign_of_imaginary(Y.symmetry)}, T{0},
            other, half);
    product(alpha, {sum(X, rows_)}, {Y.sum}, T{0}, Z.imaginary, half);
    join_three_products(comm_, Z.real.write(), *other.read(), Z.imaginary.write());
  } else {
    add_products(alpha, X, Y, Z, symmetry);
  }
  complete(Z, symmetry);
  return Z;
}

template <RealScalar T>
WorkParts<T> ComplexArithmetic<T>::multiply_add(T alpha, const Parts<T>& X, const RightFactor<T>& Y, WorkParts<T> Z,
                                                Symmetry symmetry) {
  if (Y.sum && X.real && X.imaginary) {
    WorkParts<T> XY = multiply(alpha, X, Y, symmetry);
    for (const auto part : {&WorkParts<T>::real, &WorkParts<T>::imaginary}) {
      if (Z.*part) {
        add(T{1}, *(XY.*part).read(), (Z.*part).write());
      } else {
        Z.*part = std::move(XY.*part);
      }
    }
    return Z;
  }
  add_products(alpha, X, Y, Z, symmetry);
  complete(Z, symmetry);
  return Z;
}

template <RealScalar T>
WorkParts<T> ComplexArithmetic<T>::combine(std::complex<double> identity, std::span<const T> coefficients,
                                           std::span<const Parts<T>> terms) const {
  const auto side = [&](T diagonal, SharedMatrix<T> Parts<T>::*part) -> WorkMatrix<T> {
    std::vector<T> weights;
    std::vector<SharedMatrix<T>> present;
    for (std::size_t k = 0; k < terms.size(); ++k) {
      if (terms[k].*part) {
        weights.push_back(coefficients[k]);
        present.push_back(terms[k].*part);
      }
    }
    if (present.empty() && diagonal == T{0}) {
      return {};
    }
    WorkMatrix<T> result = take();
    combine_terms<T>(comm_, diagonal, weights, present, result.write());
    return result;
  };
  return {side(static_cast<T>(identity.real()), &Parts<T>::real),
          side(static_cast<T>(identity.imag()), &Parts<T>::imaginary)};
}

template <RealScalar T> Parts<T> ComplexArithmetic<T>::times_power_of_two(Parts<T> X, int exponent) const {
  while (exponent != 0) {
    // Multiply in steps, since the whole factor may be out of range.
    const int step = std::clamp(exponent, -100, 100);
    const std::array<T, 1> factor = {static_cast<T>(std::ldexp(1.0, step))};
    X = combine(0.0, factor, std::span<const Parts<T>>(&X, 1));
    exponent -= step;
  }
  return X;
}

template <RealScalar T> WorkParts<T> ComplexArithmetic<T>::scaled(std::complex<double> factor, WorkParts<T> X) const {
  const auto re = static_cast<T>(factor.real());
  const auto im = static_cast<T>(factor.imag());
  if (im == T{0}) {
    for (WorkMatrix<T>* part : {&X.real, &X.imaginary}) {
      if (*part && re != T{1}) scale(re, part->write());
    }
    return X;
  }
  const auto side = [&](T of_first, const SharedMatrix<T>& first, T of_second,
                        const SharedMatrix<T>& second) -> WorkMatrix<T> {
    if (!first && !second) {
      return {};
    }
    WorkMatrix<T> result = take();
    add_scaled<T>(comm_, first ? of_first : T{0}, first ? first : second, second ? of_second : T{0},
                  second ? second : first, result.write());
    return result;
  };
  const Parts<T> terms = X.read();
  return {side(re, terms.real, -im, terms.imaginary), side(re, terms.imaginary, im, terms.real)};
}

template class ComplexArithmetic<float>;
template class ComplexArithmetic<double>;

}  // namespace heddle::impl
