// MPI calls that throw on errors, and buffers that are kept alive forever.
#include "comm/failures/checked.hpp"

#include <heddle/core/error.hpp>

#include <array>
#include <deque>
#include <string>

namespace heddle::impl {

void checked(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> words{};
  int length = 0;
  if (MPI_Error_string(code, words.data(), &length) != MPI_SUCCESS) length = 0;
  throw Error(ErrorKind::computation, message_of(call, " failed: ", std::string(words.data(), length)));
}

MPI_Comm communicator_of(MPI_Fint handle) {
  return MPI_Comm_f2c(handle);
}

void keep_forever(std::any buffers) noexcept {
  // Never destroyed: MPI may outlive objects with static storage.
  // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): without memory the job ends at once.
  static auto* const kept = new std::deque<std::any>();
  kept->push_back(std::move(buffers));
}

}  // namespace heddle::impl
