// Table of Gmsh's element types.
#include "io/mesh/gmsh/gmsh_types.hpp"

namespace heddle::impl {

// VTK's wedges have bases that look outwards, Gmsh's inwards. VTK's pyramid lacks the node in the base
// that Gmsh's pyramid of 14 nodes has.
GmshType gmsh_type(std::int64_t number) {
  switch (number) {
    case 1:
      return {3, 2};
    case 2:
      return {5, 3};
    case 3:
      return {9, 4};
    case 4:
      return {10, 4};
    case 5:
      return {12, 8};
    case 6:
      return {13, 6, "acbdfe"};
    case 7:
      return {14, 5};
    case 8:
      return {21, 3};
    case 9:
      return {22, 6};
    case 10:
      return {28, 9};
    case 11:
      return {24, 10, "abcdefghji"};
    case 12:
      return {29, 27, "abcdefghilnjqstrkmopwxvyuz{"};
    case 13:
      return {32, 18, "acbdfehjgnomilkqrp"};
    case 14:
      return {27, 14, "abcdefikghjlm"};
    case 15:
      return {1, 1};
    case 16:
      return {23, 8};
    case 17:
      return {25, 20, "abcdefghilnjqstrkmop"};
    case 18:
      return {26, 15, "acbdfehjgnomilk"};
    case 19:
      return {27, 13, "abcdefikghjlm"};
    default:
      return {};
  }
}

}  // namespace heddle::impl
