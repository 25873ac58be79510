// Files of other programs: integers of every size in every format that has them, and numbers in Fortran's forms.
#include "hunt/operations.hpp"
#include <heddle/io/matrix_file.hpp>
#include <heddle/io/text_list.hpp>

#include <hdf5.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace heddle::hunt {
namespace {

__extension__ using Int128 = __int128;

// Return a file name common to all ranks.
std::string name_for(const World& world, const std::string& ending) {
  std::string name =
      (std::filesystem::temp_directory_path() / ("heddle-hunt-" + std::to_string(::getpid()) + ending)).string();
  world.all.broadcast(name, 0);
  return name;
}

void draw_integers(Random& random, Case& one) {
  const Index m = random.extent(12);
  Integers& A = one.add_integers("A", 'm', m, 'n', random.extent(6));
  const bool wide = random.one_in(2);
  for (std::int64_t& x : A.values) {
    const auto bits = static_cast<std::int64_t>(random.next() >> (wide ? random.below(12) : 11 + random.below(53)));
    switch (random.below(6)) {
      case 0:
        x = std::numeric_limits<std::int64_t>::max() - random.below(3);
        break;
      case 1:
        x = std::numeric_limits<std::int64_t>::min() + random.below(3);
        break;
      case 2:
        x = (std::int64_t{1} << random.between(20, 62)) + random.between(-2, 2);
        break;
      default:
        x = bits;
    }
    if (!wide) x = x % (std::int64_t{1} << range_of(one.type).digits);
  }
  one.add_knob("format", random.below(4));
  one.add_knob("unsigned", random.below(2));
  one.add_knob("place", random.below(100));
}

Int128 integer_of(const Case& one, Index i, Index j) {
  const std::int64_t x = one.integer("A").at(i, j);
  return one.knob("unsigned") != 0 ? static_cast<Int128>(static_cast<std::uint64_t>(x)) : static_cast<Int128>(x);
}

void write_integers(const Case& one, const std::string& name) {
  const Integers& A = one.integer("A");
  const bool natural = one.knob("unsigned") != 0;
  const auto text_of = [&](std::int64_t x) {
    return natural ? std::to_string(static_cast<std::uint64_t>(x)) : std::to_string(x);
  };
  const std::string ending = std::filesystem::path(name).extension().string();
  if (ending == ".h5") {
    const hid_t file = H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t extents[] = {static_cast<hsize_t>(A.columns), static_cast<hsize_t>(A.rows)};
    const hid_t space = H5Screate_simple(2, extents, nullptr);
    const hid_t type = natural ? H5T_NATIVE_UINT64 : H5T_NATIVE_INT64;
    const hid_t data = H5Dcreate2(file, "matrix", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (!A.values.empty()) H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, A.values.data());
    H5Dclose(data);
    H5Sclose(space);
    H5Fclose(file);
    return;
  }
  std::ofstream out(name, std::ios::binary);
  if (ending == ".npy") {
    std::string head = std::string("{'descr': '<") + (natural ? "u8" : "i8") + "', 'fortran_order': True, 'shape': (" +
                       std::to_string(A.rows) + ", " + std::to_string(A.columns) + "), }";
    head.append(63 - (10 + head.size()) % 64, ' ');
    head += '\n';
    out << std::string("\x93NUMPY\x01\x00", 8) << static_cast<char>(head.size()) << '\0' << head;
    out.write(reinterpret_cast<const char*>(A.values.data()), static_cast<std::streamsize>(8 * A.values.size()));
  } else {
    if (ending == ".mtx") out << "%%MatrixMarket matrix array integer general\n" << A.rows << ' ' << A.columns << '\n';
    for (const std::int64_t x : A.values) out << text_of(x) << '\n';
  }
}

// The terms of each element have type T, one sign and decreasing size, and sum to the integer.
template <Scalar T> void run_integers(const World& world, const Case& one, Verdict& verdict) {
  static constexpr const char* endings[] = {".mtx", ".h5", ".npy", ".dat"};
  const std::string ending = endings[one.knob("format") % 4];
  const std::string name = name_for(world, ending);
  if (world.root()) write_integers(one, name);
  world.all.barrier();
  const Integers& A = one.integer("A");
  // HDF5 stores rows contiguously; a list is one column.
  const bool turned = ending == ".h5";
  const bool list = ending == ".dat";
  const PlacementChoice place = [&](Index m, Index n) {
    const auto all = test::placements_of(m, n, world.all.size());
    return all[static_cast<std::size_t>(one.knob("place")) % all.size()];
  };
  const auto integer_at = [&](Index i, Index j) {
    return turned ? integer_of(one, j, i)
           : list ? integer_of(one, i % std::max<Index>(A.rows, 1), i / std::max<Index>(A.rows, 1))
                  : integer_of(one, i, j);
  };
  bool all_fit = true;
  const Thrown thrown = thrown_by([&] {
    const auto terms =
        list ? read_text_list_terms<T>(world.all, name, place) : read_matrix_terms<T>(world.all, name, place);
    std::vector<HostMatrix<T>> whole;
    for (const auto& term : terms) whole.push_back(gather(term, 0));
    for (std::size_t j = 0; world.root() && j < whole[0].extent(1); ++j) {
      for (std::size_t i = 0; i < whole[0].extent(0); ++i) {
        Int128 sum = 0;
        for (const auto& term : whole) {
          const auto part = static_cast<Int128>(static_cast<double>(Kokkos::real(term(i, j))));
          all_fit = all_fit && (&term == &whole.front() || part == 0);
          verdict.holds("terms of one sign", sum == 0 || part == 0 || (sum < 0) == (part < 0));
          sum += part;
          verdict.holds("no imaginary part", Kokkos::imag(term(i, j)) == 0);
        }
        verdict.holds("terms have the sum", sum == integer_at(static_cast<Index>(i), static_cast<Index>(j)),
                      told<T>(static_cast<Index>(i), static_cast<Index>(j), whole[0](i, j), "another integer"));
      }
    }
    verdict.holds("one matrix where T has them all", !world.root() || all_fit == (terms.size() == 1));
  });
  verdict.holds("reads the terms", !thrown.any, thrown.message);
  if (!list) {
    bool fit = true;
    for (Index j = 0; j < A.columns; ++j) {
      for (Index i = 0; i < A.rows; ++i) {
        const Int128 x = integer_of(one, i, j);
        fit = fit && static_cast<Int128>(static_cast<double>(static_cast<Real<T>>(x))) == x;
      }
    }
    const Thrown refused = thrown_by([&] { static_cast<void>(read_matrix<T>(world.all, name, place)); });
    verdict.holds("refuses what T does not have, and nothing else", refused.any != fit, refused.message);
    verdict.holds("refuses as input", !refused.any || refused.kind == ErrorKind::input, refused.message);
  }
  world.all.barrier();
  if (world.root()) std::filesystem::remove(name);
}

void draw_forms(Random& random, Case& one) {
  Array& A = one.add("A", 'm', random.extent(30));
  fill_hard(random, one.type, A);
  one.add_knob("form", random.below(6));
  one.add_knob("begin", random.below(4));
}

// Format a number with 17 digits and an exponent in the form `form`.
std::string fortran(double x, long form) {
  char digits[40];
  std::snprintf(digits, sizeof(digits), "%+.16E", x);
  std::string text = digits;
  const std::size_t letter = text.find('E');
  std::string exponent = text.substr(letter + 1);
  if (form == 5) {
    while (exponent.size() < 4) exponent.insert(1, 1, '0');
    return text.substr(0, letter) + exponent;
  }
  return text.substr(0, letter) + "DdQqe"[form] + exponent;
}

template <Scalar T> void run_forms(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  if (!is_finite(given)) return verdict.skip();
  const std::string name = name_for(world, ".mtx");
  const long form = one.knob("form") % 6;
  if (world.root()) {
    static constexpr const char* begin[] = {"", "\xEF\xBB\xBF", "", "\xEF\xBB\xBF"};
    std::ofstream out(name);
    out << begin[one.knob("begin") % 4] << "%%MatrixMarket matrix array " << (is_complex<T> ? "complex" : "real")
        << " general\n"
        << (one.knob("begin") % 4 >= 2 ? " \t% a comment\n%\n" : "") << given.rows << " 1\n";
    for (const Value& x : given.values) {
      out << fortran(x.real(), form);
      if (is_complex<T>) out << ' ' << fortran(x.imag(), form);
      out << '\n';
    }
  }
  world.all.barrier();
  const Thrown thrown = thrown_by([&] {
    const auto found = gather(read_matrix<T>(world.all, name), 0);
    if (world.root()) {
      verdict.holds("reads the bits", test::same_bits(found, host_of<T>(given)), difference(found, host_of<T>(given)));
    }
  });
  verdict.holds("reads Fortran's numbers", !thrown.any, thrown.message);
  world.all.barrier();
  if (world.root()) std::filesystem::remove(name);
}

}  // namespace

void draw_integer_files(Random& random, Case& one) {
  draw_integers(random, one);
}
HEDDLE_HUNT_RUN(integer_files, run_integers)
void draw_file_forms(Random& random, Case& one) {
  draw_forms(random, one);
}
HEDDLE_HUNT_RUN(file_forms, run_forms)

}  // namespace heddle::hunt
