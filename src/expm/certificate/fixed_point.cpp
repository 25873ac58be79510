// Fixed-point matrices of several limbs: allocation, quantisation, exact products with carries, and Horner's rule.
#include "expm/certificate/fixed_point.hpp"

#include "core/elementwise.hpp"
#include "expm/certificate/fixed_point_kernels.hpp"
#include "libm/functions.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::impl {
namespace {

using fixed_point::Elements1D;

// Limbs and two more, for the digits of a product.
constexpr int most_digits = FixedPointArithmetic::most_limbs + 2;

Index tile_of(Index n, int ranks, Index asked) {
  if (asked > 0) return asked;
  // Products are exact with any tile; half of a rank's share lets it compute one tile while another travels.
  const Index share = (n + ranks - 1) / ranks;
  return std::clamp<Index>((share + 1) / 2, 1, 4096);
}

GemmOptions product_options(Index tile) {
  GemmOptions options;
  options.tile = tile;
  options.arithmetic = Arithmetic::native;
  return options;
}

}  // namespace

FixedPointArithmetic::FixedPointArithmetic(const Communicator& comm, Index n, Index tile)
    : comm_(comm),
      placement_(Placement::row_bands(n, n, comm.size())),
      n_(n),
      elements_(placement_.local_rows(comm.rank()) * placement_.local_columns(comm.rank())),
      column_norms_(comm, placement_),
      sum_(comm, placement_, "heddle::expm::fixed_point_sum"),
      free_(std::make_shared<std::vector<std::shared_ptr<Digits>>>()) {
  if (comm.size() == 1) {
    context_.emplace(comm.space());
  } else {
    plan_.emplace(comm, Operation::none, placement_, Operation::none, placement_, placement_,
                  product_options(tile_of(n, comm.size(), tile)));
  }
}

void FixedPointArithmetic::add_product(double sign, const DistributedMatrix<double>& left,
                                       const DistributedMatrix<double>& right, double beta) {
  if (plan_) {
    plan_->execute(sign, left, right, beta, sum_);
  } else {
    blas::gemm<double>(*context_, Operation::none, Operation::none, sign, left.local(), right.local(), beta,
                       sum_.local());
  }
  ++products_;
}

int FixedPointArithmetic::width_of(Index n, int limbs) {
  // Two products of complex parts, each of `limbs` pairs of limbs, n terms long, of 2^(width - 1) each; a carry of less
  // than 2^-10 of that; and digits that a carry may have increased by one: below 2^53 in all.
  const double terms = 2.0 * static_cast<double>(n) * static_cast<double>(limbs) * (1.0 + 0x1p-8);
  const int width = static_cast<int>(std::floor((53.0 - libm::log2(terms)) / 2.0)) + 1;
  return std::clamp(width, 11, 24);
}

void FixedPointArithmetic::set_limbs(int limbs) {
  if (limbs == limbs_) return;
  limbs_ = limbs;
  width_ = width_of(n_, limbs);
  free_ = std::make_shared<std::vector<std::shared_ptr<Digits>>>();
  raw_[0].reset();
  raw_[1].reset();
}

std::shared_ptr<Digits> FixedPointArithmetic::allocate(int limbs) const {
  auto digits = std::make_shared<Digits>();
  digits->storage = Kokkos::View<double*, MemorySpace>(
      Kokkos::view_alloc(comm_.space(), Kokkos::WithoutInitializing, "heddle::expm::fixed_point_limbs"),
      static_cast<std::size_t>(elements_ * limbs));
  const Index rows = placement_.local_rows(comm_.rank());
  const Index columns = placement_.local_columns(comm_.rank());
  for (int k = 0; k < limbs; ++k) {
    digits->limbs.emplace_back(
        comm_, placement_,
        matrix_view(digits->storage.data() + k * elements_, rows, columns, std::max<Index>(rows, 1)));
  }
  return digits;
}

std::shared_ptr<Digits> FixedPointArithmetic::take() {
  std::shared_ptr<Digits> mine;
  if (free_->empty()) {
    mine = allocate(limbs_);
  } else {
    mine = std::move(free_->back());
    free_->pop_back();
  }
  mine->present = 0;
  // The last copy returns the digits to the workspace, if that still has the same number of limbs.
  const std::weak_ptr<std::vector<std::shared_ptr<Digits>>> home = free_;
  Digits* const digits = mine.get();
  return {digits, [home, mine = std::move(mine)](Digits*) mutable {
            if (const auto pool = home.lock()) pool->push_back(std::move(mine));
          }};
}

std::uint64_t FixedPointArithmetic::on_all_ranks(std::uint64_t present) const {
  if (comm_.size() == 1) return present;
  std::vector<int> flags(static_cast<std::size_t>(limbs_));
  for (int k = 0; k < limbs_; ++k) flags[static_cast<std::size_t>(k)] = static_cast<int>(present >> k & 1U);
  comm_.all_reduce(std::span<int>(flags), Reduction::maximum);
  present = 0;
  for (int k = 0; k < limbs_; ++k) present |= static_cast<std::uint64_t>(flags[static_cast<std::size_t>(k)]) << k;
  return present;
}

double FixedPointArithmetic::unit() const {
  return std::ldexp(1.0, -bits());
}

double FixedPointArithmetic::unit_norm() const {
  return 1.5 * static_cast<double>(n_) * unit();
}

double FixedPointArithmetic::product_error(int shift) const {
  // Errors come from pairs of limbs i + j = g > limbs + 1: fewer than `limbs` of each such g, in two real products a
  // part, each n terms of at most 2^(2 width - 2 - g width). The sum over g is geometric. The digits below the last
  // limb add one unit.
  const double n = static_cast<double>(n_);
  const double left_out = std::ldexp(2.0 * n * static_cast<double>(limbs_) * (1.0 + 0x1p-8), -2 - bits() + shift);
  return 1.5 * n * (left_out + unit()) * (1.0 + 0x1p-20);
}

namespace {

// Compute the digits of from 2^by; return the limbs that are not zero, as bits.
std::uint64_t quantise(const ExecutionSpace& space, const MatrixView<double>& matrix, int by, int limbs, int width,
                       double* to) {
  const Elements<double> from(matrix);
  const Index elements = static_cast<Index>(matrix.extent(0) * matrix.extent(1));
  const Index rows = std::max<Index>(static_cast<Index>(matrix.extent(0)), 1);
  const double up = std::ldexp(1.0, width);
  std::uint64_t present = 0;
  Kokkos::parallel_reduce(
      "heddle::expm::fixed_point_quantise", Elements1D(space, 0, elements),
      KOKKOS_LAMBDA(Index p, std::uint64_t & seen) {
        double rest = fixed_point::times_power(from(p % rows, p / rows), by);
        for (int k = 0; k < limbs; ++k) {
          const double digit = fixed_point::nearest(rest);
          rest = (rest - digit) * up;
          to[k * elements + p] = digit;
          seen |= digit != 0.0 ? std::uint64_t{1} << k : std::uint64_t{0};
        }
      },
      Kokkos::BOr<std::uint64_t>(present));
  return present;
}

// Return the largest of this rank's values, relative to their unit.
double largest_value(const ExecutionSpace& space, const double* digits, Index elements, int count, int width) {
  const double down = std::ldexp(1.0, -width);
  double largest = 0.0;
  Kokkos::parallel_reduce(
      "heddle::expm::fixed_point_largest", Elements1D(space, 0, elements),
      KOKKOS_LAMBDA(Index p, double& most) {
        const double size = Kokkos::abs(fixed_point::value_of(digits + p, elements, count, down));
        most = size > most ? size : most;
      },
      Kokkos::Max<double>(largest));
  return std::max(largest, 0.0);
}

}  // namespace

FixedPoint FixedPointArithmetic::quantised(const Parts<double>& A, int scale, int exponent) {
  FixedPoint X;
  X.exponent = exponent;
  const auto digits_of = [&](const SharedMatrix<double>& part) -> std::shared_ptr<const Digits> {
    if (!part) return {};
    const auto result = take();
    const std::uint64_t present =
        quantise(comm_.space(), part->local(), scale - exponent + width_, limbs_, width_, result->data());
    result->present = on_all_ranks(present);
    return result;
  };
  X.real = digits_of(A.real);
  X.imaginary = digits_of(A.imaginary);
  return X;
}

namespace {

// Split C = digit + 2^width carry: store the digit in `to`, the carry in C.
void split_digit(const ExecutionSpace& space, const MatrixView<double>& C, int width, double* to) {
  const Elements<double> sum(C);
  const Index rows = std::max<Index>(static_cast<Index>(C.extent(0)), 1);
  const double up = std::ldexp(1.0, width);
  const double down = std::ldexp(1.0, -width);
  for_each_element(
      space, "heddle::expm::fixed_point_split", static_cast<Index>(C.extent(0)), static_cast<Index>(C.extent(1)),
      KOKKOS_LAMBDA(Index i, Index j) {
        const double carry = fixed_point::nearest(sum(i, j) * down);
        to[i + j * rows] = sum(i, j) - carry * up;
        sum(i, j) = carry;
      });
}

// to = from 2^shift, where `from` has one more limb; the part left out is at most a unit of the last limb. Return the
// limbs that are not zero, as bits.
std::uint64_t shift_digits(const ExecutionSpace& space, Index elements, int limbs, int width, int shift,
                           const double* from, double* to) {
  // 2^shift = 2^(whole width) 2^rest.
  const int whole = shift >= 0 ? shift / width : -((-shift + width - 1) / width);
  const int rest = shift - whole * width;
  const double factor = std::ldexp(1.0, rest);
  const double up = std::ldexp(1.0, width);
  const double down = std::ldexp(1.0, -width);
  std::uint64_t present = 0;
  Kokkos::parallel_reduce(
      "heddle::expm::fixed_point_shift", Elements1D(space, 0, elements),
      KOKKOS_LAMBDA(Index p, std::uint64_t & seen) {
        // Digit k of the result is digit k + whole of `from`, both counted from 1.
        const auto digit_of = [&](int k) {
          const int source = k + whole;
          return source >= 1 && source <= limbs + 1 ? from[(source - 1) * elements + p] * factor : 0.0;
        };
        double carry = fixed_point::nearest(digit_of(limbs + 1) * down);
        for (int k = limbs; k > 1; --k) {
          const double sum = digit_of(k) + carry;
          carry = fixed_point::nearest(sum * down);
          const double digit = sum - carry * up;
          to[(k - 1) * elements + p] = digit;
          seen |= digit != 0.0 ? std::uint64_t{1} << (k - 1) : std::uint64_t{0};
        }
        // Digits above the first limb cancel down to it.
        double top = 0.0;
        for (int k = 1 - whole; k <= 0; ++k) top = (top + digit_of(k)) * up;
        top = top + digit_of(1) + carry;
        to[p] = top;
        seen |= top != 0.0 ? std::uint64_t{1} : std::uint64_t{0};
      },
      Kokkos::BOr<std::uint64_t>(present));
  return present;
}

}  // namespace

void FixedPointArithmetic::accumulate(std::span<const Term> terms, std::size_t part) {
  if (!raw_[part]) raw_[part] = allocate(limbs_ + 1);
  const Digits& raw = *raw_[part];
  const auto present = [](const Digits& digits, int k) { return (digits.present >> (k - 1) & 1U) != 0; };
  bool begun = false;
  for (int g = limbs_ + 1; g >= 2; --g) {
    for (const Term& term : terms) {
      for (int i = std::max(1, g - limbs_); i < g && i <= limbs_; ++i) {
        if (!present(term.left, i) || !present(term.right, g - i)) continue;
        add_product(term.sign, term.left.limbs[static_cast<std::size_t>(i - 1)],
                    term.right.limbs[static_cast<std::size_t>(g - i - 1)], begun ? 1.0 : 0.0);
        begun = true;
      }
    }
    const DistributedMatrix<double>& limb = raw.limbs[static_cast<std::size_t>(g - 1)];
    if (begun) {
      split_digit(comm_.space(), sum_.local(), width_, limb.local().data());
    } else {
      fill(limb, 0.0);
    }
  }
  if (begun) {
    copy(sum_, raw.limbs.front());
  } else {
    fill(raw.limbs.front(), 0.0);
  }
}

FixedPoint FixedPointArithmetic::multiply(const FixedPoint& X, const FixedPoint& Y, std::optional<int> exponent) {
  std::vector<Term> terms[2];
  const auto add_term = [&](std::size_t part, const auto& left, const auto& right, double sign) {
    if (left && right) terms[part].push_back({*left, *right, sign});
  };
  add_term(0, X.real, Y.real, 1.0);
  add_term(0, X.imaginary, Y.imaginary, -1.0);
  add_term(1, X.real, Y.imaginary, 1.0);
  add_term(1, X.imaginary, Y.real, 1.0);
  double largest = 0.0;
  for (std::size_t part = 0; part < 2; ++part) {
    if (terms[part].empty()) continue;
    accumulate(terms[part], part);
    if (!exponent)
      largest = std::max(largest, largest_value(comm_.space(), raw_[part]->data(), elements_, limbs_ + 1, width_));
  }
  FixedPoint Z;
  if (exponent) {
    Z.exponent = *exponent;
  } else {
    largest = comm_.all_reduce(largest, Reduction::maximum);
    // Make the largest element at most 1/2, the error of its value included.
    int power = 0;
    std::frexp(largest * (1.0 + 0x1p-40), &power);
    Z.exponent = X.exponent + Y.exponent + (largest > 0.0 ? power + 1 : 0);
  }
  const int shift = X.exponent + Y.exponent - Z.exponent;
  const auto part_of = [&](std::size_t part) -> std::shared_ptr<const Digits> {
    if (terms[part].empty()) return {};
    const auto result = take();
    const std::uint64_t present =
        shift_digits(comm_.space(), elements_, limbs_, width_, shift, raw_[part]->data(), result->data());
    result->present = on_all_ranks(present);
    return result;
  };
  Z.real = part_of(0);
  Z.imaginary = part_of(1);
  return Z;
}

namespace {

// Layout of this rank's digits.
struct DigitsLayout {
  Index elements;
  Index rows;  // At least 1.
  Index first_row;
  int limbs;
  int width;
};
// One part of horner(): pointers to the existing powers of `powers`, null for the others; `one`: first digit of the
// identity.
struct HornerTerms {
  const double* from;
  Kokkos::Array<const double*, 8> powers;
  int count;
  int first;
  double one;
};

std::uint64_t horner_digits(const ExecutionSpace& space, const DigitsLayout& layout, const HornerTerms& terms,
                            double* to) {
  const Index elements = layout.elements;
  const Index rows = layout.rows;
  const Index first_row = layout.first_row;
  const int limbs = layout.limbs;
  const double up = std::ldexp(1.0, layout.width);
  const double down = std::ldexp(1.0, -layout.width);
  const double* const from = terms.from;
  const Kokkos::Array<const double*, 8> powers = terms.powers;
  const int count = terms.count;
  const int first = terms.first;
  const double one = terms.one;
  std::uint64_t present = 0;
  Kokkos::parallel_reduce(
      "heddle::expm::fixed_point_horner", Elements1D(space, 0, elements),
      KOKKOS_LAMBDA(Index p, std::uint64_t & seen) {
        double digits[most_digits];
        for (int k = 0; k < limbs; ++k) digits[k] = from != nullptr ? from[k * elements + p] : 0.0;
        for (int i = count; i >= 1; --i) {
          // Long division: the remainder passes to the next digit, and the last one is dropped.
          const double divisor = static_cast<double>(first + i);
          double remainder = 0.0;
          for (int k = 0; k < limbs; ++k) {
            const double whole = remainder * up + digits[k];
            digits[k] = fixed_point::nearest(whole / divisor);
            remainder = whole - digits[k] * divisor;
          }
          if (i > 1 && powers[i - 2] != nullptr) {
            for (int k = 0; k < limbs; ++k) digits[k] += powers[i - 2][k * elements + p];
          }
        }
        if (p % rows + first_row == p / rows) digits[0] += one;
        double carry = 0.0;
        for (int k = limbs - 1; k >= 0; --k) {
          const double sum = digits[k] + carry;
          carry = k > 0 ? fixed_point::nearest(sum * down) : 0.0;
          const double digit = sum - carry * up;
          to[k * elements + p] = digit;
          seen |= digit != 0.0 ? std::uint64_t{1} << k : std::uint64_t{0};
        }
      },
      Kokkos::BOr<std::uint64_t>(present));
  return present;
}

}  // namespace

FixedPoint FixedPointArithmetic::horner(const FixedPoint& S, std::span<const FixedPoint> powers, int count, int first) {
  FixedPoint H;
  H.exponent = S.exponent;
  const DigitsLayout layout{elements_, std::max<Index>(static_cast<Index>(sum_.local().extent(0)), 1),
                            elements_ > 0 ? sum_.global_row(0) : 0, limbs_, width_};
  const auto part_of = [&](std::shared_ptr<const Digits> FixedPoint::*part, bool identity) -> std::shared_ptr<Digits> {
    Kokkos::Array<const double*, 8> terms{};
    bool any = identity || S.*part;
    for (std::size_t k = 0; k + 1 < static_cast<std::size_t>(count); ++k) {
      terms[k] = powers[k].*part ? (powers[k].*part)->data() : nullptr;
      any = any || powers[k].*part;
    }
    if (!any) return {};
    const auto result = take();
    const std::uint64_t present = horner_digits(comm_.space(), layout,
                                                {S.*part ? (S.*part)->data() : nullptr, terms, count, first,
                                                 identity ? std::ldexp(1.0, width_ - S.exponent) : 0.0},
                                                result->data());
    result->present = on_all_ranks(present);
    return result;
  };
  H.real = part_of(&FixedPoint::real, true);
  H.imaginary = part_of(&FixedPoint::imaginary, false);
  return H;
}

}  // namespace heddle::impl
