// Collective check that all ranks gave the same arguments.
#include "comm/failures/alike.hpp"

#include "comm/failures/checked.hpp"

#include <array>
#include <cstdint>
#include <exception>
#include <span>

namespace heddle::impl {
namespace {

// 63 bits of all texts (FNV-1a), as a number that has an opposite.
Index digest_of(const std::vector<Argument>& arguments) {
  std::uint64_t digest = 0xCBF29CE484222325ULL;
  for (const Argument& argument : arguments) {
    for (const char c : argument.value) digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
    digest = (digest ^ 0x100U) * 0x100000001B3ULL;
  }
  return static_cast<Index>(digest >> 1);
}

// Throw the difference found by the lowest rank that differs from rank 0.
[[noreturn]] void refuse(const Communicator& comm, std::string_view of, const std::vector<Argument>& arguments) {
  std::string text;
  for (const Argument& argument : arguments) {
    std::string first = argument.value;
    comm.broadcast(first, 0);
    if (text.empty() && first != argument.value) {
      text = message_of(of, ": ", argument.name, " is ", argument.value, " on rank ", comm.rank(), " and ", first,
                        " on rank 0; expected the same on every rank");
    }
  }
  const int lowest = comm.all_reduce(text.empty() ? comm.size() : comm.rank(), Reduction::minimum);
  comm.broadcast(text, lowest);
  throw Error(ErrorKind::argument, text);
}

}  // namespace

void require_alike(const Communicator& comm, std::string_view of, const std::vector<Argument>& arguments,
                   const std::function<void()>& check) {
  if (comm.size() == 1) {
    if (check) check();
    return;
  }
  std::exception_ptr failure;
  try {
    if (check) check();
  } catch (...) {
    failure = std::current_exception();
  }
  const Index digest = digest_of(arguments);
  std::array<Index, 3> least{failure ? comm.rank() : comm.size(), digest, -digest};
  comm.all_reduce(std::span<Index>(least), Reduction::minimum);
  if (least[0] < comm.size()) {
    comm.on_each([&] {
      if (failure) std::rethrow_exception(failure);
    });
  }
  if (least[1] != -least[2]) refuse(comm, of, arguments);
}

bool same_ranks(const Communicator& one, const Communicator& other) {
  if (one.native() == other.native()) return true;
  int relation = MPI_UNEQUAL;
  checked(MPI_Comm_compare(one.native(), other.native(), &relation), "MPI_Comm_compare");
  return relation == MPI_CONGRUENT;
}

}  // namespace heddle::impl
