// `heddle plot`: checks the file and the target, and hands both to the script that draws files of its kind.
#include "drivers/commands.hpp"
#include "drivers/eig/scf.hpp"
#include "drivers/expm/terms.hpp"
#include "drivers/gemm/trace.hpp"
#include "drivers/plot/pictures.hpp"
#include "drivers/predict/predict.hpp"
#include "drivers/study/exact.hpp"
#include "drivers/study/exact_errors.hpp"
#include "drivers/study/faces.hpp"
#include "drivers/study/gemm.hpp"
#include "drivers/study/jacobi.hpp"
#include "drivers/study/transpose.hpp"
#include "drivers/support/standard_output.hpp"
#include "drivers/tdse/record/hdf5.hpp"
#include "drivers/tdse/run/levels.hpp"
#include <heddle/core/error.hpp>

#include <string>

namespace heddle::driver {

namespace {

struct Options {
  std::string file;
  std::string output;
};

const OptionTable<Options>& all_options() {
  static const OptionTable<Options> table = {
      {"--input,-i,file",
       &Options::file,
       Text{},
       "HDF5 that heddle tdse wrote, JSON of heddle gemm --trace, CSV of heddle study, of heddle eig --scf or of "
       "heddle predict --sweep",
       {.key = "file", .required = true}},
      {"--output,-o", &Options::output, Text{"PNG"}, "PNG to write (default: FILE's name with .png, in this folder)"},
  };
  return table;
}

// By what the file holds, whatever its name. Throws Error(input) where it can't be drawn.
Picture picture_of(const std::filesystem::path& input) {
  if (looks_like_json(input)) {
    require_trace(input);
    return {"plot/gemm_trace.py", "matplotlib", "python3-matplotlib"};
  }
  if (looks_like_study(input)) return study_picture;
  if (looks_like_study_jacobi(input)) return study_jacobi_picture;
  if (looks_like_study_faces(input)) return study_faces_picture;
  if (looks_like_study_gemm(input)) return study_gemm_picture;
  if (looks_like_study_exact(input)) return study_exact_picture;
  if (looks_like_study_exact_errors(input)) return study_exact_errors_picture;
  if (looks_like_scf(input)) return scf_picture;
  if (looks_like_prediction(input)) return prediction_picture;
  if (looks_like_levels(input)) return levels_picture;
  if (looks_like_terms(input)) return terms_picture;
  const Hdf5Reader file(input);
  for (const char* needed : {"/grid/x", "/time/t", "/frames/t", "/density", "/nuclei/position", "/observables/norm"}) {
    (void)file.extents(needed);
  }
  return {"plot/plot.py", "matplotlib or h5py", "python3-matplotlib, python3-h5py"};
}

int run(const CommonOptions& common, const Options& options) {
  Report report("plot");
  const std::filesystem::path input = options.file;
  const Picture picture = picture_of(input);
  std::filesystem::path output = options.output;
  if (output.empty()) output = input.filename().replace_extension(".png");
  draw(picture, input, output);
  all_options().enter(options, report.inputs());
  report.results()["output"] = output.string();
  report.write(common);
  print_line(common, "wrote " + output.string());
  return exit_done;
}

}  // namespace

void add_plot(CLI::App& app, Selection& selection) {
  add_command(app, selection,
              {"plot",
               "Picture of a run of `heddle tdse`, of a trace of `heddle gemm`, of a table of `heddle study` or "
               "`heddle eig --scf`",
               "  heddle plot h2plus.h5 --output h2plus.png\n  heddle plot trace.json"},
              all_options(), run);
}

}  // namespace heddle::driver
