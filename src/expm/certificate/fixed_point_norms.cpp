// Norms of fixed-point matrices, their distance from other matrices, and logarithmic norms.
#include "core/elementwise.hpp"
#include "core/hypotenuse.hpp"
#include "expm/certificate/fixed_point.hpp"
#include "expm/certificate/fixed_point_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::impl {
namespace {

using fixed_point::Elements1D;

}  // namespace

FixedPointNorms FixedPointArithmetic::norms(const FixedPoint& X) {
  const double* const real = X.real ? X.real->data() : nullptr;
  const double* const imaginary = X.imaginary ? X.imaginary->data() : nullptr;
  const Elements<double> sizes(sum_.local());
  const Index rows = std::max<Index>(static_cast<Index>(sum_.local().extent(0)), 1);
  const Index stride = elements_;
  const int count = limbs_;
  const double down = std::ldexp(1.0, -width_);
  Kokkos::parallel_for(
      "heddle::expm::fixed_point_sizes", Elements1D(comm_.space(), 0, elements_), KOKKOS_LAMBDA(Index p) {
        const double x = real != nullptr ? fixed_point::value_of(real + p, stride, count, down) : 0.0;
        const double y = imaginary != nullptr ? fixed_point::value_of(imaginary + p, stride, count, down) : 0.0;
        sizes(p % rows, p / rows) = fixed_point::modulus_bound(x, y);
      });
  FixedPointNorms norms;
  norms.one = column_norms_.reproducible_bound(sum_, column_norms_.measure(sum_).largest);
  norms.infinity = fixed_point::largest_row_sum(
      comm_.space(), "heddle::expm::fixed_point_rows", static_cast<Index>(sum_.local().extent(0)), n_, 0.0,
      KOKKOS_LAMBDA(Index i, Index j) { return sizes(i, j); });
  norms.infinity = comm_.all_reduce(norms.infinity, Reduction::maximum);
  // Values are accurate to 2^-50, sums to n 2^-53.
  const double more = 1.0 + 0x1p-48 + static_cast<double>(n_) * 0x1p-52;
  norms.one *= more;
  norms.infinity *= more;
  return norms;
}

namespace {

// The difference of a number and digits, with a bound of its own error.
struct Difference {
  double value = 0.0;
  double error = 0.0;
};
KOKKOS_INLINE_FUNCTION Difference difference_of(double x, const double* digits, Index stride, int count, double down) {
  // x - d_1 - d_2 ... as an unevaluated sum of two.
  double high = x;
  double low = 0.0;
  double largest = Kokkos::abs(x);
  double scale = down;
  for (int k = 0; k < count; ++k, scale *= down) {
    const double digit = -digits[k * stride] * scale;
    const double sum = high + digit;
    const double part = sum - high;
    low += (high - (sum - part)) + (digit - part);
    high = sum;
    largest = Kokkos::abs(sum) > largest ? Kokkos::abs(sum) : largest;
  }
  const double value = high + low;
  // Sums round by 2^-53; `low` collects these errors, and itself rounds by 2^-53 of its size, 2^-53 largest count. The
  // last term covers underflow.
  return {value, Kokkos::abs(value) * 0x1p-52 + largest * 0x1p-98 * static_cast<double>(count) + 0x1p-1060};
}

struct Compared {
  const double* real;
  const double* imaginary;
  const double* real_of_e;
  const double* imaginary_of_e;
  Index leading_real;
  Index leading_imaginary;
  Index elements;
  int limbs;
  double down;

  KOKKOS_INLINE_FUNCTION double size(Index p) const {
    const double x = real != nullptr ? fixed_point::value_of(real + p, elements, limbs, down) : 0.0;
    const double y = imaginary != nullptr ? fixed_point::value_of(imaginary + p, elements, limbs, down) : 0.0;
    return y == 0.0 ? Kokkos::abs(x) : hypotenuse(x, y);
  }
  KOKKOS_INLINE_FUNCTION double distance(Index p, Index i, Index j, int exponent) const {
    const double re = real_of_e != nullptr ? real_of_e[i + j * leading_real] : 0.0;
    const double im = imaginary_of_e != nullptr ? imaginary_of_e[i + j * leading_imaginary] : 0.0;
    const double x = fixed_point::times_power(re, -exponent);
    const double y = fixed_point::times_power(im, -exponent);
    const Difference a =
        difference_of(x, real != nullptr ? real + p : nullptr, elements, real != nullptr ? limbs : 0, down);
    const Difference b = difference_of(y, imaginary != nullptr ? imaginary + p : nullptr, elements,
                                       imaginary != nullptr ? limbs : 0, down);
    return fixed_point::modulus_bound(Kokkos::abs(a.value) + a.error, Kokkos::abs(b.value) + b.error);
  }
};

}  // namespace

FixedPointArithmetic::Distance FixedPointArithmetic::distance(const FixedPoint& X, std::span<const int> balance,
                                                              const Parts<double>& E) {
  if (!differences_) differences_.emplace(comm_, placement_, "heddle::expm::fixed_point_differences");
  const auto leading = [](const SharedMatrix<double>& part) {
    return part ? static_cast<Index>(part->local().stride(1)) : Index{0};
  };
  const Compared compared{X.real ? X.real->data() : nullptr,
                          X.imaginary ? X.imaginary->data() : nullptr,
                          E.real ? E.real->local().data() : nullptr,
                          E.imaginary ? E.imaginary->local().data() : nullptr,
                          leading(E.real),
                          leading(E.imaginary),
                          elements_,
                          limbs_,
                          std::ldexp(1.0, -width_)};
  const Kokkos::View<int*, MemorySpace> exponents(
      Kokkos::view_alloc(comm_.space(), Kokkos::WithoutInitializing, "heddle::expm::fixed_point_balance"),
      static_cast<std::size_t>(n_));
  const auto host_exponents = Kokkos::create_mirror_view(Kokkos::HostSpace{}, exponents);
  for (Index i = 0; i < n_; ++i) {
    host_exponents(i) = balance.empty() ? 0 : balance[static_cast<std::size_t>(i)];
  }
  Kokkos::deep_copy(comm_.space(), exponents, host_exponents);
  const Index rows = std::max<Index>(static_cast<Index>(sum_.local().extent(0)), 1);
  const Index first_row = elements_ > 0 ? sum_.global_row(0) : 0;
  constexpr int none = -1000000;
  int top = none;
  Kokkos::parallel_reduce(
      "heddle::expm::fixed_point_top", Elements1D(comm_.space(), 0, elements_),
      KOKKOS_LAMBDA(Index p, int& most) {
        const double size = compared.size(p);
        const int power = fixed_point::exponent_of(size) + exponents(p % rows + first_row) - exponents(p / rows) + 1;
        if (size > 0.0 && power > most) most = power;
      },
      Kokkos::Max<int>(top));
  top = comm_.all_reduce(std::max(top, none), Reduction::maximum);
  if (top == none) top = 0;
  const Elements<double> sizes(sum_.local());
  const Elements<double> differences(differences_->local());
  const int exponent = X.exponent;
  const int least = top;
  Kokkos::parallel_for(
      "heddle::expm::fixed_point_compare", Elements1D(comm_.space(), 0, elements_), KOKKOS_LAMBDA(Index p) {
        const Index i = p % rows;
        const Index j = p / rows;
        const int scaling = exponents(i + first_row) - exponents(j);
        sizes(i, j) = fixed_point::times_power(compared.size(p), scaling - least);
        // Rounding to a denormal may be downwards.
        differences(i, j) =
            fixed_point::times_power(compared.distance(p, i, j, exponent + scaling), scaling - least) + 0x1p-1060;
      });
  const auto largest_size = column_norms_.measure(sum_).largest;
  const auto largest_difference = column_norms_.measure(*differences_).largest;
  Distance result;
  result.top = exponent + top;
  result.difference = column_norms_.reproducible_bound(*differences_, largest_difference) * (1.0 + 0x1p-40);
  // Each element was rounded up to a step of 2^-40 of a power of two above the largest.
  const double n = static_cast<double>(n_);
  result.norm = column_norms_.reproducible_bound(sum_, largest_size) * (1.0 - 0x1p-46) - n * largest_size * 0x1p-38;
  return result;
}

double infinity_norm_bound(const Communicator& comm, const Parts<double>& A) {
  const SharedMatrix<double>& some = A.real ? A.real : A.imaginary;
  if (!some) return 0.0;
  const Elements<double> first(some->local());
  const Elements<double> second((A.imaginary ? A.imaginary : some)->local());
  const bool both = A.real && A.imaginary;
  double largest = fixed_point::largest_row_sum(
      comm.space(), "heddle::expm::row_sums", static_cast<Index>(some->local().extent(0)), some->columns(), 0.0,
      KOKKOS_LAMBDA(Index i, Index j) {
        const double size = Kokkos::abs(first(i, j));
        return both ? size + Kokkos::abs(second(i, j)) : size;
      });
  largest = comm.all_reduce(largest, Reduction::maximum);
  return largest * (1.0 + static_cast<double>(some->columns()) * 0x1p-51);
}

LogarithmicNorm logarithmic_norm(const Communicator& comm, const Parts<double>& A) {
  const SharedMatrix<double>& some = A.real ? A.real : A.imaginary;
  if (!some) return {0.0, true};
  const Index n = some->rows();
  const Placement columns = Placement::column_bands(n, n, comm.size());
  const auto transposed = [&](const SharedMatrix<double>& part) {
    if (!part || comm.size() == 1) return part;
    const DistributedMatrix<double> result(comm, columns, "heddle::expm::columns");
    redistribute(*part, result);
    return SharedMatrix<double>(result);
  };
  const Parts<double> other{transposed(A.real), transposed(A.imaginary)};
  const bool real = static_cast<bool>(A.real);
  const bool imaginary = static_cast<bool>(A.imaginary);
  const Elements<double> x((real ? A.real : some)->local());
  const Elements<double> y((imaginary ? A.imaginary : some)->local());
  const SharedMatrix<double>& some_other = other.real ? other.real : other.imaginary;
  const Elements<double> x_other((real ? other.real : some_other)->local());
  const Elements<double> y_other((imaginary ? other.imaginary : some_other)->local());
  const auto height = static_cast<Index>(some->local().extent(0));
  const Index first_row = height > 0 ? some->global_row(0) : 0;
  // |a_ij + conj(a_ji)| / 2, the diagonal with its sign. The second inexact sum rounds by 2^-53 of itself.
  double largest = fixed_point::largest_row_sum(
      comm.space(), "heddle::expm::gershgorin", height, n, -std::numeric_limits<double>::infinity(),
      KOKKOS_LAMBDA(Index i, Index j) {
        if (i + first_row == j) return real ? x(i, j) : 0.0;
        const double re = real ? 0.5 * x(i, j) + 0.5 * x_other(j, i) : 0.0;
        const double im = imaginary ? 0.5 * y(i, j) - 0.5 * y_other(j, i) : 0.0;
        return fixed_point::modulus_bound(re, im) * (1.0 + 0x1p-48);
      });
  // Rounding of these sums: 2^-53 n of the sums of sizes.
  double sizes = fixed_point::largest_row_sum(
      comm.space(), "heddle::expm::gershgorin_sizes", height, n, 0.0, KOKKOS_LAMBDA(Index i, Index j) {
        const double re = real ? 0.5 * Kokkos::abs(x(i, j) + x_other(j, i)) : 0.0;
        const double im = imaginary ? 0.5 * Kokkos::abs(y(i, j) - y_other(j, i)) : 0.0;
        return re + im;
      });
  double unlike = fixed_point::largest_row_sum(
      comm.space(), "heddle::expm::unlike", height, n, 0.0, KOKKOS_LAMBDA(Index i, Index j) {
        const double re = real ? Kokkos::abs(x(i, j) - x_other(j, i)) : 0.0;
        const double im = imaginary ? Kokkos::abs(y(i, j) + y_other(j, i)) : 0.0;
        return re + im;
      });
  largest = comm.all_reduce(largest, Reduction::maximum);
  sizes = comm.all_reduce(sizes, Reduction::maximum);
  unlike = comm.all_reduce(unlike, Reduction::maximum);
  return {largest + sizes * static_cast<double>(n) * 0x1p-51 + static_cast<double>(n) * 0x1p-1060, unlike == 0.0};
}

}  // namespace heddle::impl
