// Machines that `heddle predict` knows by name, and files of rates.
#pragma once

#include <heddle/core/scalar.hpp>
#include <heddle/gemm/tile_model.hpp>

#include <string>

namespace heddle::driver {

/// The rates of a rank's device, and what is known about it beside them.
struct Machine {
  MachineRates rates;
  double memory = 0.0;      ///< Bytes of the device; 0: not known.
  std::string origin = {};  ///< Where the rates come from if nobody measured them: "the vendor's figures of an A100".
};

/// Return the machine that `--rates` names: NAME:GB, a100:tensor, a100:plain, or a file of `heddle tune`. Throws
/// Error(argument) for other names, and Error(input) for a file that can't be read, or whose rates are those of CPU
/// threads though the ranks are GPUs (`on_gpus`), or the other way round, or of one rank though there are several.
template <Scalar T> [[nodiscard]] Machine machine_of(const std::string& text, bool on_gpus, int ranks);

}  // namespace heddle::driver
