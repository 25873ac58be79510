// Types of the numbers that arrays of meshes hold.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::impl {

/// In the order of MeshArray's alternatives.
enum class ElementType : std::uint8_t { int8, uint8, int16, uint16, int32, uint32, int64, uint64, float32, float64 };

/// Calls `work` with a value of the C++ type.
template <class Work> auto with_type(ElementType type, const Work& work) {
  switch (type) {
    case ElementType::int8:
      return work(std::int8_t{});
    case ElementType::uint8:
      return work(std::uint8_t{});
    case ElementType::int16:
      return work(std::int16_t{});
    case ElementType::uint16:
      return work(std::uint16_t{});
    case ElementType::int32:
      return work(std::int32_t{});
    case ElementType::uint32:
      return work(std::uint32_t{});
    case ElementType::int64:
      return work(std::int64_t{});
    case ElementType::uint64:
      return work(std::uint64_t{});
    case ElementType::float32:
      return work(float{});
    default:
      return work(double{});
  }
}

/// Bytes of a number of that type.
[[nodiscard]] inline std::size_t bytes_of(ElementType type) {
  return with_type(type, [](auto number) { return sizeof(number); });
}

}  // namespace heddle::impl
