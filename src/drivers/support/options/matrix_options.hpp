// Options that several of the commands on matrices have.
#pragma once

#include "drivers/support/options/option_table.hpp"
#include <heddle/blas/math_mode.hpp>
#include <heddle/core/operation.hpp>
#include <heddle/core/scalar.hpp>
#include <heddle/emulation/emulation.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::driver {

/// One matrix, from a file or random; a base of a command's options.
struct MatrixSource {
  std::string input;
  Index size = -1;
  std::uint64_t seed = 1;
  std::string scalar;  ///< Empty: as the file has it.
};
/// --input, --size, --seed and --scalar.
[[nodiscard]] const OptionTable<MatrixSource>& matrix_source_options();
/// These, and then a command's own options, of a struct whose base is a MatrixSource.
template <class Options> [[nodiscard]] OptionTable<Options> after_matrix_source(const OptionTable<Options>& own) {
  return OptionTable<Options>().include(itself, matrix_source_options()).include(itself, own);
}

/// The formats of matrix files, for the help of an option that names one.
inline constexpr const char* matrix_file_help =
    "File of A (.mtx Matrix Market, .npy NumPy, .txt: the order n, then n rows, or .h5 HDF5: FILE.h5:DATASET, or "
    "FILE.h5 "
    "for its dataset 'matrix')";

/// Names of scalar types, for --scalar, whose help is scalar_help.
[[nodiscard]] Choice<std::string> scalar_kind();
inline constexpr const char* scalar_help = "double, float, complex-double or complex-float";
/// N, T or C, in either case.
[[nodiscard]] Choice<Operation> operation_kind(const std::vector<Operation>& order = {Operation::none,
                                                                                      Operation::transpose,
                                                                                      Operation::conjugate_transpose});
/// native, emulated or auto.
[[nodiscard]] Choice<Arithmetic> arithmetic_kind();

/// auto, tensor, plain or tf32.
[[nodiscard]] Choice<MathMode> math_kind();
inline constexpr const char* math_help =
    "Of the BLAS. With cuBLAS: tensor: tensor cores in full precision, of double and complex-double (what auto does); "
    "plain: its pedantic mode, without tensor cores but for some of double; tf32: tensor cores that round factors to "
    "11 bits, of float and complex-float. CPUs have "
    "auto and plain, which are the same; rocBLAS has auto alone";

inline constexpr const char* tile_help =
    "Tile size N_i; auto: chosen by the tile model from this machine's measured rates";

}  // namespace heddle::driver
