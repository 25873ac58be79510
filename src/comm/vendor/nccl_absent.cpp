// NCCL links in builds without NCCL or RCCL: the version is empty, and make_nccl_links() throws.
#include "comm/vendor/nccl.hpp"
#include <heddle/core/error.hpp>

namespace heddle::impl {

std::string nccl_version() {
  return {};
}

std::unique_ptr<LinkMaker> make_nccl_links() {
  throw Error(ErrorKind::argument, "transport nccl: this build has no NCCL");
}

}  // namespace heddle::impl
