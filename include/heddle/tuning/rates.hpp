// The rates of this machine for the tile model: measured, kept in a file, loaded again.
#pragma once

#include <heddle/blas/math_mode.hpp>
#include <heddle/comm/communicator.hpp>
#include <heddle/core/scalar.hpp>
#include <heddle/gemm/tile_model.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace heddle {

/// Measures the rates of this machine, between nodes with all their ranks sending at once. Collective; blocks for about
/// `seconds` (at least 0.2). From 1 s on, emulated products are measured too, for half as long again, and so are warm
/// GPUs, which takes 4 s more. `progress`, if any, is called with the share that is done, from 0 to 1. Native products
/// are those of the math mode; throws Error(argument) for one that blas::trouble_with() refuses, and for
/// `seconds` that are not finite.
template <Scalar T>
[[nodiscard]] MachineRates measure_rates(const Communicator& comm, double seconds = 2.0,
                                         const std::function<void(double share_done)>& progress = {},
                                         MathMode math = MathMode::automatic);

/// Measures the peak of this machine's arithmetic: the flops per second of a rank, on average, where every thread of
/// every rank does independent fused multiply-adds in registers, of T's real type in the processor's widest vectors,
/// and all are warm; the best of 25 times. No product of matrices in native arithmetic is faster. Empty on GPUs, whose
/// matrix units such a kernel does not reach. Collective; blocks for about a second.
template <Scalar T> [[nodiscard]] std::optional<double> measure_peak(const Communicator& comm);

/// Return the model of the processor, as the system names it.
[[nodiscard]] std::string processor_name();
/// Return the name of the rank's GPU, or of the processor on CPU backends.
[[nodiscard]] std::string hardware_name(const ExecutionSpace& space);

/// Return the file that keeps the rates of this hardware in the automatic math mode, by backend, scalar type and
/// numbers of ranks, nodes and threads: in the folder $HEDDLE_RATES, or else in $XDG_CACHE_HOME/heddle or
/// $HOME/.cache/heddle, of rank 0; an empty name where none is set. Machines of the same hardware share it. Collective;
/// the same name on every rank.
template <Scalar T> [[nodiscard]] std::filesystem::path rates_file(const Communicator& comm);
/// Return the rates that were kept earlier with the same BLAS and transport, in that file, in the user's, or in one of
/// the same name in /etc/heddle, which an administrator may fill; or nothing. Collective: rank 0 reads.
template <Scalar T> [[nodiscard]] std::optional<MachineRates> load_rates(const Communicator& comm);
/// Keeps `rates` for load_rates(). Collective: rank 0 writes. Throws Error(output) where the folder can't be written.
template <Scalar T> void save_rates(const Communicator& comm, const MachineRates& rates);

/// The rates in a file of save_rates(), of any machine. Not collective. Throws Error(input) for a file
/// that can't be read or holds none.
[[nodiscard]] MachineRates read_rates(const std::filesystem::path& file);

/// The machine of a file of rates. Files of versions before 0.2 do not say it: the members are then empty.
struct RatesOrigin {
  std::string hardware;  ///< hardware_name().
  std::string backend;   ///< Name of the execution space: "Cuda", "HIP" or "OpenMP".
};
/// Return the machine of a file of save_rates(). Not collective. Throws Error(input) as read_rates() does.
[[nodiscard]] RatesOrigin rates_origin(const std::filesystem::path& file);

}  // namespace heddle
