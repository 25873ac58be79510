// Arrays of Python as Views: taken by DLPack or the buffer protocol where they lie, whatever their strides.
#pragma once

#include "core/memory/shared_storage.hpp"
#include "runtime.hpp"
#include <heddle/core/error.hpp>
#include <heddle/core/strided.hpp>
#include <heddle/transpose/transpose.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace heddle::python {

/// Whether host code reaches the library's Views, too.
inline constexpr bool views_on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

/// An array of Python whose elements are ready for work given to space(). nanobind asks DLPack for an array without
/// naming a stream, and producers then do not wait for what their own streams still write, or read, in it.
template <class Base> class Ordered : public Base {
 public:
  using Base::Base;
  explicit Ordered(Base&& array) : Base(std::move(array)) {}
};

/// An array that is read, and one that is written.
using Input = std::conditional_t<views_on_host, nb::ndarray<nb::ro>, Ordered<nb::ndarray<nb::ro>>>;
using Output = std::conditional_t<views_on_host, nb::ndarray<>, Ordered<nb::ndarray<>>>;

/// The DLPack capsule of an array on a GPU, whose producer has made the stream of space() wait for its own; null for
/// an array in host memory. Throws the exception that Python raises.
[[nodiscard]] nb::object ordered_capsule(nb::handle array);

/// DLPack's type of elements.
template <class T> [[nodiscard]] constexpr nb::dlpack::dtype dtype_of() {
  using Code = nb::dlpack::dtype_code;
  constexpr auto bits = static_cast<std::uint8_t>(8 * sizeof(T));
  if constexpr (std::is_integral_v<T>) {
    return {static_cast<std::uint8_t>(std::is_signed_v<T> ? Code::Int : Code::UInt), bits, 1};
  } else if constexpr (is_complex<T>) {
    return {static_cast<std::uint8_t>(Code::Complex), bits, 1};
  } else {
    return {static_cast<std::uint8_t>(Code::Float), bits, 1};
  }
}

/// Calls function.operator()<T>() for the one of these types that the elements have. Throws nb::type_error for others.
template <class First, class... Others, class Function>
auto with_type_of(const nb::dlpack::dtype& dtype, Function&& function) {
  if (dtype == dtype_of<First>()) return function.template operator()<First>();
  if constexpr (sizeof...(Others) > 0) {
    return with_type_of<Others...>(dtype, function);
  } else {
    throw nb::type_error("heddle: no function for this type of elements");
  }
}
/// The same for the four scalar types.
template <class Array, class Function> auto with_scalar(const Array& array, Function&& function) {
  return with_type_of<float, double, Kokkos::complex<float>, Kokkos::complex<double>>(array.dtype(),
                                                                                      std::forward<Function>(function));
}

/// DLPack's device type of the library's Views.
#if defined(KOKKOS_ENABLE_HIP)
inline constexpr int device_of_views = nb::device::rocm::value;
#else
inline constexpr int device_of_views = views_on_host ? nb::device::cpu::value : nb::device::cuda::value;
#endif

/// DLPack's number of the device of an array of this type: that on which the library runs.
[[nodiscard]] inline int device_number(int device_type) {
  return device_type == nb::device::cpu::value ? 0 : Kokkos::device_id();
}

/// Whether the library's kernels reach the memory of an array on this device, as DLPack names it. Throws nb::type_error
/// for one on another device than theirs.
[[nodiscard]] bool reachable(int device_type, int device);

/// An array as a View of Rank extents. If kernels do not reach its memory, such as NumPy's arrays on GPU backends, the
/// View is a copy in the library's memory, and give_back() copies the results home.
template <class T, int Rank> class Operand {
  using Value = std::remove_const_t<T>;
  template <class U> using Data = std::conditional_t<Rank == 1, U*, std::conditional_t<Rank == 2, U**, U***>>;
  template <class U, class Space> using Strided = Kokkos::View<Data<U>, Kokkos::LayoutStride, Space>;

 public:
  using View = Strided<T, MemorySpace>;

  /// Throws nb::type_error for other elements, and Error(argument), with `name`, for other numbers of extents and
  /// negative strides.
  template <class Array> Operand(const Array& array, const char* name) {
    if (!(array.dtype() == dtype_of<Value>())) {
      throw nb::type_error((std::string(name) + " has elements of another type than the other arrays").c_str());
    }
    require(array.ndim() == Rank, name, " has ", array.ndim(), " dimensions; expected ", Rank);
    Kokkos::LayoutStride layout;
    for (int axis = 0; axis < Rank; ++axis) {
      const auto index = static_cast<std::size_t>(axis);
      const auto extent = static_cast<std::size_t>(array.shape(index));
      require(extent <= 1 || array.stride(index) >= 0, name, ": strides must not be negative");
      layout.dimension[axis] = extent;
      // The stride of one element is never used.
      layout.stride[axis] = extent <= 1 ? 1 : static_cast<std::size_t>(array.stride(index));
    }
    auto* const data = static_cast<T*>(const_cast<void*>(static_cast<const void*>(array.data())));
    home_ = Strided<T, Kokkos::HostSpace>(data, layout);
    if (reachable(array.device_type(), array.device_id())) {
      view_ = View(data, layout);
    } else if constexpr (!views_on_host) {
      fetch();
    }
  }

  [[nodiscard]] const View& operator*() const { return view_; }
  [[nodiscard]] const View* operator->() const { return &view_; }
  /// A View of the caller's own elements. On GPU backends only its addresses are of use: kernels do not reach them.
  [[nodiscard]] View home() const { return View(home_.data(), home_.layout()); }

  /// Once the kernels that write it have been given to space().
  void give_back() const {
    if constexpr (!views_on_host && !std::is_const_v<T>) {
      if (!packed_.is_allocated()) return;
      const auto host = Kokkos::create_mirror_view(packed_);
      Kokkos::deep_copy(space(), host, packed_);
      space().fence("heddle::python::give_back");
      Kokkos::deep_copy(Kokkos::DefaultHostExecutionSpace(), home_, host);
    }
  }

 private:
  using Packed = Kokkos::View<Data<Value>, Kokkos::LayoutLeft, MemorySpace>;

  void fetch() {
    Kokkos::LayoutLeft layout;
    for (int axis = 0; axis < Rank; ++axis) layout.dimension[axis] = home_.extent(axis);
    packed_ = Packed(Kokkos::view_alloc("heddle::python::copy", space(), Kokkos::WithoutInitializing), layout);
    const auto host = Kokkos::create_mirror_view(packed_);
    Kokkos::deep_copy(Kokkos::DefaultHostExecutionSpace(), host, home_);
    Kokkos::deep_copy(space(), packed_, host);
    view_ = View(strided(packed_));
  }

  View view_;
  Strided<T, Kokkos::HostSpace> home_;
  Packed packed_;
};

/// Throws Error(argument) where the caller's `output` shares elements with the caller's `input`, copied or not.
template <class In, class Out, int RankIn, int RankOut>
void require_apart(const char* operation, const char* input_name, const Operand<In, RankIn>& input,
                   const char* output_name, const Operand<Out, RankOut>& output) {
  impl::require_apart(operation, input_name, input.home(), output_name, output.home());
}

/// Whether a matrix is column-major with some leading dimension, as BLAS takes it; every empty one is.
template <class T> [[nodiscard]] bool is_column_major(const StridedMatrix<T>& A) {
  if (A.size() == 0) return true;
  return (A.extent(0) <= 1 || A.stride(0) == 1) && (A.extent(1) <= 1 || A.stride(1) >= A.extent(0));
}

/// A column-major matrix under strides that say so even where it has one row, one column or none.
template <class T> [[nodiscard]] MatrixView<T> as_column_major(const StridedMatrix<T>& A) {
  const std::size_t rows = A.extent(0);
  const std::size_t leading = A.extent(1) > 1 && A.size() > 0 ? A.stride(1) : std::max<std::size_t>(rows, 1);
  return MatrixView<T>(A.data(), Kokkos::LayoutStride(rows, 1, A.extent(1), leading));
}

/// The transpose of a matrix, which is the same memory.
template <class T> [[nodiscard]] StridedMatrix<T> flipped(const StridedMatrix<T>& A) {
  return StridedMatrix<T>(A.data(), Kokkos::LayoutStride(A.extent(1), A.stride(1), A.extent(0), A.stride(0)));
}

/// A stack, whose first axis counts matrices, as a batch of the library, whose third axis does.
template <class T> [[nodiscard]] StridedBatch<T> as_batch(const StridedBatch<T>& A) {
  return StridedBatch<T>(
      A.data(), Kokkos::LayoutStride(A.extent(1), A.stride(1), A.extent(2), A.stride(2), A.extent(0), A.stride(0)));
}

/// A matrix in column-major order: itself, or a copy that give_back() copies into it.
template <class T> class ColumnMajor {
  using Value = std::remove_const_t<T>;

 public:
  /// `filled`: whether the elements are read.
  explicit ColumnMajor(const StridedMatrix<T>& A, bool filled = true) : home_(A) {
    if (is_column_major(A)) {
      view_ = as_column_major(A);
      return;
    }
    copy_ = LocalMatrix<Value>(Kokkos::view_alloc("heddle::python::columns", space(), Kokkos::WithoutInitializing),
                               A.extent(0), A.extent(1));
    if (filled) transpose(space(), Value(1), A, Operation::none, copy_);
    view_ = as_column_major<T>(StridedMatrix<T>(strided(copy_)));
  }
  [[nodiscard]] const MatrixView<T>& operator*() const { return view_; }
  void give_back() const {
    if constexpr (!std::is_const_v<T>) {
      if (copy_.is_allocated()) transpose(space(), Value(1), copy_, Operation::none, home_);
    }
  }

 private:
  StridedMatrix<T> home_;
  MatrixView<T> view_;
  LocalMatrix<Value> copy_;
};

}  // namespace heddle::python

namespace nanobind::detail {

template <class Base> struct type_caster<heddle::python::Ordered<Base>> {
  NB_TYPE_CASTER(heddle::python::Ordered<Base>, make_caster<Base>::Name)

  bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    object capsule;
    try {
      if (!source.is_none()) capsule = heddle::python::ordered_capsule(source);
    } catch (...) {
      return false;
    }
    make_caster<Base> plain;
    if (!plain.from_python(capsule.is_valid() ? handle(capsule) : source, flags, cleanup)) return false;
    value = heddle::python::Ordered<Base>(std::move(plain.value));
    return true;
  }
};

}  // namespace nanobind::detail
