// NCCL, or RCCL, which has the same interface on AMD GPUs. Defined by nccl.cpp where CMake found it, else by
// nccl_absent.cpp.
#pragma once

#include "comm/transports/links.hpp"

#include <memory>
#include <string>

namespace heddle::impl {

/// Name and version of the library that was found: "NCCL 2.28.9"; empty where nothing was.
[[nodiscard]] std::string nccl_version();

/// Links by NCCL. Throws Error(argument) where nccl_version() is empty.
[[nodiscard]] std::unique_ptr<LinkMaker> make_nccl_links();

}  // namespace heddle::impl
