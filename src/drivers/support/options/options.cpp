// The options that every command has.
#include "drivers/support/options/options.hpp"

namespace heddle::driver {

const OptionTable<CommonOptions>& common_options() {
  static const OptionTable<CommonOptions> table = {
      {"--json",
       &CommonOptions::json,
       Text{.may_be_empty = false},
       "Write a report: inputs, results, checks and times as one JSON object; -: to standard output, and what is "
       "printed otherwise goes to standard error",
       {.enters = false}},
      {"--quiet", &CommonOptions::quiet, Flag{}, "Print nothing but errors", {.enters = false}},
      {"--progress",
       &CommonOptions::progress,
       Sets<ProgressMode>{ProgressMode::always},
       "Draw the progress bar even where standard error is no terminal (under mpirun)",
       {.enters = false, .excludes = "--no-progress"}},
      {"--no-progress",
       &CommonOptions::progress,
       Sets<ProgressMode>{ProgressMode::never},
       "Show no progress",
       {.enters = false}},
  };
  return table;
}

}  // namespace heddle::driver
