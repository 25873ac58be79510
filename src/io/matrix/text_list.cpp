// Reader of lists of numbers in text files.
#include "core/instantiate.hpp"
#include "io/matrix/chunks.hpp"
#include "io/matrix/panels.hpp"
#include "io/matrix/whole_numbers.hpp"
#include <heddle/io/text_list.hpp>

#include <vector>

namespace heddle {

namespace {

// `whole`: how whole numbers are read; null: as all others.
template <RealScalar T>
T read_number(const impl::TextReader& reader, std::string_view word, impl::WholeNumbers* whole) {
  if (whole != nullptr) {
    if (const auto number = impl::WholeNumber::from(word)) {
      if (const auto value = impl::element_of<T>(*number, *whole)) return *value;
    }
  }
  const T value = impl::next_number<T>(reader, word, "a real number");
  return whole != nullptr && whole->term > 0 ? T(0) : value;
}

template <Scalar T>
void read_line(const impl::TextReader& reader, std::string_view line, impl::WholeNumbers* whole,
               impl::Chunks<T>& numbers) {
  bool comma = false;  // One that waits for a number.
  bool first = true;
  line = line.substr(0, line.find('#'));
  for (;;) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    if (line.empty()) break;
    if (line.front() == ',') {
      if (comma || first) reader.refuse("expected a number before the comma");
      comma = true;
      line.remove_prefix(1);
      continue;
    }
    const std::string_view word = line.substr(0, std::min(line.find_first_of(" \t\r,"), line.size()));
    line.remove_prefix(word.size());
    numbers.append(T(read_number<Real<T>>(reader, word, whole)));
    comma = first = false;
  }
  if (comma) reader.refuse("expected a number after the comma");
}

template <Scalar T> std::vector<T> read_numbers(const std::filesystem::path& path, impl::WholeNumbers* whole) {
  impl::TextReader reader(path);
  impl::Chunks<T> numbers;
  for (std::string_view line; reader.next_line(line);) read_line(reader, line, whole, numbers);
  std::vector<T> all(numbers.size());
  numbers.move_to(all.data());
  return all;
}

template <Scalar T>
DistributedMatrix<T> read_list(const Communicator& comm, const std::filesystem::path& path,
                               const PlacementChoice& place, impl::WholeNumbers* whole) {
  std::vector<T> numbers;
  MatrixFileInfo info;
  comm.on_rank(0, [&] {
    numbers = read_numbers<T>(path, whole);
    info = {static_cast<Index>(numbers.size()), 1, false};
  });
  info = impl::broadcast_info(comm, info);
  const auto A = impl::new_matrix<T>(comm, path, place, info);
  impl::scatter_panels(A, [&](Range /*columns*/, const HostMatrix<T>& panel) {
    std::copy(numbers.begin(), numbers.end(), panel.data());
  });
  return A;
}

}  // namespace

template <Scalar T>
DistributedMatrix<T> read_text_list(const Communicator& comm, const std::filesystem::path& path,
                                    const PlacementChoice& place) {
  return read_list<T>(comm, path, place, nullptr);
}

template <Scalar T>
std::vector<DistributedMatrix<T>> read_text_list_terms(const Communicator& comm, const std::filesystem::path& path,
                                                       const PlacementChoice& place) {
  return impl::read_terms(comm, [&](impl::WholeNumbers& whole) { return read_list<T>(comm, path, place, &whole); });
}

#define HEDDLE_INSTANTIATE(T)                                                                                        \
  template DistributedMatrix<T> read_text_list(const Communicator&, const std::filesystem::path&,                    \
                                               const PlacementChoice&);                                              \
  template std::vector<DistributedMatrix<T>> read_text_list_terms(const Communicator&, const std::filesystem::path&, \
                                                                  const PlacementChoice&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
