// Balancing of distributed matrices by diagonal powers of two, with norms that do not depend on the number of ranks.
#include "expm/dense/balance.hpp"

#include "core/elementwise.hpp"
#include "libm/functions.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace heddle::impl {
namespace {

constexpr int most_sweeps = 20;
constexpr double largest_exponent = 511.0;
// A reduction by less than this is not worth a change (Parlett and Reinsch).
constexpr double worthwhile = 0.95;

// Numbers copied between the host and the device; on CPUs the same memory.
template <class Number> struct Shared {
  Kokkos::View<Number*, MemorySpace> device;
  Kokkos::View<Number*, Kokkos::SharedHostPinnedSpace> host;

  Shared(const ExecutionSpace& space, const std::string& label, Index count)
      : device(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label), count),
        host(Kokkos::create_mirror_view(
            Kokkos::view_alloc(Kokkos::WithoutInitializing, Kokkos::SharedHostPinnedSpace{}), device)) {}
  void to_device(const ExecutionSpace& space) const { Kokkos::deep_copy(space, device, host); }
  void to_host(const ExecutionSpace& space) const { Kokkos::deep_copy(space, host, device); }
};

template <RealScalar T> const DistributedMatrix<T>& some_part(const Parts<T>& A) {
  return A.real ? *A.real : *A.imaginary;
}

// 2^(x_j - x_i) as a factor for each column and one for each local row: in the normal range, and exact for integers,
// where |x| <= 511.
class Scaling {
 public:
  template <RealScalar T>
  Scaling(const ExecutionSpace& space, const DistributedMatrix<T>& A)
      : first_row_(A.local().extent(0) > 0 ? A.global_row(0) : 0),
        rows_(space, "heddle::expm::balance_row_factors", static_cast<Index>(A.local().extent(0))),
        columns_(space, "heddle::expm::balance_column_factors", static_cast<Index>(A.local().extent(1))) {}

  // No earlier copy may still be in progress.
  template <class Number> void set(const ExecutionSpace& space, std::span<const Number> x, double sign) const {
    for (std::size_t i = 0; i < rows_.host.extent(0); ++i) {
      rows_.host(i) = libm::exp2(-sign * static_cast<double>(x[static_cast<std::size_t>(first_row_) + i]));
    }
    for (std::size_t j = 0; j < columns_.host.extent(0); ++j) {
      columns_.host(j) = libm::exp2(sign * static_cast<double>(x[j]));
    }
    rows_.to_device(space);
    columns_.to_device(space);
  }
  [[nodiscard]] const Kokkos::View<double*, MemorySpace>& rows() const { return rows_.device; }
  [[nodiscard]] const Kokkos::View<double*, MemorySpace>& columns() const { return columns_.device; }
  [[nodiscard]] Index first_row() const { return first_row_; }

 private:
  Index first_row_;
  Shared<double> rows_;
  Shared<double> columns_;
};

// |b_ij|.
template <RealScalar T> struct Magnitudes {
  Elements<T> first;
  Elements<T> second;
  bool both;
  Kokkos::View<double*, MemorySpace> rows;
  Kokkos::View<double*, MemorySpace> columns;

  KOKKOS_INLINE_FUNCTION double operator()(Index i, Index j) const {
    double size = static_cast<double>(Kokkos::abs(first(i, j)));
    if (both) {
      size += static_cast<double>(Kokkos::abs(second(i, j)));
    }
    return size * (rows(i) * columns(j));
  }
};

using Teams = Kokkos::TeamPolicy<ExecutionSpace>;

// The largest element of each column.
template <RealScalar T>
void column_maxima(const ExecutionSpace& space, const Magnitudes<T>& size, Index rows, const Shared<double>& maxima) {
  const auto result = maxima.device;
  Kokkos::parallel_for(
      "heddle::expm::balance_maxima", Teams(space, static_cast<int>(result.extent(0)), Kokkos::AUTO),
      KOKKOS_LAMBDA(const Teams::member_type& team) {
        const Index j = team.league_rank();
        double largest = 0.0;
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, rows),
            [&](Index i, double& most) {
              const double element = size(i, j);
              most = element > most ? element : most;
            },
            Kokkos::Max<double>(largest));
        Kokkos::single(Kokkos::PerTeam(team), [&] { result(j) = largest; });
      });
}

// Sum of each column j in steps of 1 / units(j), each element rounded up.
template <RealScalar T>
void column_steps(const ExecutionSpace& space, const Magnitudes<T>& size, Index rows, const Shared<double>& units,
                  const Shared<Index>& steps) {
  const auto result = steps.device;
  const auto unit = units.device;
  Kokkos::parallel_for(
      "heddle::expm::balance_column_sums", Teams(space, static_cast<int>(result.extent(0)), Kokkos::AUTO),
      KOKKOS_LAMBDA(const Teams::member_type& team) {
        const Index j = team.league_rank();
        const double factor = unit(j);
        Index sum = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, rows),
            [&](Index i, Index& part) { part += static_cast<Index>(Kokkos::ceil(size(i, j) * factor)); }, sum);
        Kokkos::single(Kokkos::PerTeam(team), [&] { result(j) = sum; });
      });
}

// Sum of each row in parts of `width` columns, each summed in order: rows x parts, column-major. CPUs take several rows
// at a time, so that a column is read in whole cache lines.
constexpr Index width = 256;
template <RealScalar T>
void row_parts(const ExecutionSpace& space, const Magnitudes<T>& size, Index rows, Index columns,
               const Shared<double>& parts) {
  constexpr Index height = on_host ? 64 : 1;
  const Index blocks = (rows + height - 1) / height;
  const auto result = parts.device;
  Kokkos::parallel_for(
      "heddle::expm::balance_row_sums",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, blocks * ((columns + width - 1) / width)),
      KOKKOS_LAMBDA(Index item) {
        constexpr Index most = height;
        const Index begin = item % blocks * most;
        const Index part = item / blocks;
        const Index count = rows - begin < most ? rows - begin : most;
        const Index end = (part + 1) * width < columns ? (part + 1) * width : columns;
        double sum[most] = {};
        for (Index j = part * width; j < end; ++j) {
          for (Index i = 0; i < count; ++i) {
            sum[i] += size(begin + i, j);
          }
        }
        for (Index i = 0; i < count; ++i) {
          result(part * rows + begin + i) = sum[i];
        }
      });
}

// Norms of the rows and columns of a scaled matrix, with the same bits for any number of ranks.
template <RealScalar T> class ScaledNorms {
 public:
  ScaledNorms(const Communicator& comm, const Parts<T>& A)
      : comm_(comm),
        height_(static_cast<Index>(some_part(A).local().extent(0))),
        n_(some_part(A).rows()),
        scaling_(comm.space(), some_part(A)),
        size_{Elements<T>(some_part(A).local()), Elements<T>((A.imaginary ? A.imaginary : A.real)->local()),
              A.real && A.imaginary, scaling_.rows(), scaling_.columns()},
        row_parts_(comm.space(), "heddle::expm::balance_row_sums", height_ * ((n_ + width - 1) / width)),
        maxima_(comm.space(), "heddle::expm::balance_maxima", n_),
        units_(comm.space(), "heddle::expm::balance_units", n_),
        steps_(comm.space(), "heddle::expm::balance_column_sums", n_),
        rows_(static_cast<std::size_t>(n_)),
        columns_(static_cast<std::size_t>(n_)) {}

  [[nodiscard]] const std::vector<double>& rows() const { return rows_; }
  [[nodiscard]] const std::vector<double>& columns() const { return columns_; }
  [[nodiscard]] double norm_one() const {
    return columns_.empty() ? 0.0 : *std::max_element(columns_.begin(), columns_.end());
  }
  // NaN for all columns if a row's sum is not finite.
  template <class Number> void measure(std::span<const Number> x) {
    const ExecutionSpace& space = comm_.space();
    scaling_.set(space, x, 1.0);
    row_parts(space, size_, height_, n_, row_parts_);
    column_maxima(space, size_, height_, maxima_);
    row_parts_.to_host(space);
    maxima_.to_host(space);
    space.fence("heddle::expm::balance");
    std::fill(rows_.begin(), rows_.end(), 0.0);
    for (std::size_t k = 0; k < row_parts_.host.extent(0); ++k) {
      rows_[static_cast<std::size_t>(scaling_.first_row() + static_cast<Index>(k) % height_)] += row_parts_.host(k);
    }
    comm_.all_reduce(std::span<double>(rows_), Reduction::sum);
    if (!std::isfinite(std::accumulate(rows_.begin(), rows_.end(), 0.0))) {
      std::fill(columns_.begin(), columns_.end(), std::nan(""));
      return;
    }
    comm_.all_reduce(std::span<double>(maxima_.host.data(), maxima_.host.extent(0)), Reduction::maximum);
    // 2^40 steps in the largest element: sums of 2^22 of them fit in 63 bits. A column too small for that counts as
    // zero.
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      const double largest = maxima_.host(j);
      units_.host(j) = largest > 0x1p-900 ? std::ldexp(1.0, 39 - std::ilogb(largest)) : 0.0;
    }
    units_.to_device(space);
    column_steps(space, size_, height_, units_, steps_);
    steps_.to_host(space);
    space.fence("heddle::expm::balance");
    comm_.all_reduce(std::span<Index>(steps_.host.data(), steps_.host.extent(0)), Reduction::sum);
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      columns_[j] = units_.host(j) > 0.0 ? static_cast<double>(steps_.host(j)) / units_.host(j) : 0.0;
    }
  }

 private:
  Communicator comm_;
  Index height_;
  Index n_;
  Scaling scaling_;
  Magnitudes<T> size_;
  Shared<double> row_parts_;
  Shared<double> maxima_;
  Shared<double> units_;
  Shared<Index> steps_;
  std::vector<double> rows_;
  std::vector<double> columns_;
};

// Direction of a sweep: the change of each x that makes the norms of its own row and column equal, the sum of all norms
// that half of this change guarantees, and whether any x changes. Norms are those of |A| + least I.
struct Direction {
  std::vector<double> by;
  double assured = 0.0;
  bool any = false;

  Direction(const std::vector<double>& rows, const std::vector<double>& columns, double least) : by(rows.size(), 0.0) {
    for (std::size_t i = 0; i < by.size(); ++i) {
      const double row = rows[i] + least;
      const double column = columns[i] + least;
      const double mean = std::sqrt(row) * std::sqrt(column);
      const double arithmetic = row / 2 + column / 2;
      // No change if a norm is zero or NaN.
      const bool moves = mean > 0.0 && mean < worthwhile * arithmetic;
      if (moves) {
        by[i] = (libm::log2(row) - libm::log2(column)) / 2;
        any = true;
      }
      assured += moves ? mean : arithmetic;
    }
  }
};

// Return x + step by, shifted to the middle of its range and clamped to the largest exponents.
std::vector<double> moved(const std::vector<double>& x, const std::vector<double>& by, double step) {
  std::vector<double> result(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    result[i] = x[i] + step * by[i];
  }
  const auto [low, high] = std::minmax_element(result.begin(), result.end());
  const double middle = (*low + *high) / 2;
  for (double& value : result) {
    value = std::clamp(value - middle, -largest_exponent, largest_exponent);
  }
  return result;
}

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

template <RealScalar T>
void scale(const Communicator& comm, std::span<const int> exponents, double sign, WorkParts<T>& X) {
  if (!X.real && !X.imaginary) {
    return;
  }
  const ExecutionSpace& space = comm.space();
  const Scaling scaling(space, some_part(X.read()));
  scaling.set(space, exponents, sign);
  for (WorkMatrix<T>* part : {&X.real, &X.imaginary}) {
    if (!*part) {
      continue;
    }
    const MatrixView<T>& written = part->write().local();
    const Elements<T> x(written);
    const auto& rows = scaling.rows();
    const auto& columns = scaling.columns();
    for_each_element(
        space, "heddle::expm::balance", static_cast<Index>(written.extent(0)), static_cast<Index>(written.extent(1)),
        KOKKOS_LAMBDA(Index i, Index j) {
          x(i, j) = static_cast<T>(static_cast<double>(x(i, j)) * (rows(i) * columns(j)));
        });
  }
  // The host's factors are destroyed with this function.
  space.fence("heddle::expm::balance");
}

}  // namespace

template <RealScalar T> Balance balance(const Communicator& comm, const Parts<T>& A, double least) {
  Balance result;
  if (!A.real && !A.imaginary) {
    return result;
  }
  const auto n = static_cast<std::size_t>(some_part(A).rows());
  result.exponents.resize(n, 0);
  ScaledNorms<T> norms(comm, A);
  std::vector<double> x(n, 0.0);
  norms.measure(std::span<const double>(x));
  result.norm_before = norms.norm_one();
  result.norm_after = result.norm_before;
  Direction direction(norms.rows(), norms.columns(), least);
  if (!direction.any) {
    return result;
  }
  double step = 1.0;
  while (direction.any && result.sweeps < most_sweeps) {
    std::vector<double> next = moved(x, direction.by, step);
    norms.measure(std::span<const double>(next));
    ++result.sweeps;
    // The sum exceeds the guaranteed one, or is NaN.
    if (step == 1.0 && !(sum_of(norms.columns()) + least * static_cast<double>(n) <= direction.assured)) {
      step = 0.5;
      continue;
    }
    x = std::move(next);
    direction = Direction(norms.rows(), norms.columns(), least);
  }
  std::transform(x.begin(), x.end(), result.exponents.begin(),
                 [](double value) { return static_cast<int>(std::lround(value)); });
  norms.measure(std::span<const int>(result.exponents));
  result.needed = norms.norm_one() <= worthwhile * result.norm_before;
  if (result.needed) {
    result.norm_after = norms.norm_one();
  } else {
    std::fill(result.exponents.begin(), result.exponents.end(), 0);
  }
  return result;
}

template <RealScalar T> void apply_balance(const Communicator& comm, std::span<const int> exponents, WorkParts<T>& X) {
  scale(comm, exponents, 1.0, X);
}

template <RealScalar T> void undo_balance(const Communicator& comm, std::span<const int> exponents, WorkParts<T>& X) {
  scale(comm, exponents, -1.0, X);
}

#define HEDDLE_INSTANTIATE(T)                                                               \
  template Balance balance<T>(const Communicator&, const Parts<T>&, double);                \
  template void apply_balance<T>(const Communicator&, std::span<const int>, WorkParts<T>&); \
  template void undo_balance<T>(const Communicator&, std::span<const int>, WorkParts<T>&)
HEDDLE_INSTANTIATE(float);
HEDDLE_INSTANTIATE(double);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
