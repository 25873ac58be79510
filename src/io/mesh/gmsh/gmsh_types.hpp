// Types of elements in Gmsh's files.
#pragma once

#include <cstdint>

namespace heddle::impl {

/// A type of elements: VTK's number for it, and which of its nodes stand where in VTK's order.
struct GmshType {
  int type = 0;
  int nodes = 0;           ///< That a file has of each.
  const char* order = "";  ///< The nodes in VTK's order, from 'a' on; empty: as they are.
};

/// The type of Gmsh's number; without nodes if it is not supported.
[[nodiscard]] GmshType gmsh_type(std::int64_t number);

}  // namespace heddle::impl
