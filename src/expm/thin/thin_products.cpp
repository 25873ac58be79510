// Products of a matrix in row bands, and of its adjoint, with thin blocks.
#include "expm/thin/thin_products.hpp"

#include "core/elementwise.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace heddle::impl {
namespace {

using Range1 = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>;
using Teams = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::IndexType<Index>>;

// Columns of A in one sum: all on CPUs; on GPUs few enough to have plenty of threads.
constexpr Index chunk_width = 128;
Index column_chunks_of(Index n) {
  return on_host ? 1 : std::max<Index>((n + chunk_width - 1) / chunk_width, 1);
}

// partial(i, c, chunk) = the chunk's share of row i of A times column c of X, `width` columns at once: so that A is
// read from memory once for all of them.
template <Scalar Element, Scalar T, int width> struct RowSums {
  using R = Real<T>;
  static constexpr Index run = on_host ? 128 : 1;

  Elements<const Element> a;
  Elements<const T> x;
  T* partial;
  Index rows, n, columns, first_column, chunks;
  R inner;  // A factor of x.

  KOKKOS_INLINE_FUNCTION void operator()(Index task) const {
    const Index runs = (rows + run - 1) / run;
    const Index chunk = task / runs;
    const Index first = task % runs * run;
    const Index count = rows - first < run ? rows - first : run;
    const Index begin = n * chunk / chunks;
    const Index end = n * (chunk + 1) / chunks;
    R re[width * run] = {};
    R im[is_complex<T> ? width * run : 1] = {};
    for (Index k = begin; k < end; ++k) {
      for (int c = 0; c < width; ++c) {
        const R xr = inner * real_of<R>(x(k, first_column + c));
        const R xi = inner * imaginary_of<R>(x(k, first_column + c));
        R* const sums = re + c * run;
        for (Index i = 0; i < count; ++i) {
          const Element element = a(first + i, k);
          sums[i] = Kokkos::fma(real_of<R>(element), xr, sums[i]);
          if constexpr (is_complex<Element>) {
            sums[i] = Kokkos::fma(-imaginary_of<R>(element), xi, sums[i]);
          }
        }
        if constexpr (is_complex<T>) {
          R* const others = im + c * run;
          for (Index i = 0; i < count; ++i) {
            const Element element = a(first + i, k);
            others[i] = Kokkos::fma(real_of<R>(element), xi, others[i]);
            if constexpr (is_complex<Element>) {
              others[i] = Kokkos::fma(imaginary_of<R>(element), xr, others[i]);
            }
          }
        }
      }
    }
    for (int c = 0; c < width; ++c) {
      for (Index i = 0; i < count; ++i) {
        T& sum = partial[first + i + rows * (first_column + c + columns * chunk)];
        if constexpr (is_complex<T>) {
          sum = T(re[c * run + i], im[c * run + i]);
        } else {
          sum = re[c * run + i];
        }
      }
    }
  }
};

template <Scalar Element, Scalar T, int width>
void sum_rows(const ExecutionSpace& space, const MatrixView<const Element>& A, const MatrixView<const T>& X, T* partial,
              Index first_column, Real<T> inner) {
  const auto rows = static_cast<Index>(A.extent(0));
  const auto n = static_cast<Index>(A.extent(1));
  const RowSums<Element, T, width> sums{Elements<const Element>(A),
                                        Elements<const T>(X),
                                        partial,
                                        rows,
                                        n,
                                        static_cast<Index>(X.extent(1)),
                                        first_column,
                                        column_chunks_of(n),
                                        inner};
  constexpr Index run = RowSums<Element, T, width>::run;
  Kokkos::parallel_for("heddle::expm::thin_product", Range1(space, 0, (rows + run - 1) / run * sums.chunks), sums);
}

// Sums of the chunks of rows, each of rows x columns.
template <Scalar T> struct PartialSums {
  const T* sums;
  Index rows, columns, chunks;
};

// target(i, c) = factor times the sum over the chunks.
template <Scalar T>
void join_chunks(const ExecutionSpace& space, Real<T> factor, const PartialSums<T>& of, const Elements<T>& target) {
  const T* const partial = of.sums;
  const Index rows = of.rows;
  const Index columns = of.columns;
  const Index chunks = of.chunks;
  for_each_element(
      space, "heddle::expm::join_chunks", rows, columns, KOKKOS_LAMBDA(Index i, Index c) {
        T sum = partial[i + rows * c];
        for (Index chunk = 1; chunk < chunks; ++chunk) {
          sum += partial[i + rows * (c + columns * chunk)];
        }
        target(i, c) = factor * sum;
      });
}

// Largest part of an element in size; infinity for NaN.
template <Scalar T> double largest_part(const ExecutionSpace& space, const MatrixView<const T>& matrix) {
  const Elements<const T> a(matrix);
  const auto rows = static_cast<Index>(matrix.extent(0));
  double largest = 0.0;
  if (rows > 0) {
    Kokkos::parallel_reduce(
        "heddle::expm::largest", Range1(space, 0, static_cast<Index>(matrix.size())),
        KOKKOS_LAMBDA(Index k, double& most) {
          const T element = a(k % rows, k / rows);
          for (const double part : {real_of<double>(element), imaginary_of<double>(element)}) {
            const double size = part == part ? Kokkos::abs(part) : Kokkos::Experimental::infinity_v<double>;
            most = size > most ? size : most;
          }
        },
        Kokkos::Max<double>(largest));
  }
  return largest;
}

// steps(part + parts (j + n c)) = sum over i of the part of conj(a_ij) x_ic, in units of 1 / (factor second_factor).
template <Scalar Element, Scalar T> struct ColumnSteps {
  using Member = typename Teams::member_type;
  static constexpr Index parts = is_complex<T> ? 2 : 1;

  Elements<const Element> a;
  Elements<const T> x;
  Index* steps;
  Index rows, n;
  double factor, second_factor;  // A power of two, as two factors that don't overflow.

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const Index part = team.league_rank() % parts;
    const Index j = team.league_rank() / parts % n;
    const Index c = team.league_rank() / parts / n;
    Index sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, rows),
        [&](Index i, Index& mine) {
          const Element element = a(i, j);
          const double ar = real_of<double>(element);
          const double ai = imaginary_of<double>(element);
          const double xr = real_of<double>(x(i, c));
          const double xi = imaginary_of<double>(x(i, c));
          const double value = part == 0 ? Kokkos::fma(ar, xr, ai * xi) : Kokkos::fma(ar, xi, -(ai * xr));
          mine += static_cast<Index>(Kokkos::floor(Kokkos::fma(value * factor, second_factor, 0.5)));
        },
        sum);
    Kokkos::single(Kokkos::PerTeam(team), [&] { steps[team.league_rank()] = sum; });
  }
};

// Y = steps times unit.
template <Scalar T>
void from_steps(const ExecutionSpace& space, const Index* steps, double unit, Index n, Index columns,
                const MatrixView<T>& Y) {
  constexpr Index parts = is_complex<T> ? 2 : 1;
  const Elements<T> to(Y);
  for_each_element(
      space, "heddle::expm::thin_from_steps", n, columns, KOKKOS_LAMBDA(Index j, Index c) {
        const Index at = parts * (j + n * c);
        const auto first = static_cast<Real<T>>(static_cast<double>(steps[at]) * unit);
        const auto last = static_cast<Real<T>>(static_cast<double>(steps[at + parts - 1]) * unit);
        T& result = to(j, c);
        if constexpr (is_complex<T>) {
          result = T(first, last);
        } else {
          result = last;
        }
      });
}

template <Scalar T> void set_all(const ExecutionSpace& space, T value, const MatrixView<T>& Y) {
  const Elements<T> to(Y);
  for_each_element(
      space, "heddle::expm::thin_constant", static_cast<Index>(Y.extent(0)), static_cast<Index>(Y.extent(1)),
      KOKKOS_LAMBDA(Index i, Index c) { to(i, c) = value; });
}

// Y = the rows of all ranks, each rank's in a block of `band` rows.
template <Scalar T> void unpack_bands(const ExecutionSpace& space, const T* from, Index band, const MatrixView<T>& Y) {
  const Elements<T> to(Y);
  const auto columns = static_cast<Index>(Y.extent(1));
  for_each_element(
      space, "heddle::expm::unpack_bands", static_cast<Index>(Y.extent(0)), columns,
      KOKKOS_LAMBDA(Index i, Index c) { to(i, c) = from[i % band + band * (c + columns * (i / band))]; });
}

// Allocate space for `wanted` elements; the old contents are lost.
template <class View> void grow(const ExecutionSpace& space, View& view, Index wanted, const std::string& label) {
  if (static_cast<Index>(view.extent(0)) < wanted) {
    // Pinned memory is allocated without an execution space instance.
    if constexpr (std::is_same_v<typename View::memory_space, MemorySpace>) {
      view = View(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label), static_cast<std::size_t>(wanted));
    } else {
      view = View(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), static_cast<std::size_t>(wanted));
    }
  }
}

template <class To, class From>
void copy_first(const ExecutionSpace& space, const To& to, const From& from, Index count) {
  const auto range = Kokkos::make_pair(std::size_t{0}, static_cast<std::size_t>(count));
  Kokkos::deep_copy(space, Kokkos::subview(to, range), Kokkos::subview(from, range));
}

}  // namespace

template <Scalar Element, Scalar T>
ThinProducts<Element, T>::ThinProducts(const Communicator& comm, const DistributedMatrix<Element>& A)
    : comm_(comm), A_(A), first_row_(A.local().extent(0) > 0 ? A.global_row(0) : 0) {
  largest_ = comm_.all_reduce(largest_part<Element>(comm_.space(), A_.local()), Reduction::maximum);
}

template <Scalar Element, Scalar T>
void ThinProducts<Element, T>::multiply(Real<T> factor, const MatrixView<const T>& X, const MatrixView<T>& Y,
                                        Real<T> inner) {
  const ExecutionSpace& space = comm_.space();
  const auto rows = static_cast<Index>(A_.local().extent(0));
  const auto columns = static_cast<Index>(X.extent(1));
  const Index chunks = column_chunks_of(size());
  grow(space, partial_, rows * columns * chunks, "heddle::expm::thin_partial");
  Index c = 0;
  for (; c + 4 <= columns; c += 4) {
    sum_rows<Element, T, 4>(space, A_.local(), X, partial_.data(), c, inner);
  }
  for (; c + 2 <= columns; c += 2) {
    sum_rows<Element, T, 2>(space, A_.local(), X, partial_.data(), c, inner);
  }
  if (c < columns) {
    sum_rows<Element, T, 1>(space, A_.local(), X, partial_.data(), c, inner);
  }
  const PartialSums<T> sums{partial_.data(), rows, columns, chunks};
  if (comm_.size() == 1) {
    join_chunks<T>(space, factor, sums, Elements<T>(Y));
    return;
  }
  const Index band = A_.placement().row_axis().block;
  grow(space, band_, band * columns, "heddle::expm::thin_band");
  join_chunks<T>(space, factor, sums, Elements<T>(matrix_view(band_.data(), band, columns, band)));
  gather_rows(columns, Y);
}

template <Scalar Element, Scalar T> void ThinProducts<Element, T>::gather_rows(Index columns, const MatrixView<T>& Y) {
  const ExecutionSpace& space = comm_.space();
  const Index band = A_.placement().row_axis().block;
  const Index mine = band * columns;
  const Index all = mine * comm_.size();
  grow(space, host_band_, mine, "heddle::expm::thin_host_band");
  grow(space, host_gathered_, all, "heddle::expm::thin_host_gathered");
  grow(space, gathered_, all, "heddle::expm::thin_gathered");
  copy_first(space, host_band_, band_, mine);
  space.fence("heddle::expm::thin_product");
  comm_.all_gather(std::span<const T>(host_band_.data(), static_cast<std::size_t>(mine)),
                   std::span<T>(host_gathered_.data(), static_cast<std::size_t>(all)));
  copy_first(space, gathered_, host_gathered_, all);
  unpack_bands<T>(space, gathered_.data(), band, Y);
}

template <Scalar Element, Scalar T>
void ThinProducts<Element, T>::multiply_adjoint(Real<T> factor, const MatrixView<const T>& X, const MatrixView<T>& Y,
                                                Real<T> inner) {
  const ExecutionSpace& space = comm_.space();
  const auto columns = static_cast<Index>(X.extent(1));
  const double largest = 2.0 * largest_part<T>(space, X) * largest_;
  if (!(largest > 0.0 && std::isfinite(largest))) {
    set_all<T>(space, largest == 0.0 ? T(0) : T(std::numeric_limits<Real<T>>::infinity()), Y);
    return;
  }
  int exponent = 0;
  std::frexp(largest, &exponent);
  const int scale = 40 - exponent;
  using Kernel = ColumnSteps<Element, T>;
  const Index count = Kernel::parts * size() * columns;
  grow(space, steps_, count, "heddle::expm::thin_steps");
  grow(space, host_steps_, count, "heddle::expm::thin_host_steps");
  // Rows of X that multiply this rank's rows of A.
  const MatrixView<const T> mine = matrix_view(X.data() + first_row_, static_cast<Index>(A_.local().extent(0)), columns,
                                               static_cast<Index>(X.stride(1)));
  const Kernel kernel{Elements<const Element>(MatrixView<const Element>(A_.local())),
                      Elements<const T>(mine),
                      steps_.data(),
                      static_cast<Index>(A_.local().extent(0)),
                      size(),
                      std::ldexp(1.0, scale / 2),
                      std::ldexp(1.0, scale - scale / 2)};
  Kokkos::parallel_for("heddle::expm::thin_adjoint", Teams(space, static_cast<int>(count), on_host ? 1 : 128), kernel);
  copy_first(space, host_steps_, steps_, count);
  space.fence("heddle::expm::thin_adjoint");
  comm_.all_reduce(std::span<Index>(host_steps_.data(), static_cast<std::size_t>(count)), Reduction::sum);
  copy_first(space, steps_, host_steps_, count);
  from_steps<T>(space, steps_.data(),
                std::ldexp(1.0, -scale) * static_cast<double>(factor) * static_cast<double>(inner), size(), columns, Y);
}

// Instances for the action, and for estimates, which are made in double precision.
template class ThinProducts<float, float>;
template class ThinProducts<double, double>;
template class ThinProducts<float, Kokkos::complex<float>>;
template class ThinProducts<double, Kokkos::complex<double>>;
template class ThinProducts<Kokkos::complex<float>, Kokkos::complex<float>>;
template class ThinProducts<Kokkos::complex<double>, Kokkos::complex<double>>;
template class ThinProducts<float, double>;
template class ThinProducts<float, Kokkos::complex<double>>;

}  // namespace heddle::impl
