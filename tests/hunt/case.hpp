// One input of an operation: arrays, integers and options, which can be printed, shrunk and drawn again.
#pragma once

#include "hunt/random.hpp"
#include "support/matrices.hpp"
#include <heddle/core/operation.hpp>

#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace heddle::hunt {

enum class Type { float32, float64, complex32, complex64 };
inline constexpr int types = 4;

/// Call work(std::type_identity<T>{}) with the scalar T that `type` names.
template <class Work> void with_type(Type type, const Work& work) {
  switch (type) {
    case Type::float32:
      return work(std::type_identity<float>{});
    case Type::float64:
      return work(std::type_identity<double>{});
    case Type::complex32:
      return work(std::type_identity<Kokkos::complex<float>>{});
    case Type::complex64:
      return work(std::type_identity<Kokkos::complex<double>>{});
  }
}
inline bool is_complex_type(Type type) {
  return type == Type::complex32 || type == Type::complex64;
}
inline const Range& range_of(Type type) {
  return type == Type::float32 || type == Type::complex32 ? float_range : double_range;
}

/// Return the nearest number of the type.
inline Value in_type(const Value& x, Type type) {
  const Range& range = range_of(type);
  return {in_format(x.real(), range), is_complex_type(type) ? in_format(x.imag(), range) : 0.0};
}

/// Symmetry that a matrix keeps while it is shrunk.
enum class Mirror { none, hermitian, skew };

/// rows x columns numbers by columns, each exact in the case's type. Extents with one label, in all arrays of a case,
/// are equal and shrink together; '1' is fixed.
template <class Element> struct ArrayOf {
  std::string name;
  char row_label = 'm';
  char column_label = 'n';
  Index rows = 0;
  Index columns = 1;
  std::vector<Element> values;
  Mirror mirror = Mirror::none;

  [[nodiscard]] Element& at(Index i, Index j = 0) { return values[static_cast<std::size_t>(i + j * rows)]; }
  [[nodiscard]] const Element& at(Index i, Index j = 0) const { return values[static_cast<std::size_t>(i + j * rows)]; }
};
using Array = ArrayOf<Value>;
using Integers = ArrayOf<std::int64_t>;

/// An option of the case; shrinking tries `simple` in its place.
struct Knob {
  std::string name;
  long value = 0;
  long simple = 0;
};

struct Case {
  std::string operation;
  std::uint64_t seed = 0;
  std::uint64_t number = 0;
  Type type = Type::float64;
  std::vector<Array> arrays;
  std::vector<Integers> integers;
  std::vector<Knob> knobs;

  /// Return the array or knob of this name, which must exist.
  [[nodiscard]] const Array& array(std::string_view name) const;
  [[nodiscard]] const Integers& integer(std::string_view name) const;
  [[nodiscard]] long knob(std::string_view name) const;
  [[nodiscard]] Operation op(std::string_view name) const { return static_cast<Operation>(knob(name)); }

  void add_knob(const std::string& name, long value, long simple = 0) { knobs.push_back({name, value, simple}); }
  /// Add an array of zeros; this invalidates earlier references.
  Array& add(const std::string& name, char row_label, Index rows, char column_label = '1', Index columns = 1);
  Integers& add_integers(const std::string& name, char row_label, Index rows, char column_label = '1',
                         Index columns = 1);
};

/// Return the case as text, numbers with all their bits.
[[nodiscard]] std::string shown(const Case& one);
[[nodiscard]] std::string shown(double x);
[[nodiscard]] std::string shown(const Value& x);

/// Fill an array with numbers of one mood (now and then of several), with imaginary parts if the type has them.
void fill_hard(Random& random, Type type, Array& array);
void fill_mood(Random& random, Type type, Array& array, Mood mood);
/// Set a few elements to NaN, infinities and edges of the format.
void sprinkle(Random& random, Type type, Array& array);

/// Return the smallest failing case found by shrinking `failing` in at most `trials` candidates; `fails` tests a
/// candidate.
[[nodiscard]] Case shrunk(const Case& failing, const std::function<bool(const Case&)>& fails, int trials);

/// Number of memory layouts of a matrix: columns or rows contiguous, padded leading dimension, every other element.
inline constexpr int layouts = 4;

/// A copy of an array in device memory, in one of the layouts, with NaN between its elements.
template <Scalar T> class Placed {
 public:
  Placed(const Array& array, long layout) : rows_(array.rows), columns_(array.columns) {
    const auto m = static_cast<std::size_t>(rows_);
    const auto n = static_cast<std::size_t>(columns_);
    step_row_ = layout == 1 ? n : layout == 3 ? 2 : 1;
    step_column_ = layout == 1 ? 1 : layout == 2 ? m + 3 : layout == 3 ? 2 * m + 1 : m;
    offset_ = layout >= 2 ? 2 : 0;
    step_row_ = std::max<std::size_t>(step_row_, 1);
    step_column_ = std::max<std::size_t>(step_column_, 1);
    const std::size_t length = offset_ + (m > 0 ? (m - 1) * step_row_ : 0) + (n > 0 ? (n - 1) * step_column_ : 0) + 3;
    storage_ = Kokkos::View<T*, MemorySpace>("heddle::hunt::placed", length);
    before_ = Kokkos::View<T*, Kokkos::HostSpace>("heddle::hunt::before", length);
    for (std::size_t k = 0; k < length; ++k) before_(k) = T(std::numeric_limits<Real<T>>::quiet_NaN());
    for (Index j = 0; j < columns_; ++j) {
      for (Index i = 0; i < rows_; ++i) before_(at(i, j)) = test::narrow<T>(array.at(i, j));
    }
    Kokkos::deep_copy(storage_, before_);
  }
  [[nodiscard]] Kokkos::View<T**, Kokkos::LayoutStride, MemorySpace> matrix() const {
    return Kokkos::View<T**, Kokkos::LayoutStride, MemorySpace>(
        storage_.data() + offset_, Kokkos::LayoutStride(static_cast<std::size_t>(rows_), step_row_,
                                                        static_cast<std::size_t>(columns_), step_column_));
  }
  [[nodiscard]] Kokkos::View<T*, Kokkos::LayoutStride, MemorySpace> vector() const {
    return Kokkos::View<T*, Kokkos::LayoutStride, MemorySpace>(
        storage_.data() + offset_, Kokkos::LayoutStride(static_cast<std::size_t>(rows_), step_row_));
  }
  /// Copy the elements back.
  [[nodiscard]] HostMatrix<T> read() const {
    Kokkos::View<T*, Kokkos::HostSpace> now("heddle::hunt::now", storage_.extent(0));
    Kokkos::deep_copy(now, storage_);
    return test::host_matrix<T>(rows_, columns_, [&](Index i, Index j) { return now(at(i, j)); });
  }
  /// Return whether all memory outside the matrix is unchanged.
  [[nodiscard]] bool rest_untouched() const {
    Kokkos::View<T*, Kokkos::HostSpace> now("heddle::hunt::now", storage_.extent(0));
    Kokkos::deep_copy(now, storage_);
    for (Index j = 0; j < columns_; ++j) {
      for (Index i = 0; i < rows_; ++i) now(at(i, j)) = before_(at(i, j));
    }
    return now.extent(0) == 0 || std::memcmp(now.data(), before_.data(), now.extent(0) * sizeof(T)) == 0;
  }

 private:
  [[nodiscard]] std::size_t at(Index i, Index j) const {
    return offset_ + static_cast<std::size_t>(i) * step_row_ + static_cast<std::size_t>(j) * step_column_;
  }
  Index rows_, columns_;
  std::size_t step_row_ = 1, step_column_ = 1, offset_ = 0;
  Kokkos::View<T*, MemorySpace> storage_;
  Kokkos::View<T*, Kokkos::HostSpace> before_;
};

/// Return an array on the host in its own type.
template <Scalar T> HostMatrix<T> host_of(const Array& array) {
  return test::host_matrix<T>(array.rows, array.columns,
                              [&](Index i, Index j) { return test::narrow<T>(array.at(i, j)); });
}
/// Distribute an array over the ranks by one of test::placements_of() (any number selects one).
template <Scalar T>
DistributedMatrix<T> distributed(const Communicator& comm, Index rows, Index columns, long placement) {
  const auto all = test::placements_of(rows, columns, comm.size());
  return DistributedMatrix<T>(comm, all[static_cast<std::size_t>(placement) % all.size()], "hunted");
}
template <Scalar T> DistributedMatrix<T> distributed(const Communicator& comm, const Array& array, long placement) {
  const auto A = distributed<T>(comm, array.rows, array.columns, placement);
  scatter(host_of<T>(array), 0, A);
  return A;
}

}  // namespace heddle::hunt
