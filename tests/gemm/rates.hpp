// Machine rates for tests of the tile model.
#pragma once

#include <heddle/gemm/tile_model.hpp>

namespace heddle::test {

/// A machine that reaches `math` flops per second with tiles of 1024, and four fifths of that with tiles of 256.
inline MachineRates rates_of(double math, double memory, double link) {
  MachineRates rates;
  rates.gemm = {{256, 0.8 * math}, {1024, math}};
  rates.memory_bandwidth = memory;
  rates.link_bandwidth = link;
  rates.overlap = 1.0;
  return rates;
}

}  // namespace heddle::test
