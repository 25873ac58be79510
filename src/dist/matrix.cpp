// Allocation, filling, copies, sums, norms and traces of distributed matrices.
#include "comm/vendor/vendor.hpp"
#include "core/elementwise.hpp"
#include "core/gibibytes.hpp"
#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "dist/arguments.hpp"
#include <heddle/core/host_memory.hpp>
#include <heddle/dist/matrix.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace heddle {
namespace {

// More than the machine has can't be had, whatever an allocation says: some systems promise it, and others let a
// product of sizes overflow.
void require_host_memory(const Communicator& comm, const std::string& label, Index rows, Index columns, double bytes) {
  if (bytes <= host_memory()) return;
  throw Error(ErrorKind::memory, message_of("matrix '", label, "': rank ", comm.rank(), " needs ",
                                            impl::gibibytes(bytes), " of memory for ", rows, " x ", columns,
                                            " elements; this machine has ", impl::gibibytes(host_memory())));
}

Error no_device_memory(const Communicator& comm, const std::string& label, Index rows, Index columns, double bytes) {
  const auto memory = impl::vendor::memory_info();
  return {ErrorKind::memory, message_of("matrix '", label, "': rank ", comm.rank(), " needs ", impl::gibibytes(bytes),
                                        " of device memory for ", rows, " x ", columns, " elements, ",
                                        impl::gibibytes(static_cast<double>(memory.free)), " of ",
                                        impl::gibibytes(static_cast<double>(memory.total)),
                                        " are free; more ranks, or a placement in host memory (host:...), would fit")};
}

// Device memory, or the reason why not. More than the device has is not asked for: a product of sizes may overflow.
template <Scalar T>
LocalMatrix<T> allocate(const Communicator& comm, const std::string& label, Index rows, Index columns) {
  const double bytes = static_cast<double>(sizeof(T)) * static_cast<double>(rows) * static_cast<double>(columns);
  if (impl::on_host) require_host_memory(comm, label, rows, columns, bytes);
  const auto device_memory = [] { return static_cast<double>(impl::vendor::memory_info().total); };
  // Asking takes longer than a small allocation.
  if (!impl::on_host && bytes > 0x1p32 && bytes > device_memory())
    throw no_device_memory(comm, label, rows, columns, bytes);
  try {
    return LocalMatrix<T>(Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, "heddle::dist::" + label),
                          static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  } catch (const std::exception&) {
    if (device_memory() == 0) throw;
    throw no_device_memory(comm, label, rows, columns, bytes);
  }
}

}  // namespace

template <Scalar T>
DistributedMatrix<T>::DistributedMatrix(const Communicator& comm, const Placement& placement, const std::string& label)
    : comm_(std::make_shared<Communicator>(comm)), placement_(placement) {
  require(placement.rank_end() <= comm.size(), "matrix '", label, "': ", placement.describe(), " needs rank ",
          placement.rank_end() - 1, "; there are ", comm.size(), " ranks");
  const Index rows = placement.local_rows(comm.rank());
  const Index columns = placement.local_columns(comm.rank());
  try {
    if (impl::on_host || placement.residence() == Residence::device) {
      local_ = allocate<T>(comm, label, rows, columns);
      return;
    }
    using Pinned = Kokkos::View<T*, Kokkos::SharedHostPinnedSpace>;
    const auto pinned =
        std::make_shared<Pinned>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::dist::" + label),
                                 static_cast<std::size_t>(rows * columns));
    local_ = impl::matrix_view(pinned->data(), rows, columns, rows);
    storage_ = pinned;
  } catch (const Error&) {
    throw;
  } catch (const std::exception&) {
    throw Error(ErrorKind::memory,
                message_of("matrix '", label, "': rank ", comm.rank(), " has no memory for its ", rows, " x ", columns,
                           " elements, ",
                           impl::gibibytes(sizeof(T) * static_cast<double>(rows) * static_cast<double>(columns))));
  }
}

template <Scalar T>
DistributedMatrix<T>::DistributedMatrix(const Communicator& comm, const Placement& placement,
                                        const MatrixView<T>& local)
    : comm_(std::make_shared<Communicator>(comm)), placement_(placement), local_(local) {
  require(placement.rank_end() <= comm.size(), "matrix: ", placement.describe(), " needs rank ",
          placement.rank_end() - 1, "; there are ", comm.size(), " ranks");
  const Index rows = placement.local_rows(comm.rank());
  const Index columns = placement.local_columns(comm.rank());
  const bool fits = static_cast<Index>(local.extent(0)) == rows && static_cast<Index>(local.extent(1)) == columns &&
                    (rows <= 1 || local.stride(0) == 1) &&
                    (columns <= 1 || static_cast<Index>(local.stride(1)) >= rows);
  // One rank's wrong array must be every rank's error.
  require(comm.all_reduce(fits ? 1 : 0, Reduction::minimum) == 1, "matrix: the local array of ", placement.describe(),
          " does not fit on some rank: here ", local.extent(0), " x ", local.extent(1), " with strides ",
          local.stride(0), ", ", local.stride(1), "; expected ", rows, " x ", columns, " column-major");
  if (!impl::on_host && placement.residence() == Residence::host && local.size() > 0 &&
      !impl::vendor::is_pinned_host(local.data())) {
    const std::size_t bytes =
        sizeof(T) * static_cast<std::size_t>((columns - 1) * static_cast<Index>(local.stride(1)) + rows);
    if (!impl::vendor::pin(local.data(), bytes)) {
      throw Error(ErrorKind::computation, message_of("matrix: can't pin ", bytes, " bytes of host memory on rank ",
                                                     comm.rank(), ": ", impl::vendor::last_error()));
    }
    storage_ = std::shared_ptr<void>(local.data(), [](void* data) { impl::vendor::unpin(data); });
  }
}

template <Scalar T> void fill(const DistributedMatrix<T>& A, std::type_identity_t<T> value) {
  const impl::Elements<T> a(A.local());
  impl::for_each_element(
      A.communicator().space(), "heddle::dist::fill", static_cast<Index>(A.local().extent(0)),
      static_cast<Index>(A.local().extent(1)), KOKKOS_LAMBDA(Index i, Index j) { a(i, j) = value; });
}

namespace {

// Larger of the two, NaN where either is.
template <RealScalar R> R larger(R a, R b) {
  return std::isnan(a) || a > b ? a : b;
}

template <RealScalar R> R largest(const std::vector<R>& values) {
  R result = 0;
  for (const R value : values) {
    result = larger(result, value);
  }
  return result;
}

// A team takes a local column at a time: neighbouring threads read neighbouring elements, and no index is divided.
// There is one for each column, up to a number that an int holds.
using ColumnTeam = Kokkos::TeamPolicy<ExecutionSpace>::member_type;
Kokkos::TeamPolicy<ExecutionSpace> teams_of_columns(const ExecutionSpace& space, Index columns) {
  return {space, static_cast<int>(std::min(columns, Index{1} << 20)), Kokkos::AUTO};
}

// Sum of |a| over each local column.
template <Scalar T> std::vector<Real<T>> column_sums(const DistributedMatrix<T>& A) {
  const impl::Elements<T> a(A.local());
  const auto rows = static_cast<Index>(A.local().extent(0));
  const auto columns = static_cast<Index>(A.local().extent(1));
  const Kokkos::View<Real<T>*, MemorySpace> sums(
      Kokkos::view_alloc(A.communicator().space(), "heddle::dist::column_sums"), A.local().extent(1));
  Kokkos::parallel_for(
      "heddle::dist::column_sums", teams_of_columns(A.communicator().space(), columns),
      KOKKOS_LAMBDA(const ColumnTeam& team) {
        for (Index j = team.league_rank(); j < columns; j += team.league_size()) {
          Real<T> sum = 0;
          Kokkos::parallel_reduce(
              Kokkos::TeamThreadRange(team, rows), [&](Index i, Real<T>& part) { part += Kokkos::abs(a(i, j)); }, sum);
          Kokkos::single(Kokkos::PerTeam(team), [&] { sums(j) = sum; });
        }
      });
  const auto host = Kokkos::create_mirror_view(Kokkos::WithoutInitializing, sums);
  Kokkos::deep_copy(A.communicator().space(), host, sums);
  A.communicator().space().fence("heddle::dist::column_sums");
  return {host.data(), host.data() + host.size()};
}

// Sum of |a| over each local row.
template <Scalar T> std::vector<Real<T>> row_sums(const DistributedMatrix<T>& A) {
  using R = Real<T>;
  // CPUs take several rows at a time, so that a column is read in whole cache lines. On GPUs neighbouring threads take
  // neighbouring rows, and the columns are cut into parts, so that there are threads enough.
  constexpr Index height = impl::on_host ? 64 : 1;
  const impl::Elements<T> a(A.local());
  const auto rows = static_cast<Index>(A.local().extent(0));
  const auto columns = static_cast<Index>(A.local().extent(1));
  const Index width = impl::on_host ? std::max<Index>(columns, 1) : 256;
  const Index parts = std::max<Index>((columns + width - 1) / width, 1);
  const Index blocks = (rows + height - 1) / height;
  const ExecutionSpace& space = A.communicator().space();
  const LocalMatrix<R> partial(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::dist::partial_row_sums"),
                               rows, parts);
  const Kokkos::View<R*, MemorySpace> sums(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::dist::row_sums"), rows);
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>;
  Kokkos::parallel_for(
      "heddle::dist::partial_row_sums", Policy(space, 0, blocks * parts), KOKKOS_LAMBDA(Index item) {
        constexpr Index most = height;
        const Index begin = item % blocks * most;
        const Index part = item / blocks;
        const Index count = rows - begin < most ? rows - begin : most;
        const Index end = (part + 1) * width < columns ? (part + 1) * width : columns;
        R sum[most] = {};
        for (Index j = part * width; j < end; ++j) {
          for (Index i = 0; i < count; ++i) {
            sum[i] += Kokkos::abs(a(begin + i, j));
          }
        }
        for (Index i = 0; i < count; ++i) {
          partial(begin + i, part) = sum[i];
        }
      });
  Kokkos::parallel_for(
      "heddle::dist::row_sums", Policy(space, 0, rows), KOKKOS_LAMBDA(Index i) {
        R sum = 0;
        for (Index part = 0; part < parts; ++part) {
          sum += partial(i, part);
        }
        sums(i) = sum;
      });
  const auto host = Kokkos::create_mirror_view(Kokkos::WithoutInitializing, sums);
  Kokkos::deep_copy(space, host, sums);
  space.fence("heddle::dist::row_sums");
  return {host.data(), host.data() + host.size()};
}

// Non-negative floating-point numbers rise with their bits read as an integer, and NaN comes after infinity: the
// largest of these is NaN where there is one, in any order of comparison.
template <RealScalar R> using BitsOf = std::conditional_t<sizeof(R) == 4, std::uint32_t, std::uint64_t>;

// Largest |a| of all local elements, NaN where there is one; 0 for none.
template <Scalar T> Real<T> largest_element(const DistributedMatrix<T>& A) {
  using R = Real<T>;
  using Bits = BitsOf<R>;
  const impl::Elements<T> a(A.local());
  const auto rows = static_cast<Index>(A.local().extent(0));
  const auto columns = static_cast<Index>(A.local().extent(1));
  if (A.local().size() == 0) {
    return R{0};
  }
  Bits result = 0;
  Kokkos::parallel_reduce(
      "heddle::dist::largest_element", teams_of_columns(A.communicator().space(), columns),
      KOKKOS_LAMBDA(const ColumnTeam& team, Bits& maximum) {
        for (Index j = team.league_rank(); j < columns; j += team.league_size()) {
          Bits of_column = 0;
          Kokkos::parallel_reduce(
              Kokkos::TeamThreadRange(team, rows),
              [&](Index i, Bits& largest) {
                const Bits bits = Kokkos::bit_cast<Bits>(static_cast<R>(Kokkos::abs(a(i, j))));
                largest = bits > largest ? bits : largest;
              },
              Kokkos::Max<Bits>(of_column));
          Kokkos::single(Kokkos::PerTeam(team), [&] { maximum = of_column > maximum ? of_column : maximum; });
        }
      },
      Kokkos::Max<Bits>(result));
  return Kokkos::bit_cast<R>(result);
}

template <Scalar T> Real<T> sum_of_squares(const DistributedMatrix<T>& A, Real<T> scale) {
  using R = Real<T>;
  const impl::Elements<T> a(A.local());
  const auto rows = static_cast<Index>(A.local().extent(0));
  const auto columns = static_cast<Index>(A.local().extent(1));
  R result = 0;
  Kokkos::parallel_reduce(
      "heddle::dist::sum_of_squares", teams_of_columns(A.communicator().space(), columns),
      KOKKOS_LAMBDA(const ColumnTeam& team, R& total) {
        for (Index j = team.league_rank(); j < columns; j += team.league_size()) {
          R of_column = 0;
          Kokkos::parallel_reduce(
              Kokkos::TeamThreadRange(team, rows),
              [&](Index i, R& sum) {
                const R size = Kokkos::abs(a(i, j)) / scale;
                sum += size * size;
              },
              of_column);
          Kokkos::single(Kokkos::PerTeam(team), [&] { total += of_column; });
        }
      },
      result);
  return result;
}

// Local sums along one axis, added up over the ranks into sums for all global indices.
template <RealScalar R>
R largest_sum(const Communicator& comm, const CyclicAxis& axis, int process, const std::vector<R>& sums) {
  std::vector<R> all(static_cast<std::size_t>(axis.extent), R{0});
  for (std::size_t k = 0; k < sums.size(); ++k) {
    all[static_cast<std::size_t>(axis.global(process, static_cast<Index>(k)))] = sums[k];
  }
  comm.all_reduce(std::span<R>(all), Reduction::sum);
  return largest(all);
}

}  // namespace

template <Scalar T> Real<T> norm(const DistributedMatrix<T>& A, Norm kind) {
  using R = Real<T>;
  const Communicator& comm = A.communicator();
  if (kind == Norm::one) {
    return largest_sum(comm, A.placement().column_axis(), A.grid_column(), column_sums(A));
  }
  if (kind == Norm::infinity) {
    return largest_sum(comm, A.placement().row_axis(), A.grid_row(), row_sums(A));
  }
  const R mine = largest_element(A);
  std::vector<R> all(static_cast<std::size_t>(comm.size()));
  comm.all_gather(std::span<const R>(&mine, 1), std::span<R>(all));
  const R maximum = largest(all);
  if (kind == Norm::maximum || maximum == 0 || !std::isfinite(maximum)) {
    return maximum;
  }
  return maximum * std::sqrt(comm.all_reduce(sum_of_squares(A, maximum), Reduction::sum));
}

template <Scalar T> T trace(const DistributedMatrix<T>& A) {
  using R = Real<T>;
  require(A.rows() == A.columns(), "trace: the matrix is ", A.rows(), " x ", A.columns(), "; expected square");
  const impl::Elements<T> a(A.local());
  const CyclicAxis rows = A.placement().row_axis();
  const CyclicAxis columns = A.placement().column_axis();
  const int p = A.grid_row();
  const int q = A.grid_column();
  T result = 0;
  Kokkos::parallel_reduce(
      "heddle::dist::trace",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(
          A.communicator().space(), 0, A.local().extent(1) == 0 ? 0 : static_cast<Index>(A.local().extent(0))),
      KOKKOS_LAMBDA(Index i, T & sum) {
        const Index g = rows.global(p, i);
        if ((g / columns.block) % columns.processes == q) {
          sum += a(i, g / columns.block / columns.processes * columns.block + g % columns.block);
        }
      },
      result);
  if constexpr (is_complex<T>) {
    R parts[2] = {result.real(), result.imag()};
    A.communicator().all_reduce(std::span<R>(parts), Reduction::sum);
    return T(parts[0], parts[1]);
  } else {
    return A.communicator().all_reduce(result, Reduction::sum);
  }
}

template <Scalar T> void copy(const DistributedMatrix<T>& A, const DistributedMatrix<T>& B) {
  require(A.placement() == B.placement(), "copy: from ", A.placement().describe(), " to ", B.placement().describe(),
          "; expected equal placements (redistribute takes any)");
  impl::require_same_ranks("copy", "B", B, A.communicator());
  impl::copy_elements<T>(B.communicator().space(), "heddle::dist::copy", A.local(), B.local());
}

template <Scalar T> void scale(std::type_identity_t<T> alpha, const DistributedMatrix<T>& A) {
  const impl::Elements<T> a(A.local());
  impl::for_each_element(
      A.communicator().space(), "heddle::dist::scale", static_cast<Index>(A.local().extent(0)),
      static_cast<Index>(A.local().extent(1)),
      KOKKOS_LAMBDA(Index i, Index j) { a(i, j) = impl::product(alpha, a(i, j)); });
}

template <Scalar T>
void add(std::type_identity_t<T> alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B) {
  require(A.placement() == B.placement(), "add: ", A.placement().describe(), " to ", B.placement().describe(),
          "; expected equal placements");
  impl::require_same_ranks("add", "B", B, A.communicator());
  const impl::Elements<T> a(A.local());
  const impl::Elements<T> b(B.local());
  impl::for_each_element(
      B.communicator().space(), "heddle::dist::add", static_cast<Index>(B.local().extent(0)),
      static_cast<Index>(B.local().extent(1)),
      KOKKOS_LAMBDA(Index i, Index j) { b(i, j) = multiply_add(alpha, a(i, j), b(i, j)); });
}

template <Scalar T> void add_identity(std::type_identity_t<T> alpha, const DistributedMatrix<T>& A) {
  require(A.rows() == A.columns(), "add_identity: the matrix is ", A.rows(), " x ", A.columns(), "; expected square");
  const impl::Elements<T> a(A.local());
  const CyclicAxis rows = A.placement().row_axis();
  const CyclicAxis columns = A.placement().column_axis();
  const int p = A.grid_row();
  const int q = A.grid_column();
  Kokkos::parallel_for(
      "heddle::dist::add_identity",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(
          A.communicator().space(), 0, A.local().extent(1) == 0 ? 0 : static_cast<Index>(A.local().extent(0))),
      KOKKOS_LAMBDA(Index i) {
        const Index g = rows.global(p, i);
        if ((g / columns.block) % columns.processes == q) {
          a(i, g / columns.block / columns.processes * columns.block + g % columns.block) += alpha;
        }
      });
}

#define HEDDLE_INSTANTIATE(T)                                                        \
  template class DistributedMatrix<T>;                                               \
  template void fill<T>(const DistributedMatrix<T>&, T);                             \
  template Real<T> norm<T>(const DistributedMatrix<T>&, Norm);                       \
  template T trace<T>(const DistributedMatrix<T>&);                                  \
  template void copy<T>(const DistributedMatrix<T>&, const DistributedMatrix<T>&);   \
  template void scale<T>(T, const DistributedMatrix<T>&);                            \
  template void add<T>(T, const DistributedMatrix<T>&, const DistributedMatrix<T>&); \
  template void add_identity<T>(T, const DistributedMatrix<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
