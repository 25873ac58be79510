#include "expm/complex_arithmetic.hpp"

#include "dist/elementwise.hpp"

#include <array>
#include <limits>

namespace heddle::impl {
namespace {

// Terms of one linear combination: sqrt(degree) powers at most.
constexpr std::size_t most_terms = 8;

template <RealScalar T> Elements<T> elements_of(const Part<T>& part) {
  return Elements<T>(part->local());
}

// target = sum_k coefficients[k] terms[k], plus `identity` on the diagonal.
template <RealScalar T>
void combine_parts(const Communicator& comm, T identity, std::span<const T> coefficients,
                   std::span<const Part<T>> terms, const Part<T>& target) {
  Kokkos::Array<Elements<T>, most_terms> from = {
      {elements_of<T>(target), elements_of<T>(target), elements_of<T>(target), elements_of<T>(target),
       elements_of<T>(target), elements_of<T>(target), elements_of<T>(target), elements_of<T>(target)}};
  Kokkos::Array<T, most_terms> weights{};
  const int count = static_cast<int>(terms.size());
  for (std::size_t k = 0; k < terms.size(); ++k) {
    from[k] = elements_of<T>(terms[k]);
    weights[k] = coefficients[k];
  }
  const Elements<T> to = elements_of<T>(target);
  // Where this rank's part of the diagonal is: j = i + diagonal. Bands: local indices are global ones, shifted.
  Index diagonal = std::numeric_limits<Index>::max() / 2;
  if (identity != T{0} && target->local().size() > 0) {
    diagonal = target->global_row(0) - target->global_column(0);
  }
  for_each_element(
      comm.space(), "heddle::expm::combine", static_cast<Index>(target->local().extent(0)),
      static_cast<Index>(target->local().extent(1)), KOKKOS_LAMBDA(Index i, Index j) {
        T sum = 0;
        for (int k = 0; k < count; ++k) {
          sum = heddle::multiply_add(weights[k], from[k](i, j), sum);
        }
        to(i, j) = j == i + diagonal ? sum + identity : sum;
      });
}

}  // namespace

template <RealScalar T>
ComplexArithmetic<T>::ComplexArithmetic(const Communicator& comm, Index n, int complex_products,
                                        const GemmOptions& options)
    : comm_(comm),
      rows_{Placement::row_bands(n, n, comm.size()), std::make_shared<std::vector<DistributedMatrix<T>>>()},
      columns_{Placement::column_bands(n, n, comm.size()), std::make_shared<std::vector<DistributedMatrix<T>>>()},
      complex_products_(complex_products),
      plan_(comm, Operation::none, rows_.placement, Operation::none, columns_.placement, rows_.placement, options) {}

template <RealScalar T> Part<T> ComplexArithmetic<T>::take(const Pool& pool) {
  DistributedMatrix<T> matrix;
  if (pool.free->empty()) {
    matrix = DistributedMatrix<T>(comm_, pool.placement, "expm_workspace");
  } else {
    matrix = pool.free->back();
    pool.free->pop_back();
  }
  return Part<T>(new DistributedMatrix<T>(matrix), [free = pool.free](const DistributedMatrix<T>* used) {
    free->push_back(*used);
    delete used;
  });
}

template <RealScalar T> Part<T> ComplexArithmetic<T>::in_column_bands(const Part<T>& part) {
  if (!part || rows_.placement == columns_.placement) {
    return part;
  }
  Part<T> result = take(columns_);
  redistribute(*part, *result);
  return result;
}

template <RealScalar T> RightFactor<T> ComplexArithmetic<T>::right_factor(const Parts<T>& Y, const Parts<T>& columns) {
  RightFactor<T> factor{{columns.real ? columns.real : in_column_bands(Y.real),
                         columns.imaginary ? columns.imaginary : in_column_bands(Y.imaginary)},
                        nullptr};
  if (complex_products_ == 3 && Y.real && Y.imaginary) {
    factor.sum = sum(factor.parts, columns_);
  }
  return factor;
}

template <RealScalar T> void ComplexArithmetic<T>::reset_counts() {
  products_ = 0;
  gemm_seconds_ = 0.0;
}

template <RealScalar T>
void ComplexArithmetic<T>::product(T alpha, const Part<T>& X, const Part<T>& Y, T beta, const Part<T>& Z) {
  gemm_seconds_ += plan_.execute(alpha, *X, *Y, beta, *Z).seconds;
  ++products_;
  if (after_product) {
    after_product();
  }
}

template <RealScalar T> Part<T> ComplexArithmetic<T>::sum(const Parts<T>& X, const Pool& pool) {
  Part<T> result = take(pool);
  const std::array<T, 2> ones = {1, 1};
  const std::array<Part<T>, 2> terms = {X.real, X.imaginary};
  combine_parts<T>(comm_, T{0}, ones, terms, result);
  return result;
}

template <RealScalar T>
void ComplexArithmetic<T>::add_products(T alpha, const Parts<T>& X, const Parts<T>& Y, Parts<T>& Z) {
  const auto add_product = [&](T factor, const Part<T>& left, const Part<T>& right, Part<T>& result) {
    if (left && right) {
      const T beta = result ? T{1} : T{0};
      result = result ? result : take();
      product(factor, left, right, beta, result);
    }
  };
  add_product(alpha, X.real, Y.real, Z.real);
  add_product(-alpha, X.imaginary, Y.imaginary, Z.real);
  add_product(alpha, X.real, Y.imaginary, Z.imaginary);
  add_product(alpha, X.imaginary, Y.real, Z.imaginary);
}

template <RealScalar T> Parts<T> ComplexArithmetic<T>::multiply(T alpha, const Parts<T>& X, const RightFactor<T>& Y) {
  Parts<T> Z;
  if (Y.sum && X.real && X.imaginary) {
    // N. Higham (1992): Zr = Xr Yr - Xi Yi, Zi = (Xr + Xi)(Yr + Yi) - Xr Yr - Xi Yi.
    Z = {take(), take()};
    const Part<T> imaginary_product = take();
    product(alpha, X.real, Y.parts.real, T{0}, Z.real);
    product(alpha, X.imaginary, Y.parts.imaginary, T{0}, imaginary_product);
    product(alpha, sum(X, rows_), Y.sum, T{0}, Z.imaginary);
    const Elements<T> real = elements_of<T>(Z.real);
    const Elements<T> imaginary = elements_of<T>(Z.imaginary);
    const Elements<T> other = elements_of<T>(imaginary_product);
    for_each_element(
        comm_.space(), "heddle::expm::join_three_products", static_cast<Index>(Z.real->local().extent(0)),
        static_cast<Index>(Z.real->local().extent(1)), KOKKOS_LAMBDA(Index i, Index j) {
          imaginary(i, j) = imaginary(i, j) - real(i, j) - other(i, j);
          real(i, j) = real(i, j) - other(i, j);
        });
    return Z;
  }
  add_products(alpha, X, Y.parts, Z);
  return Z;
}

template <RealScalar T>
Parts<T> ComplexArithmetic<T>::multiply_add(T alpha, const Parts<T>& X, const RightFactor<T>& Y, Parts<T> Z) {
  if (Y.sum && X.real && X.imaginary) {
    const Parts<T> product_xy = multiply(alpha, X, Y);
    accumulate(product_xy, Z);
    return Z;
  }
  add_products(alpha, X, Y.parts, Z);
  return Z;
}

template <RealScalar T>
Parts<T> ComplexArithmetic<T>::combine(T identity, std::span<const T> coefficients, std::span<const Parts<T>> terms) {
  const auto side = [&](T diagonal, Part<T> Parts<T>::*part) -> Part<T> {
    std::vector<T> weights;
    std::vector<Part<T>> present;
    for (std::size_t k = 0; k < terms.size(); ++k) {
      if (terms[k].*part) {
        weights.push_back(coefficients[k]);
        present.push_back(terms[k].*part);
      }
    }
    if (present.empty() && diagonal == T{0}) {
      return {};
    }
    Part<T> result = take();
    combine_parts<T>(comm_, diagonal, weights, present, result);
    return result;
  };
  return {side(identity, &Parts<T>::real), side(T{0}, &Parts<T>::imaginary)};
}

template <RealScalar T> void ComplexArithmetic<T>::accumulate(const Parts<T>& X, Parts<T>& S) {
  for (const auto part : {&Parts<T>::real, &Parts<T>::imaginary}) {
    if (!(X.*part)) {
      continue;
    }
    if (S.*part) {
      add(T{1}, *(X.*part), *(S.*part));
    } else {
      S.*part = take();
      copy(*(X.*part), *(S.*part));
    }
  }
}

template class ComplexArithmetic<float>;
template class ComplexArithmetic<double>;

}  // namespace heddle::impl
