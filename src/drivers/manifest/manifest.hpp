// `heddle verify --manifest`: the bits that Heddle promises, computed on this machine.
#pragma once

#include "drivers/support/context.hpp"

#include <string>

namespace heddle::driver {

/// Compute the results whose names contain `only` and compare their SHA-256 with the stored ones; with `python` also
/// those of NumPy, SciPy and scikit-learn under `heddle run`. Collective; returns the exit code, exit_failed if one
/// differs.
[[nodiscard]] int verify_manifest(Context& context, const std::string& only, bool python);

}  // namespace heddle::driver
