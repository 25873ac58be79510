// Kernels on thin blocks: recurrences, column sums and linear combinations.
#include "expm/thin/blocks.hpp"

#include "core/instantiate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::impl {
namespace {

// Rows of one partial sum.
constexpr Index chunk_height = 1024;
Index row_chunks_of(Index n) {
  return std::max<Index>((n + chunk_height - 1) / chunk_height, 1);
}

template <Scalar T> KOKKOS_INLINE_FUNCTION Wide<T> widened(const T& value) {
  return Wide<T>(value);
}
template <Scalar T> KOKKOS_INLINE_FUNCTION T narrowed(const Wide<T>& value) {
  if constexpr (is_complex<T>) {
    return T(static_cast<Real<T>>(value.real()), static_cast<Real<T>>(value.imag()));
  } else {
    return static_cast<T>(value);
  }
}

using Teams = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::IndexType<Index>>;

// partial(chunk + chunks b) = the chunk's share of <V_b, W_(b mod m)>.
template <Scalar T> struct ChunkDots {
  using Member = typename Teams::member_type;
  Elements<const T> v, w;
  Wide<T>* partial;
  Index n, columns, chunks;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const Index chunk = team.league_rank() % chunks;
    const Index b = team.league_rank() / chunks;
    const Index c = b % columns;
    const Index end = (chunk + 1) * chunk_height < n ? (chunk + 1) * chunk_height : n;
    Wide<T> sum{};
    if constexpr (on_host) {
      sum = of_rows(b, c, chunk * chunk_height, end);
    } else {
      Kokkos::parallel_reduce(
          Kokkos::TeamVectorRange(team, chunk * chunk_height, end),
          [&](Index i, Wide<T>& mine) { mine = with_term(i, b, c, mine); }, sum);
    }
    Kokkos::single(Kokkos::PerTeam(team), [&] { partial[team.league_rank()] = sum; });
  }

 private:
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Wide<T> with_term(Index i, Index b, Index c, const Wide<T>& sum) const {
    return multiply_add(conjugate(widened<T>(v(i, b))), widened<T>(w(i, c)), sum);
  }
  // Several independent sums, since one alone would wait for each of its terms.
  [[nodiscard]] Wide<T> of_rows(Index b, Index c, Index begin, Index end) const {
    constexpr Index lanes = 16;
    Wide<T> sums[lanes]{};
    Index i = begin;
    for (; i + lanes <= end; i += lanes) {
      for (Index lane = 0; lane < lanes; ++lane) sums[lane] = with_term(i + lane, b, c, sums[lane]);
    }
    for (Index lane = 0; i < end; ++i, ++lane) sums[lane] = with_term(i, b, c, sums[lane]);
    for (Index half = lanes / 2; half > 0; half /= 2) {
      for (Index lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
    }
    return sums[0];
  }
};

// partial(chunk + chunks c) = the largest part of an element in size, infinity for NaN.
template <Scalar T> struct ChunkLargest {
  using Member = typename Teams::member_type;
  Elements<const T> w;
  Wide<T>* partial;
  Index n, chunks;

  KOKKOS_INLINE_FUNCTION static double larger(double most, double part) {
    const double size = part == part ? Kokkos::abs(part) : Kokkos::Experimental::infinity_v<double>;
    return size > most ? size : most;
  }
  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const Index chunk = team.league_rank() % chunks;
    const Index c = team.league_rank() / chunks;
    const Index end = (chunk + 1) * chunk_height < n ? (chunk + 1) * chunk_height : n;
    double largest = 0.0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, chunk * chunk_height, end),
        [&](Index i, double& most) {
          if constexpr (is_complex<T>) {
            most = larger(larger(most, static_cast<double>(w(i, c).real())), static_cast<double>(w(i, c).imag()));
          } else {
            most = larger(most, static_cast<double>(w(i, c)));
          }
        },
        Kokkos::Max<double>(largest));
    Kokkos::single(Kokkos::PerTeam(team), [&] { partial[team.league_rank()] = Wide<T>(largest); });
  }
};

template <class Kernel>
void for_each_chunk(const ExecutionSpace& space, const char* label, Index league, const Kernel& kernel) {
  Kokkos::parallel_for(label, Teams(space, static_cast<int>(league), on_host ? 1 : 128), kernel);
}

// W_c = factors[c] W_c + sum_k factors[(k + 1) m + c] V_(k m + c), for runs of rows of one column.
template <Scalar T> struct CombinedColumns {
  const Wide<T>* factors;
  Elements<T> w;
  Elements<const T> v;
  Index columns, count;

  KOKKOS_INLINE_FUNCTION void operator()(Index c, Index begin, Index end) const {
    // Rows per thread, with the loop over them inside: contiguous in memory, with independent sums.
    constexpr Index rows = on_host ? 32 : 1;
    const Wide<T> own = factors[c];
    Index i = begin;
    for (; i + rows <= end; i += rows) combine<rows>(own, c, i);
    for (; i < end; ++i) combine<1>(own, c, i);
  }

 private:
  template <Index rows> KOKKOS_INLINE_FUNCTION void combine(const Wide<T>& own, Index c, Index first) const {
    Wide<T> sums[rows]{};
    if (own != Wide<T>(0.0)) {
      for (Index i = 0; i < rows; ++i) sums[i] = own * widened<T>(w(first + i, c));
    }
    for (Index k = 0; k < count; ++k) {
      const Wide<T> factor = factors[(k + 1) * columns + c];
      const T* const column = &v(first, k * columns + c);
      for (Index i = 0; i < rows; ++i) sums[i] = multiply_add(factor, widened<T>(column[i]), sums[i]);
    }
    for (Index i = 0; i < rows; ++i) w(first + i, c) = narrowed<T>(sums[i]);
  }
};

template <Scalar T>
void combine_columns(const ExecutionSpace& space, const Wide<T>* factors, const MatrixView<T>& W,
                     const MatrixView<const T>& V) {
  const auto m = static_cast<Index>(W.extent(1));
  for_each_run(
      space, "heddle::expm::combine_columns", static_cast<Index>(W.extent(0)), m,
      CombinedColumns<T>{factors, Elements<T>(W), Elements<const T>(V), m, static_cast<Index>(V.extent(1)) / m});
}

// `reads` is a template argument so that the loop vectorises.
template <bool reads, Scalar T>
void recur_reading(const ExecutionSpace& space, const RecurrenceFactors<T>& factors, const MatrixView<const T>& Y,
                   const MatrixView<const T>& X, const MatrixView<T>& Z, const MatrixView<T>& R) {
  const T p = factors.p;
  const T q = factors.q;
  const T r = factors.r;
  const T g = factors.g;
  const Elements<const T> y(Y), x(X);
  const Elements<T> z(Z), sum(R);
  for_each_element(
      space, "heddle::expm::recur", static_cast<Index>(Z.extent(0)), static_cast<Index>(Z.extent(1)),
      KOKKOS_LAMBDA(Index i, Index c) {
        const T old = reads ? r * z(i, c) : T(0);
        const T term = multiply_add(p, y(i, c), multiply_add(q, x(i, c), old));
        z(i, c) = term;
        sum(i, c) = multiply_add(g, term, sum(i, c));
      });
}

template <bool reads_x, bool reads_y, Scalar T>
void add_scaled_reading(const ExecutionSpace& space, T a, const MatrixView<const T>& X, T b, const MatrixView<T>& Y) {
  const Elements<const T> x(X);
  const Elements<T> y(Y);
  for_each_element(
      space, "heddle::expm::add_scaled", static_cast<Index>(Y.extent(0)), static_cast<Index>(Y.extent(1)),
      KOKKOS_LAMBDA(Index i, Index c) {
        const T old = reads_y ? b * y(i, c) : T(0);
        y(i, c) = reads_x ? multiply_add(a, x(i, c), old) : old;
      });
}

}  // namespace

template <Scalar T>
void recur(const ExecutionSpace& space, const RecurrenceFactors<T>& factors, const MatrixView<const T>& Y,
           const MatrixView<const T>& X, const MatrixView<T>& Z, const MatrixView<T>& R) {
  if (factors.r == T(0)) {
    recur_reading<false>(space, factors, Y, X, Z, R);
  } else {
    recur_reading<true>(space, factors, Y, X, Z, R);
  }
}

template <Scalar T>
void add_scaled(const ExecutionSpace& space, T a, const MatrixView<const T>& X, T b, const MatrixView<T>& Y) {
  if (a == T(0)) {
    (b == T(0) ? add_scaled_reading<false, false, T> : add_scaled_reading<false, true, T>)(space, a, X, b, Y);
  } else {
    (b == T(0) ? add_scaled_reading<true, false, T> : add_scaled_reading<true, true, T>)(space, a, X, b, Y);
  }
}

template <Scalar T> void BlockColumns<T>::reserve(std::size_t count) {
  if (device_.extent(0) < count) {
    device_ = Kokkos::View<Wide<T>*, MemorySpace>(
        Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "heddle::expm::block_sums"), count);
    host_ = Pinned(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::expm::host_block_sums"), count);
  }
}

template <Scalar T>
std::vector<Wide<T>> BlockColumns<T>::dots(const MatrixView<const T>& V, const MatrixView<const T>& W) {
  const auto n = static_cast<Index>(W.extent(0));
  const Index chunks = row_chunks_of(n);
  const std::size_t count = V.extent(1);
  std::vector<Wide<T>> sums(count, Wide<T>(0.0));
  const std::size_t partials = count * static_cast<std::size_t>(chunks);
  if (partials == 0) {
    return sums;
  }
  reserve(partials);
  for_each_chunk(space_, "heddle::expm::block_dots", static_cast<Index>(partials),
                 ChunkDots<T>{Elements<const T>(V), Elements<const T>(W), device_.data(), n,
                              static_cast<Index>(W.extent(1)), chunks});
  Kokkos::deep_copy(space_, host_, device_);
  space_.fence("heddle::expm::block_dots");
  for (std::size_t at = 0; at < partials; ++at) sums[at / static_cast<std::size_t>(chunks)] += host_(at);
  return sums;
}

template <Scalar T> std::vector<double> BlockColumns<T>::norms(const MatrixView<const T>& W) {
  std::vector<double> norms;
  for (const Wide<T>& square : dots(W, W)) {
    const double size = std::sqrt(Kokkos::real(square));
    norms.push_back(std::isnan(size) ? std::numeric_limits<double>::infinity() : size);
  }
  return norms;
}

template <Scalar T> std::vector<double> BlockColumns<T>::largest(const MatrixView<const T>& W) {
  const auto n = static_cast<Index>(W.extent(0));
  const Index chunks = row_chunks_of(n);
  std::vector<double> largest(W.extent(1), 0.0);
  const std::size_t partials = largest.size() * static_cast<std::size_t>(chunks);
  if (partials == 0) {
    return largest;
  }
  reserve(partials);
  for_each_chunk(space_, "heddle::expm::block_largest", static_cast<Index>(partials),
                 ChunkLargest<T>{Elements<const T>(W), device_.data(), n, chunks});
  Kokkos::deep_copy(space_, host_, device_);
  space_.fence("heddle::expm::block_largest");
  for (std::size_t at = 0; at < partials; ++at) {
    double& most = largest[at / static_cast<std::size_t>(chunks)];
    most = std::max(most, Kokkos::real(host_(at)));
  }
  return largest;
}

template <Scalar T>
void BlockColumns<T>::combine(std::span<const Wide<T>> own, const MatrixView<T>& W, std::span<const Wide<T>> factors,
                              const MatrixView<const T>& V) {
  if (W.size() == 0) {
    return;
  }
  const std::size_t count = own.size() + factors.size();
  reserve(count);
  std::copy(own.begin(), own.end(), host_.data());
  std::copy(factors.begin(), factors.end(), host_.data() + own.size());
  const auto used = Kokkos::make_pair(std::size_t{0}, count);
  Kokkos::deep_copy(space_, Kokkos::subview(device_, used), Kokkos::subview(host_, used));
  // Fence, because the next call overwrites the host's copy.
  space_.fence("heddle::expm::combine_columns");
  combine_columns<T>(space_, device_.data(), W, V);
}

#define HEDDLE_INSTANTIATE(T)                                                                                 \
  template void recur<T>(const ExecutionSpace&, const RecurrenceFactors<T>&, const MatrixView<const T>&,      \
                         const MatrixView<const T>&, const MatrixView<T>&, const MatrixView<T>&);             \
  template void add_scaled<T>(const ExecutionSpace&, T, const MatrixView<const T>&, T, const MatrixView<T>&); \
  template class BlockColumns<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
