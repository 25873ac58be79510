#include "expm/arithmetic/complex_arithmetic.hpp"

#include "dist/elementwise.hpp"
#include <heddle/transpose/transpose.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

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

// result = re X + im Y, of two matrices alike.
template <RealScalar T>
void add_scaled(const Communicator& comm, T re, const Part<T>& X, T im, const Part<T>& Y, const Part<T>& result) {
  const Elements<T> x = elements_of<T>(X);
  const Elements<T> y = elements_of<T>(Y);
  const Elements<T> to = elements_of<T>(result);
  for_each_element(
      comm.space(), "heddle::expm::scale", static_cast<Index>(X->local().extent(0)),
      static_cast<Index>(X->local().extent(1)),
      KOKKOS_LAMBDA(Index i, Index j) { to(i, j) = heddle::multiply_add(re, x(i, j), im * y(i, j)); });
}

// The sign of the transpose of a part, 0 where it is not symmetric.
int sign_of_real(Symmetry symmetry) {
  return symmetry == Symmetry::none ? 0 : symmetry == Symmetry::hermitian ? 1 : -1;
}
int sign_of_imaginary(Symmetry symmetry) {
  return -sign_of_real(symmetry);
}

// Tiles of products computed by half: a quarter of the matrix. Smaller ones leave out more than three eighths of the
// work; on CPUs they lose more by products that are slow for being small, on GPUs only below 1024.
Index quarter_tile(Index n) {
  return n <= 192 ? std::max<Index>(n, 1) : (n / 4 + 31) / 32 * 32;
}
Index half_tile(Index n) {
  return on_host ? quarter_tile(n) : std::min<Index>(quarter_tile(n), 1024);
}

// Columns of a panel that reaches from the diagonal down: of eight, a sixteenth of the matrix is computed in vain.
Index panel_width(Index n) {
  return on_host ? std::max<Index>((n / 8 + 31) / 32 * 32, 64) : 1024;
}

// Errors of evenly scaled matrices count by norms, which emulated products keep whatever their exponents are.
GemmOptions normwise(GemmOptions options) {
  options.emulation.look = false;
  return options;
}

}  // namespace

template <RealScalar T>
ComplexArithmetic<T>::ComplexArithmetic(const Communicator& comm, Index n, int complex_products,
                                        const GemmOptions& options)
    : comm_(comm),
      rows_{Placement::row_bands(n, n, comm.size()), std::make_shared<std::vector<DistributedMatrix<T>>>()},
      columns_{Placement::column_bands(n, n, comm.size()), std::make_shared<std::vector<DistributedMatrix<T>>>()},
      complex_products_(complex_products),
      lower_half_(comm.size() == 1 && options.tile == 0 && options.arithmetic == Arithmetic::native),
      half_options_(normwise(options)) {
  half_options_.tiles = GemmTiles::half;
  // Which half is computed shows in the last bits: those of emulated products are to be the same everywhere.
  if (options.arithmetic != Arithmetic::native) {
    half_options_.tile = quarter_tile(n);
  } else if (half_options_.tile == 0) {
    half_options_.tile = half_tile(n);
  }
  const GemmOptions whole = normwise(options);
  const auto make_plan = [&] {
    plan_.emplace(comm, Operation::none, rows_.placement, Operation::none, columns_.placement, rows_.placement, whole);
  };
  if (options.arithmetic != Arithmetic::native && options.emulation.look && options.emulation.moduli == 0) {
    scaling_.emplace(comm, n);
    careful_options_ = options;
    careful_options_.arithmetic = Arithmetic::emulated;
    // Who leaves the arithmetic to the model asks for no bits.
    if (options.arithmetic == Arithmetic::automatic) careful_options_.emulation.fallback = Fallback::native;
  }
  bool keeps = comm.size() == 1 && whole.tile == 0 && whole.bands_per_pass == 0 &&
               whole.arithmetic != Arithmetic::native && whole.emulation.scheme == EmulationScheme::residues;
  if (!keeps || whole.arithmetic == Arithmetic::automatic) {
    make_plan();
    keeps = keeps && plan_->arithmetic() == Arithmetic::emulated;
  }
  if (plan_ && plan_->arithmetic() == Arithmetic::native) scaling_.reset();
  if (keeps) {
    plan_.reset();
    if (KeptProducts<T>::fit(n, whole.emulation)) {
      kept_.emplace(comm.space(), n, whole.emulation);
    } else {
      make_plan();
    }
  }
}

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

template <RealScalar T> Part<T> ComplexArithmetic<T>::in_column_bands(const Part<T>& part, int sign) {
  if (!part || rows_.placement == columns_.placement) {
    return part;
  }
  Part<T> result = take(columns_);
  if (sign != 0) {
    heddle::transpose(comm_.space(), static_cast<T>(sign), part->local(), Operation::transpose, result->local());
  } else {
    redistribute(*part, *result);
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
  looks_ = 0;
}

template <RealScalar T> typename ComplexArithmetic<T>::Trust ComplexArithmetic<T>::trust_in(const Parts<T>& A) {
  const auto even = [&](const Part<T>& part) { return !part || scaling_->evenly_filled(part); };
  return !scaling_ || (even(A.real) && even(A.imaginary)) ? Trust::tested : Trust::never;
}

template <RealScalar T> bool ComplexArithmetic<T>::wants_a_look(const Part<T>& X, const Part<T>& Y) {
  if (!scaling_ || trust_ == Trust::always) {
    return false;
  }
  return trust_ == Trust::never || !(scaling_->evenly_scaled(X) && scaling_->evenly_scaled(Y));
}

template <RealScalar T>
void ComplexArithmetic<T>::careful_product(T alpha, const Part<T>& X, const Part<T>& Y, T beta, const Part<T>& Z) {
  if (!careful_plan_) {
    careful_plan_.emplace(comm_, Operation::none, rows_.placement, Operation::none, columns_.placement, rows_.placement,
                          careful_options_);
  }
  const std::vector<int> exponents = scaling_->between(*X, *Y);
  const Part<T> left = take(rows_);
  const Part<T> right = take(columns_);
  scaling_->scale(*X, exponents, 1, false, *left);
  scaling_->scale(*Y, exponents, -1, true, *right);
  const GemmReport report = careful_plan_->execute(alpha, *left, *right, beta, *Z);
  gemm_seconds_ += report.seconds;
  flops_ += report.gflops * report.seconds * 1e9;
  ++looks_;
}

template <RealScalar T> void ComplexArithmetic<T>::about_to_change(const Part<T>& part) {
  if (kept_) kept_->forget(part);
  if (scaling_) scaling_->forget(part);
}

template <RealScalar T>
void ComplexArithmetic<T>::product(T alpha, const Side& X, const Side& Y, T beta, const Part<T>& Z, bool half) {
  about_to_change(Z);
  if (!half && wants_a_look(X.part, Y.part)) {
    careful_product(alpha, X.part, Y.part, beta, Z);
  } else if (half && lower_half_) {
    lower_product(alpha, X.part->local(), Y.part->local(), beta, Z->local());
  } else if (kept_) {
    kept_product(alpha, X, Y, beta, Z, half);
  } else {
    if (half && !half_plan_) {
      half_plan_.emplace(comm_, Operation::none, rows_.placement, Operation::none, columns_.placement, rows_.placement,
                         half_options_);
      mirror_.emplace(comm_, rows_.placement, half_plan_->tile());
    }
    const GemmReport report = (half ? *half_plan_ : *plan_).execute(alpha, *X.part, *Y.part, beta, *Z);
    gemm_seconds_ += report.seconds;
    flops_ += report.gflops * report.seconds * 1e9;
  }
  ++products_;
  if (after_product) {
    after_product();
  }
}

template <RealScalar T> template <class Body> void ComplexArithmetic<T>::time_products(const Body& body) {
  const ExecutionSpace& space = comm_.space();
  space.fence("heddle::expm::products_begin");
  const Kokkos::Timer timer;
  flops_ += body();
  space.fence("heddle::expm::products");
  gemm_seconds_ += timer.seconds();
}

template <RealScalar T>
void ComplexArithmetic<T>::kept_product(T alpha, const Side& X, const Side& Y, T beta, const Part<T>& Z, bool half) {
  if (half && !mirror_) {
    mirror_.emplace(comm_, rows_.placement, half_options_.tile);
  }
  time_products([&] {
    return (*kept_)(alpha, {X.part, X.sign}, {Y.part, Y.sign}, beta, Z->local(), half ? half_options_.tile : Index{0});
  });
}

template <RealScalar T>
void ComplexArithmetic<T>::lower_product(T alpha, const MatrixView<const T>& X, const MatrixView<const T>& Y, T beta,
                                         const MatrixView<T>& Z) {
  if (!mirror_) {
    context_.emplace(comm_.space());
    // One tile: below its diagonal stands what was computed.
    mirror_.emplace(comm_, rows_.placement, std::max<Index>(rows_.placement.rows(), 1));
  }
  const auto n = static_cast<Index>(Z.extent(0));
  const Index width = panel_width(n);
  time_products([&] {
    double flops = 0.0;
    for (Index j = 0; j < n; j += width) {
      const Index wide = std::min(width, n - j);
      blas::gemm<T>(*context_, Operation::none, Operation::none, alpha, block_of(X, j, n, 0, n),
                    block_of(Y, 0, n, j, j + wide), beta, block_of(Z, j, n, j, j + wide));
      flops += 2.0 * static_cast<double>(n) * static_cast<double>(n - j) * static_cast<double>(wide);
    }
    return flops;
  });
}

template <RealScalar T> void ComplexArithmetic<T>::mirror(const Parts<T>& Z, Symmetry symmetry) {
  if (symmetry == Symmetry::none) {
    return;
  }
  if (Z.real) (*mirror_)(*Z.real, static_cast<T>(sign_of_real(symmetry)));
  if (Z.imaginary) (*mirror_)(*Z.imaginary, static_cast<T>(sign_of_imaginary(symmetry)));
}

template <RealScalar T> Part<T> ComplexArithmetic<T>::sum(const Parts<T>& X, const Pool& pool) {
  Part<T> result = take(pool);
  const std::array<T, 2> ones = {1, 1};
  const std::array<Part<T>, 2> terms = {X.real, X.imaginary};
  combine_parts<T>(comm_, T{0}, ones, terms, result);
  return result;
}

template <RealScalar T>
void ComplexArithmetic<T>::add_products(T alpha, const Parts<T>& X, const RightFactor<T>& Y, Parts<T>& Z,
                                        Symmetry symmetry) {
  const bool half = symmetry != Symmetry::none;
  const Symmetry of_X = product_of(symmetry, Y.symmetry);
  const Side left_real{X.real, sign_of_real(of_X)};
  const Side left_imaginary{X.imaginary, sign_of_imaginary(of_X)};
  const Side right_real{Y.parts.real, sign_of_real(Y.symmetry)};
  const Side right_imaginary{Y.parts.imaginary, sign_of_imaginary(Y.symmetry)};
  const auto add_product = [&](T factor, const Side& left, const Side& right, Part<T>& result) {
    if (left.part && right.part) {
      const T beta = result ? T{1} : T{0};
      result = result ? result : take();
      product(factor, left, right, beta, result, half);
    }
  };
  add_product(alpha, left_real, right_real, Z.real);
  add_product(-alpha, left_imaginary, right_imaginary, Z.real);
  add_product(alpha, left_real, right_imaginary, Z.imaginary);
  add_product(alpha, left_imaginary, right_real, Z.imaginary);
}

template <RealScalar T>
Parts<T> ComplexArithmetic<T>::multiply(T alpha, const Parts<T>& X, const RightFactor<T>& Y, Symmetry symmetry) {
  Parts<T> Z;
  if (Y.sum && X.real && X.imaginary) {
    // N. Higham (1992): Zr = Xr Yr - Xi Yi, Zi = (Xr + Xi)(Yr + Yi) - Xr Yr - Xi Yi.
    const bool half = symmetry != Symmetry::none;
    const Symmetry of_X = product_of(symmetry, Y.symmetry);
    Z = {take(), take()};
    const Part<T> imaginary_product = take();
    product(alpha, {X.real, sign_of_real(of_X)}, {Y.parts.real, sign_of_real(Y.symmetry)}, T{0}, Z.real, half);
    product(alpha, {X.imaginary, sign_of_imaginary(of_X)}, {Y.parts.imaginary, sign_of_imaginary(Y.symmetry)}, T{0},
            imaginary_product, half);
    product(alpha, {sum(X, rows_)}, {Y.sum}, T{0}, Z.imaginary, half);
    const Elements<T> real = elements_of<T>(Z.real);
    const Elements<T> imaginary = elements_of<T>(Z.imaginary);
    const Elements<T> other = elements_of<T>(imaginary_product);
    for_each_element(
        comm_.space(), "heddle::expm::join_three_products", static_cast<Index>(Z.real->local().extent(0)),
        static_cast<Index>(Z.real->local().extent(1)), KOKKOS_LAMBDA(Index i, Index j) {
          imaginary(i, j) = imaginary(i, j) - real(i, j) - other(i, j);
          real(i, j) = real(i, j) - other(i, j);
        });
  } else {
    add_products(alpha, X, Y, Z, symmetry);
  }
  mirror(Z, symmetry);
  return Z;
}

template <RealScalar T>
Parts<T> ComplexArithmetic<T>::multiply_add(T alpha, const Parts<T>& X, const RightFactor<T>& Y, Parts<T> Z,
                                            Symmetry symmetry) {
  if (Y.sum && X.real && X.imaginary) {
    const Parts<T> product_xy = multiply(alpha, X, Y, symmetry);
    accumulate(product_xy, Z);
    return Z;
  }
  add_products(alpha, X, Y, Z, symmetry);
  mirror(Z, symmetry);
  return Z;
}

template <RealScalar T>
Parts<T> ComplexArithmetic<T>::combine(std::complex<double> identity, std::span<const T> coefficients,
                                       std::span<const Parts<T>> terms) {
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
  return {side(static_cast<T>(identity.real()), &Parts<T>::real),
          side(static_cast<T>(identity.imag()), &Parts<T>::imaginary)};
}

template <RealScalar T> void ComplexArithmetic<T>::accumulate(const Parts<T>& X, Parts<T>& S) {
  for (const auto part : {&Parts<T>::real, &Parts<T>::imaginary}) {
    if (!(X.*part)) {
      continue;
    }
    if (S.*part) {
      about_to_change(S.*part);
      add(T{1}, *(X.*part), *(S.*part));
    } else {
      S.*part = take();
      copy(*(X.*part), *(S.*part));
    }
  }
}

template <RealScalar T> Parts<T> ComplexArithmetic<T>::scaled(std::complex<double> factor, Parts<T> X) {
  const auto re = static_cast<T>(factor.real());
  const auto im = static_cast<T>(factor.imag());
  if (im == T{0}) {
    for (const Part<T>* part : {&X.real, &X.imaginary}) {
      if (!*part || re == T{1}) continue;
      about_to_change(*part);
      scale(re, **part);
    }
    return X;
  }
  const auto side = [&](T of_first, const Part<T>& first, T of_second, const Part<T>& second) -> Part<T> {
    if (!first && !second) {
      return {};
    }
    Part<T> result = take();
    add_scaled<T>(comm_, first ? of_first : T{0}, first ? first : second, second ? of_second : T{0},
                  second ? second : first, result);
    return result;
  };
  return {side(re, X.real, -im, X.imaginary), side(re, X.imaginary, im, X.real)};
}

template class ComplexArithmetic<float>;
template class ComplexArithmetic<double>;

}  // namespace heddle::impl
