// Matrices written and read back: equal bits in any format, type and placement.
#include "hunt/operations.hpp"
#include <heddle/io/matrix_file.hpp>

#include <unistd.h>

#include <filesystem>

namespace heddle::hunt {
namespace {

void draw_file(Random& random, Case& one) {
  const Index m = random.extent(20);
  Array& A = one.add("A", 'm', m, 'n', random.one_in(2) ? m : random.extent(20));
  fill_hard(random, one.type, A);
  if (random.one_in(8)) sprinkle(random, one.type, A);
  one.add_knob("format", random.below(4));
  one.add_knob("place A", random.below(100));
  one.add_knob("place B", random.below(100));
}

template <Scalar T> void run_file(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  static constexpr const char* endings[] = {".mtx", ".h5", ".txt", ".npy"};
  const std::string ending = endings[one.knob("format") % 4];
  std::string name =
      (std::filesystem::temp_directory_path() / ("heddle-hunt-" + std::to_string(::getpid()) + ending)).string();
  world.all.broadcast(name, 0);
  const auto A = distributed<T>(world.all, given, one.knob("place A"));
  const Thrown written = thrown_by([&] { write_matrix(name, A); });
  bool finite = true;
  for (const Value& x : given.values) finite = finite && std::isfinite(x.real()) && std::isfinite(x.imag());
  const bool has_form =
      ending == ".h5" || ending == ".npy" ||
      (finite && (ending == ".mtx" || (!is_complex<T> && given.rows == given.columns && given.rows > 0)));
  verdict.holds("refuses what has no form, and nothing else", written.any != has_form, written.message);
  if (written.any) {
    verdict.holds("refuses as output", written.kind == ErrorKind::output, written.message);
    verdict.holds("leaves no file", !std::filesystem::exists(name));
    return;
  }
  const PlacementChoice place = [&](Index m, Index n) {
    const auto all = test::placements_of(m, n, world.all.size());
    return all[static_cast<std::size_t>(one.knob("place B")) % all.size()];
  };
  const Thrown thrown = thrown_by([&] {
    const MatrixFileInfo info = matrix_file_info(world.all, name);
    verdict.holds("shape and field",
                  info.rows == given.rows && info.columns == given.columns && info.complex == is_complex<T>);
    const auto B = read_matrix<T>(world.all, name, place);
    const auto found = gather(B, 0);
    if (world.root())
      verdict.holds("reads back the bits", test::same_bits(found, host_of<T>(given)),
                    difference(found, host_of<T>(given)));
    if constexpr (!is_complex<T>) {
      const auto C = gather(read_matrix<Kokkos::complex<T>>(world.all, name, place), 0);
      for (std::size_t j = 0; j < C.extent(1); ++j) {
        for (std::size_t i = 0; i < C.extent(0); ++i) {
          verdict.holds("reads real numbers into complex ones",
                        same_real(C(i, j).real(), found(i, j)) && C(i, j).imag() == 0);
        }
      }
    }
  });
  verdict.holds("reads what it wrote", !thrown.any, thrown.message);
  world.all.barrier();
  if (world.root()) std::filesystem::remove(name);
}

}  // namespace

void draw_matrix_files(Random& random, Case& one) {
  draw_file(random, one);
}
HEDDLE_HUNT_RUN(matrix_files, run_file)

}  // namespace heddle::hunt
