#include "gemm/quantised.hpp"

#include "core/instantiate.hpp"
#include "dist/elementwise.hpp"
#include <heddle/exact/accumulator.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <cmath>

namespace heddle::impl {
namespace {

using exact::impl::Format;

// |x| 2^(width - e), rounded down: below 2^width.
KOKKOS_INLINE_FUNCTION std::uint64_t leading_bits(std::uint64_t bits, int exponent, int width) {
  using F = Format<double>;
  const auto field = static_cast<int>(bits >> F::fraction);
  const std::uint64_t mantissa = (bits & F::fraction_mask) | (field > 0 ? F::fraction_mask + 1 : 0);
  const int last = field > 0 ? field - 1075 : -1074;
  const int shift = exponent - width - last;
  return shift >= 64 ? 0 : shift >= 0 ? mantissa >> shift : mantissa << -shift;
}

// |x| 2^(14 - e), rounded up: at most 2^14.
KOKKOS_INLINE_FUNCTION std::uint64_t coarse(std::uint64_t bits, int exponent) {
  return leading_bits(bits, exponent, norm_bits) + (bits != 0 ? 1 : 0);
}

template <Scalar T> KOKKOS_INLINE_FUNCTION std::uint64_t coarse_square(const T& x, int exponent) {
  if constexpr (is_complex<T>) {
    return coarse_square(x.real(), exponent) + coarse_square(x.imag(), exponent);
  } else {
    const std::uint64_t q = coarse(magnitude_bits(x), exponent);
    return q * q;
  }
}

// Largest s with 2^s |x|_2 <= reach, from the sum of the coarse squares.
KOKKOS_INLINE_FUNCTION int scale_of(std::uint64_t squares, int exponent, double square_of_reach) {
  if (squares == 0) {
    return 0;
  }
  // A sum beyond 2^53 rounds; reach has room for that.
  const double ratio = square_of_reach / static_cast<double>(squares);
  const int bits = static_cast<int>(Format<double>::to_bits(ratio) >> Format<double>::fraction) - 1023;
  const int half = bits >= 0 ? bits / 2 : -((1 - bits) / 2);
  return half + norm_bits - exponent;
}

// Scaling by 2^s in two steps, each within the range of doubles.
struct PowerOfTwo {
  double first;
  double second;
  KOKKOS_INLINE_FUNCTION explicit PowerOfTwo(int s) {
    const int half = s / 2;
    first = power(half);
    second = power(s - half);
  }
  static KOKKOS_INLINE_FUNCTION double power(int e) {
    return Format<double>::from_bits(static_cast<std::uint64_t>(e + 1023) << Format<double>::fraction);
  }
  KOKKOS_INLINE_FUNCTION double operator()(double x) const { return x * first * second; }
};

constexpr double rounder = 0x1.8p52;

// To the nearest integer, ties to even. (Kokkos has had rint() since release 5.)
KOKKOS_INLINE_FUNCTION double rounded(double x) {
  const double shift = x < 0.0 ? -0x1p52 : 0x1p52;
  return Kokkos::abs(x) < 0x1p52 ? (x + shift) - shift : x;
}

// x mod p, nearest to zero. Of |x| below 2^55; each pass takes 51 bits off a longer one.
template <int passes> KOKKOS_INLINE_FUNCTION std::int8_t residue_of(double x, double p, double inverse) {
  for (int pass = 0; pass < passes; ++pass) {
    x = Kokkos::fma(-rounded(x * inverse), p, x);
  }
  const double quotient = Kokkos::fma(x, inverse, rounder) - rounder;
  const double rest = Kokkos::fma(-quotient, p, x);
  auto r = static_cast<std::int32_t>(static_cast<std::uint32_t>(Format<double>::to_bits(rest + rounder)));
  // The quotient is off by 1/64 at most, which only the largest moduli have no room for (and 256 wraps by itself).
  if (p > 247.0) {
    const auto modulus = static_cast<std::int32_t>(p);
    r -= r > 127 ? modulus : 0;
    r += r < -128 ? modulus : 0;
  }
  return static_cast<std::int8_t>(r);
}

// Elements of op(X) as vectors: element k of vector v.
template <Scalar T> struct VectorsOf {
  const T* data;
  Index vector_stride;
  Index element_stride;
  VectorsOf(const MatrixView<const T>& X, bool contiguous)
      : data(X.data()),
        vector_stride(contiguous ? static_cast<Index>(X.stride(1)) : 1),
        element_stride(contiguous ? 1 : static_cast<Index>(X.stride(1))) {}
  KOKKOS_INLINE_FUNCTION const T& operator()(Index v, Index k) const {
    return data[v * vector_stride + k * element_stride];
  }
};

// Statistics in pieces of this many elements, put together by exact operations, so in any order.
constexpr Index piece_length = on_host ? 256 : 64;
constexpr Index abreast = on_host ? 16 : 1;

// body(first, count, begin, end): elements begin ... end of `count` neighbouring vectors.
template <class Body>
void for_each_piece(const ExecutionSpace& space, const std::string& label, Index vectors, Index inner,
                    const Body& body) {
  const Index pieces = (inner + piece_length - 1) / piece_length;
  const Index groups = (vectors + abreast - 1) / abreast;
  for_each_element(
      space, label, groups, pieces, KOKKOS_LAMBDA(Index group, Index piece) {
        const Index first = group * abreast;
        const Index begin = piece * piece_length;
        body(first, first + abreast < vectors ? abreast : vectors - first, begin,
             begin + piece_length < inner ? begin + piece_length : inner);
      });
}

template <Scalar T>
void find_largest(const ExecutionSpace& space, const VectorsOf<T>& x, Index vectors, Index inner,
                  const Kokkos::View<std::uint64_t*, MemorySpace>& largest) {
  for_each_piece(
      space, "heddle::gemm::find_largest", vectors, inner,
      KOKKOS_LAMBDA(Index first, Index count, Index begin, Index end) {
        std::uint64_t most[abreast] = {};
        for (Index k = begin; k < end; ++k) {
          for (Index v = 0; v < count; ++v) {
            const std::uint64_t bits = magnitude_bits(x(first + v, k));
            most[v] = bits > most[v] ? bits : most[v];
          }
        }
        for (Index v = 0; v < count; ++v) {
          if (most[v] != 0) Kokkos::atomic_max(&largest(first + v), most[v]);
        }
      });
}

template <Scalar T>
void add_squares(const ExecutionSpace& space, const VectorsOf<T>& x, Index vectors, Index inner,
                 const Kokkos::View<std::uint64_t*, MemorySpace>& largest,
                 const Kokkos::View<std::uint64_t*, MemorySpace>& squares) {
  for_each_piece(
      space, "heddle::gemm::add_squares", vectors, inner,
      KOKKOS_LAMBDA(Index first, Index count, Index begin, Index end) {
        std::uint64_t sum[abreast] = {};
        int exponent[abreast] = {};
        for (Index v = 0; v < count; ++v) exponent[v] = exponent_of(largest(first + v));
        for (Index k = begin; k < end; ++k) {
          for (Index v = 0; v < count; ++v) sum[v] += coarse_square(x(first + v, k), exponent[v]);
        }
        for (Index v = 0; v < count; ++v) {
          if (sum[v] != 0) Kokkos::atomic_add(&squares(first + v), sum[v]);
        }
      });
}

// Both of vectors that lie in one piece, on GPUs: a team for each.
template <Scalar T>
void measure_columns(const ExecutionSpace& space, const VectorsOf<T>& x, Index vectors, Index inner,
                     const Kokkos::View<std::uint64_t*, MemorySpace>& largest,
                     const Kokkos::View<std::uint64_t*, MemorySpace>& squares) {
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::IndexType<Index>>;
  Kokkos::parallel_for(
      "heddle::gemm::measure_columns", Policy(space, static_cast<int>(vectors), 256),
      KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        const Index v = team.league_rank();
        std::uint64_t most = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, inner),
            [&](Index k, std::uint64_t& local) {
              const std::uint64_t bits = magnitude_bits(x(v, k));
              local = bits > local ? bits : local;
            },
            Kokkos::Max<std::uint64_t>(most));
        const int exponent = exponent_of(most);
        std::uint64_t sum = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, inner),
            [&](Index k, std::uint64_t& local) { local += coarse_square(x(v, k), exponent); }, sum);
        Kokkos::single(Kokkos::PerTeam(team), [&]() {
          largest(v) = most;
          squares(v) = sum;
        });
      });
}

// Neighbouring elements of a vector that one thread turns into residues, and stores at once.
constexpr Index run_length = on_host ? 64 : 4;
struct alignas(4) Run {
  std::int8_t value[run_length];
};

template <int passes>
KOKKOS_INLINE_FUNCTION void residues_of(const double (&x)[run_length], double p, double inverse, Run& run) {
  for (Index k = 0; k < run_length; ++k) run.value[k] = residue_of<passes>(x[k], p, inverse);
}

// A run's residues in every plane; target is the run's place in the first.
template <int passes, RealScalar T>
KOKKOS_INLINE_FUNCTION void reduce_run(const T (&x)[run_length], const PowerOfTwo& scale, bool /*conjugated*/,
                                       const ResidueSystem& system, std::int8_t* target, Index stride) {
  double scaled[run_length];
  for (Index k = 0; k < run_length; ++k) scaled[k] = rounded(scale(static_cast<double>(x[k])));
  for (int l = 0; l < system.count; ++l) {
    Run run;
    residues_of<passes>(scaled, system.divisor[l], system.inverse[l], run);
    *reinterpret_cast<Run*>(target + l * stride) = run;
  }
}
template <int passes, RealScalar T>
KOKKOS_INLINE_FUNCTION void reduce_run(const Kokkos::complex<T> (&x)[run_length], const PowerOfTwo& scale,
                                       bool conjugated, const ResidueSystem& system, std::int8_t* target,
                                       Index stride) {
  double re[run_length];
  double im[run_length];
  for (Index k = 0; k < run_length; ++k) {
    re[k] = rounded(scale(static_cast<double>(x[k].real())));
    im[k] = rounded(scale(static_cast<double>(conjugated ? -x[k].imag() : x[k].imag())));
  }
  for (int l = 0; l < system.count; ++l) {
    const auto modulus = static_cast<std::int32_t>(system.modulus[l]);
    Run real;
    Run imaginary;
    Run sum;
    residues_of<passes>(re, system.divisor[l], system.inverse[l], real);
    residues_of<passes>(im, system.divisor[l], system.inverse[l], imaginary);
    for (Index k = 0; k < run_length; ++k) {
      std::int32_t both = std::int32_t{real.value[k]} + std::int32_t{imaginary.value[k]};
      both -= both > 127 ? modulus : 0;
      both += both < -128 ? modulus : 0;
      sum.value[k] = static_cast<std::int8_t>(both);
    }
    std::int8_t* const planes = target + 3 * l * stride;
    *reinterpret_cast<Run*>(planes) = real;
    *reinterpret_cast<Run*>(planes + stride) = imaginary;
    *reinterpret_cast<Run*>(planes + 2 * stride) = sum;
  }
}

// What the kernels that turn vectors into planes of bytes share.
template <Scalar T> struct Planes {
  using Element = T;
  VectorsOf<T> x;
  Index vectors;
  Index inner;
  Index leading;
  Index padded;
  std::int8_t* bytes;
  const int* exponents;

  /// s of a vector; `special` of one that isn't there, whose bytes are zeros too.
  KOKKOS_INLINE_FUNCTION int exponent(Index v) const {
    return v < vectors ? exponents[v] : QuantisedVectors<T>::special;
  }
  KOKKOS_INLINE_FUNCTION T element(Index v, Index k, int s) const {
    return s != QuantisedVectors<T>::special && k < inner ? x(v, k) : T{0};
  }
};

template <Scalar T, int passes> struct Residues : Planes<T> {
  bool conjugated;
  ResidueSystem system;

  KOKKOS_INLINE_FUNCTION void store(const T (&run)[run_length], Index v, Index begin, int s) const {
    reduce_run<passes>(run, PowerOfTwo(s == QuantisedVectors<T>::special ? 0 : s), conjugated, system,
                       this->bytes + v * this->leading + begin, this->leading * this->padded);
  }
};

// Slices of 8 bits of the integers nearest to what x is scaled to, the lowest first.
template <Scalar T> struct Slices : Planes<T> {
  bool conjugated;
  int count;

  KOKKOS_INLINE_FUNCTION void store(const T (&run)[run_length], Index v, Index begin, int s) const {
    const PowerOfTwo scale(s == QuantisedVectors<T>::special ? 0 : s);
    double part[run_length];
    if constexpr (is_complex<T>) {
      for (Index k = 0; k < run_length; ++k) part[k] = static_cast<double>(run[k].real());
      cut(part, scale, v, begin, 0);
      for (Index k = 0; k < run_length; ++k) part[k] = static_cast<double>(conjugated ? -run[k].imag() : run[k].imag());
      cut(part, scale, v, begin, count);
    } else {
      for (Index k = 0; k < run_length; ++k) part[k] = static_cast<double>(run[k]);
      cut(part, scale, v, begin, 0);
    }
  }

  KOKKOS_INLINE_FUNCTION void cut(double (&part)[run_length], const PowerOfTwo& scale, Index v, Index begin,
                                  int plane) const {
    for (Index k = 0; k < run_length; ++k) part[k] = rounded(scale(part[k]));
    for (int l = 0; l < count; ++l) {
      Run slice;
      for (Index k = 0; k < run_length; ++k) {
        double above = rounded(part[k] * 0x1p-8);
        double rest = Kokkos::fma(-256.0, above, part[k]);
        if (rest == 128.0) {
          above += 1.0;
          rest = -128.0;
        }
        slice.value[k] = static_cast<std::int8_t>(rest);
        part[k] = above;
      }
      *reinterpret_cast<Run*>(this->bytes + (plane + l) * this->leading * this->padded + v * this->leading + begin) =
          slice;
    }
  }
};

// Leading bits of magnitudes, as they are and raised, and whether there is any bit; here the exponents are those of the
// largest magnitudes.
template <Scalar T> struct LeadingBits : Planes<T> {
  int width;

  KOKKOS_INLINE_FUNCTION void store(const T (&run)[run_length], Index v, Index begin, int s) const {
    const auto most = (std::uint64_t{1} << width) - 1;
    Run close;
    Run distant;
    Run present;
    for (Index k = 0; k < run_length; ++k) {
      const std::uint64_t bits = magnitude_bits(run[k]);
      const std::uint64_t raised = leading_bits(bits, s, width + far_bits);
      close.value[k] = static_cast<std::int8_t>(raised >> far_bits);
      distant.value[k] = static_cast<std::int8_t>(raised < most ? raised : most);
      present.value[k] = bits != 0 ? 1 : 0;
    }
    std::int8_t* const target = this->bytes + v * this->leading + begin;
    const Index stride = this->leading * this->padded;
    *reinterpret_cast<Run*>(target) = close;
    *reinterpret_cast<Run*>(target + stride) = distant;
    *reinterpret_cast<Run*>(target + 2 * stride) = present;
  }
};

// A run after the other, as many vectors abreast as share the lines of memory they are read from.
template <class Work> void store_runs(const ExecutionSpace& space, const std::string& label, const Work& work) {
  for_each_element(
      space, label, work.leading / run_length, work.padded / abreast, KOKKOS_LAMBDA(Index number, Index group) {
        const Index begin = number * run_length;
        for (Index v = group * abreast; v < (group + 1) * abreast; ++v) {
          const int s = work.exponent(v);
          typename Work::Element run[run_length];
          for (Index k = 0; k < run_length; ++k) run[k] = work.element(v, begin + k, s);
          work.store(run, v, begin, s);
        }
      });
}

// The same where vectors are rows, on GPUs: by way of scratch memory, so that both reads and writes are contiguous.
template <class Work> void store_rows(const ExecutionSpace& space, const std::string& label, const Work& work) {
  using T = typename Work::Element;
  constexpr int rows = 32;
  constexpr int length = is_complex<T> ? 64 : 128;
  constexpr int runs = length / static_cast<int>(run_length);
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::IndexType<Index>>;
  using Scratch = Kokkos::View<T[rows][length + 1], typename ExecutionSpace::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const Index groups = (work.padded + rows - 1) / rows;
  const Index pieces = (work.leading + length - 1) / length;
  Policy policy(space, static_cast<int>(groups * pieces), 256);
  policy.set_scratch_size(0, Kokkos::PerTeam(Scratch::shmem_size()));
  Kokkos::parallel_for(
      label, policy, KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        const Scratch block(team.team_scratch(0));
        const Index first = team.league_rank() % groups * rows;
        const Index begin = team.league_rank() / groups * length;
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(rows * length)), [&](int e) {
          const int row = e % rows;
          const int k = e / rows;
          block(row, k) = work.element(first + row, begin + k, work.exponent(first + row));
        });
        team.team_barrier();
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(rows * runs)), [&](int e) {
          const int row = e / runs;
          const int at = e % runs * run_length;
          if (first + row < work.padded && begin + at < work.leading) {
            T run[run_length];
            for (int k = 0; k < run_length; ++k) run[k] = block(row, at + k);
            work.store(run, first + row, begin + at, work.exponent(first + row));
          }
        });
      });
}

}  // namespace

template <Scalar T>
QuantisedVectors<T>::QuantisedVectors(const ExecutionSpace& space, Factor factor, Index most_vectors, Index inner)
    : factor_(factor),
      most_vectors_(most_vectors),
      leading_(padded(inner, inner_padding)),
      exponents_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::gemm::exponents"),
                 static_cast<std::size_t>(most_vectors)),
      largest_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::gemm::largest"),
               static_cast<std::size_t>(most_vectors)),
      squares_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::gemm::squares"),
               static_cast<std::size_t>(most_vectors)) {}

template <Scalar T> void QuantisedVectors<T>::reserve(const ExecutionSpace& space, int moduli) {
  grow(space, "heddle::gemm::residues", padded(most_vectors_, vector_padding) * leading_ * moduli * parts, residues_);
}

template <Scalar T> bool QuantisedVectors<T>::by_rows(Operation op) const {
  return (op == Operation::none) == (factor_ == Factor::left);
}

template <Scalar T>
void QuantisedVectors<T>::measure(const ExecutionSpace& space, Operation op, const MatrixView<const T>& X) {
  vectors_ = static_cast<Index>(X.extent(by_rows(op) ? 0 : 1));
  inner_ = static_cast<Index>(X.extent(by_rows(op) ? 1 : 0));
  padded_ = padded(vectors_, vector_padding);
  const VectorsOf<T> x(X, !by_rows(op));
  if (by_rows(op) || on_host) {
    Kokkos::deep_copy(space, largest_, std::uint64_t{0});
    Kokkos::deep_copy(space, squares_, std::uint64_t{0});
    find_largest(space, x, vectors_, inner_, largest_);
    add_squares(space, x, vectors_, inner_, largest_, squares_);
  } else {
    measure_columns(space, x, vectors_, inner_, largest_, squares_);
  }
}

template <Scalar T>
template <class Work>
void QuantisedVectors<T>::store(const ExecutionSpace& space, const std::string& label, Operation op,
                                const Work& work) const {
  if constexpr (on_host) {
    store_runs(space, label, work);
  } else {
    by_rows(op) ? store_rows(space, label, work) : store_runs(space, label, work);
  }
}

template <Scalar T>
void QuantisedVectors<T>::take(const ExecutionSpace& space, const ResidueSystem& system, EmulationScheme scheme,
                               Operation op, const MatrixView<const T>& X) {
  const Kokkos::Profiling::ScopedRegion region("heddle::gemm::quantise");
  const double reach = system.reach - 0.5 * std::sqrt(static_cast<double>(inner_) * (is_complex<T> ? 2.0 : 1.0));
  const double square_of_reach = reach * reach * (1.0 - 0x1p-40);
  const auto largest = largest_;
  const auto squares = squares_;
  const auto exponents = exponents_;
  Kokkos::parallel_for(
      "heddle::gemm::find_exponents", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, vectors_),
      KOKKOS_LAMBDA(Index v) {
        exponents(v) = largest(v) >= Format<double>::exponent_mask
                           ? special
                           : scale_of(squares(v), exponent_of(largest(v)), square_of_reach);
      });
  const Planes<T> planes{
      VectorsOf<T>(X, !by_rows(op)), vectors_, inner_, leading_, padded_, residues_.data(), exponents_.data()};
  const bool conjugated = op == Operation::conjugate_transpose;
  scheme_ = scheme;
  if (scheme == EmulationScheme::slices) {
    store(space, "heddle::gemm::make_slices", op, Slices<T>{planes, conjugated, slices_for(system.reach)});
    return;
  }
  const std::string label = "heddle::gemm::make_residues";
  // Integers below 2^54.6 with 14 moduli, 2^84.6 with 22, 2^117 with all.
  if (system.count <= 14) {
    store(space, label, op, Residues<T, 0>{planes, conjugated, system});
  } else if (system.count <= 22) {
    store(space, label, op, Residues<T, 1>{planes, conjugated, system});
  } else {
    store(space, label, op, Residues<T, 2>{planes, conjugated, system});
  }
}

template <Scalar T>
void QuantisedVectors<T>::take_leading(const ExecutionSpace& space, int width, Operation op,
                                       const MatrixView<const T>& X) {
  const auto largest = largest_;
  const auto exponents = exponents_;
  Kokkos::parallel_for(
      "heddle::gemm::find_exponents", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, vectors_),
      KOKKOS_LAMBDA(Index v) {
        exponents(v) = largest(v) >= Format<double>::exponent_mask ? special : exponent_of(largest(v));
      });
  const Planes<T> planes{
      VectorsOf<T>(X, !by_rows(op)), vectors_, inner_, leading_, padded_, residues_.data(), exponents_.data()};
  store(space, "heddle::gemm::make_leading_bits", op, LeadingBits<T>{planes, width});
}

#define HEDDLE_INSTANTIATE(T) template class QuantisedVectors<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
