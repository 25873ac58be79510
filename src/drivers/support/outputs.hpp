// The files that a command writes, beside those that it reads.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heddle::driver {

/// A file that a command will write, or reads, and the option or key that names it.
struct Output {
  std::string name;
  std::filesystem::path path;  ///< Empty: none.
};

/// Throws Error(argument), naming both and the file, if two outputs are one file, links followed: the later would
/// replace the earlier. Reads folders: for one rank, before the computation.
void require_distinct_outputs(const std::vector<Output>& outputs);

/// Throws Error(argument), naming both and the file, if one of `outputs` is one of `inputs`, links followed: it would
/// replace the input. Reads folders, as the function above.
void require_inputs_kept(const std::vector<Output>& inputs, const std::vector<Output>& outputs);

}  // namespace heddle::driver
