// Predictions of products and exponentials on other machines.
#pragma once

#include "drivers/plot/pictures.hpp"

#include <filesystem>

namespace heddle::driver {

/// Return whether a file begins as the tables of `heddle predict --sweep` do.
[[nodiscard]] bool looks_like_prediction(const std::filesystem::path& path);

inline constexpr Picture prediction_picture = {"plot/predict.py", "matplotlib", "python3-matplotlib"};

}  // namespace heddle::driver
