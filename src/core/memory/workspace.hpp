// Device memory that a plan keeps from one call to the next.
#pragma once

#include <heddle/core/scalar.hpp>

#include <any>
#include <string>
#include <utility>
#include <vector>

namespace heddle::impl {

/// Arrays and matrices for work on one instance. If it keeps them, one is free again once nobody holds a View of it
/// but the workspace, and serves the next request of the same type that it fits: an array one of its label, if it is
/// long enough, and a View of other ranks one of its extents. So a call that asks for what the one before asked for
/// allocates nothing, which on GPUs takes some 70 microseconds an array. All work on the arrays is ordered on the
/// instance, so that one may be taken while work of its last holder is under way. One thread at a time.
class Workspace {
 public:
  /// keeps: otherwise each array is allocated when it is taken, and gone with its last View.
  Workspace(const ExecutionSpace& space, bool keeps) : space_(space), keeps_(keeps) {}
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  [[nodiscard]] const ExecutionSpace& space() const { return space_; }
  [[nodiscard]] bool keeps() const { return keeps_; }

  /// An uninitialised array.
  template <class T> [[nodiscard]] Kokkos::View<T*, MemorySpace> take(const std::string& label, Index size) {
    using Array = Kokkos::View<T*, MemorySpace>;
    if (!keeps_) return make<T>(label, size);
    // The shortest that is long enough, else the longest, whose place a longer one takes.
    std::size_t best = arrays_.size();
    for (std::size_t k = 0; k < arrays_.size(); ++k) {
      if (!is_free<T>(arrays_[k], label)) continue;
      const Index here = length<T>(arrays_[k]);
      const Index found = best < arrays_.size() ? length<T>(arrays_[best]) : -1;
      const bool fits = found >= size;
      if (fits ? here >= size && here < found : here > found) best = k;
    }
    if (best < arrays_.size() && length<T>(arrays_[best]) < size) {
      arrays_.erase(arrays_.begin() + static_cast<std::ptrdiff_t>(best));
      best = arrays_.size();
    }
    if (best == arrays_.size()) {
      arrays_.push_back(
          {made([&] { return make<T>(label, size); }), static_cast<Index>(sizeof(T)) * size, &is_unused<Array>});
    }
    const Array& array = *std::any_cast<Array>(&arrays_[best].view);
    if (static_cast<Index>(array.extent(0)) == size) return array;
    return Kokkos::subview(array, std::pair<Index, Index>(0, size));
  }

  /// An uninitialised View of these extents, of several ranks mostly.
  template <class View>
  [[nodiscard]] View take_shaped(const std::string& label, const typename View::array_layout& layout) {
    const auto make = [&] { return View(Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, label), layout); };
    if (!keeps_) return make();
    for (const Kept& kept : arrays_) {
      const auto* const view = std::any_cast<View>(&kept.view);
      if (view == nullptr || view->use_count() != 1) continue;
      bool fits = true;
      for (std::size_t axis = 0; axis < View::rank; ++axis) fits &= view->extent(axis) == layout.dimension[axis];
      if (fits) return *view;
    }
    const View view = made(make);
    arrays_.push_back({view, static_cast<Index>(sizeof(typename View::value_type) * view.size()), &is_unused<View>});
    return view;
  }

  /// Bytes of all arrays that are kept, and of those that are free; 0 where none are kept.
  [[nodiscard]] Index bytes() const {
    Index sum = 0;
    for (const Kept& kept : arrays_) sum += kept.bytes;
    return sum;
  }
  [[nodiscard]] Index free_bytes() const {
    Index sum = 0;
    for (const Kept& kept : arrays_) sum += kept.is_unused(kept.view) ? kept.bytes : 0;
    return sum;
  }

 private:
  struct Kept {
    std::any view;
    Index bytes;
    bool (*is_unused)(const std::any& view);
  };

  template <class T> Kokkos::View<T*, MemorySpace> make(const std::string& label, Index size) const {
    return Kokkos::View<T*, MemorySpace>(Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, label),
                                         static_cast<std::size_t>(size));
  }
  // If memory is short, free the unused arrays and try again.
  template <class Make> auto made(const Make& make) {
    try {
      return make();
    } catch (...) {
      std::erase_if(arrays_, [](const Kept& kept) { return kept.is_unused(kept.view); });
    }
    return make();
  }
  template <class View> static bool is_unused(const std::any& view) {
    return std::any_cast<View>(&view)->use_count() == 1;
  }
  template <class T> static bool is_free(const Kept& kept, const std::string& label) {
    const auto* const array = std::any_cast<Kokkos::View<T*, MemorySpace>>(&kept.view);
    return array != nullptr && array->use_count() == 1 && array->label() == label;
  }
  template <class T> static Index length(const Kept& kept) {
    return static_cast<Index>(std::any_cast<Kokkos::View<T*, MemorySpace>>(&kept.view)->extent(0));
  }

  ExecutionSpace space_;
  bool keeps_;
  std::vector<Kept> arrays_;
};

}  // namespace heddle::impl
