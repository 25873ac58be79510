// `heddle plot`: checks the file and the target, and passes both to the script for files of its kind.
#include "drivers/commands.hpp"
#include "drivers/eig/scf.hpp"
#include "drivers/expm/terms.hpp"
#include "drivers/gemm/trace.hpp"
#include "drivers/plot/pictures.hpp"
#include "drivers/predict/predict.hpp"
#include "drivers/studies.hpp"
#include "drivers/support/outputs.hpp"
#include "drivers/support/process/standard_output.hpp"
#include "drivers/support/process/text.hpp"
#include "drivers/tdse/record/hdf5.hpp"
#include "drivers/tdse/run/levels.hpp"
#include "drivers/tdse/run/scan.hpp"
#include <heddle/core/error.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <vector>

namespace heddle::driver {

namespace {

struct Options {
  std::string file;
  std::string output;
  std::vector<double> snapshots;
  std::string animate;
};

const OptionTable<Options>& all_options() {
  static const OptionTable<Options> table = {
      {"--input,-i,file",
       &Options::file,
       Text{},
       "HDF5 that heddle tdse wrote, JSON of heddle gemm --trace, CSV of heddle study, heddle eig --scf, heddle tdse "
       "--eigen, heddle expm --terms or heddle predict --sweep",
       {.key = "file", .required = true}},
      {"--output,-o", &Options::output, Text{"PNG"}, "PNG to write (default: FILE's name with .png, in this folder)"},
      {"--snapshots", &Options::snapshots, Number{.type_name = "T,T,..."},
       "Of a run with output.state: psi at these times, the nearest stored ones, with its nodes dotted, instead; with "
       "a pulse or an absorber the density in the whole box, too"},
      {"--animate",
       &Options::animate,
       Text{"FILM"},
       "Of a run: a film to write instead, as NAME.mp4 (needs ffmpeg) or NAME.gif (needs Pillow)",
       {.excludes = "--snapshots"}},
  };
  return table;
}

constexpr Picture run_picture = {"plot/plot.py", "matplotlib or h5py", "python3-matplotlib, python3-h5py"};
constexpr Picture snapshots_picture = {"plot/tdse_snapshots.py", run_picture.modules, run_picture.packages};
constexpr Picture film_picture = {"plot/tdse_animate.py", "matplotlib, h5py or Pillow",
                                  "python3-matplotlib, python3-h5py, python3-pil"};

// Choose the script by the file's contents, whatever its name. Throw Error(input) if it can't be drawn.
Picture picture_of(const std::filesystem::path& input) {
  if (looks_like_json(input)) {
    require_trace(input);
    return {"plot/gemm_trace.py", "matplotlib", "python3-matplotlib"};
  }
  if (const std::optional<Picture> of_study = study_picture_of(input)) return *of_study;
  if (looks_like_scf(input)) return scf_picture;
  if (looks_like_prediction(input)) return prediction_picture;
  if (looks_like_levels(input)) return levels_picture;
  if (looks_like_terms(input)) return terms_picture;
  const Hdf5Reader file(input);
  if (file.has("/scan/value")) {
    for (const char* needed : {"/scan/energies", "/final/populations", "/mean/populations", "/largest/populations"}) {
      (void)file.extents(needed);
    }
    return scan_picture;
  }
  for (const char* needed : {"/grid/x", "/time/t", "/frames/t", "/density", "/nuclei/position", "/observables/norm"}) {
    (void)file.extents(needed);
  }
  return run_picture;
}

void require_run(const std::filesystem::path& input, const char* option) {
  if (std::string_view(picture_of(input).script) != run_picture.script) {
    throw Error(ErrorKind::input, message_of(input.string(), ": is no run of heddle tdse, which ", option, " is for"));
  }
  if (!Hdf5Reader(input).has("/observables/node_positions")) {
    throw Error(ErrorKind::input,
                message_of(input.string(), ": an earlier version wrote it, without the nodes that ", option, " draws"));
  }
}

// Return the times as arguments of the script. Throw Error(input) for a file without psi, and for times beyond its
// range.
std::string snapshots_of(const std::filesystem::path& input, const std::vector<double>& times) {
  constexpr std::size_t most = 60;
  require(times.size() <= most, "--snapshots: ", times.size(), " times; expected at most ", most);
  require_run(input, "--snapshots");
  const Hdf5Reader file(input);
  if (!file.has("/psi")) {
    throw Error(ErrorKind::input,
                input.string() + ": has densities alone; heddle tdse --set output.state=true keeps psi");
  }
  const std::vector<double> stored = file.read<double>("/frames/t");
  std::string words;
  for (const double time : times) {
    // Times that differ from the last one by rounding alone are accepted.
    const double slack = stored.empty() ? 0.0 : 1e-9 * std::abs(stored.back());
    if (stored.empty() || time < stored.front() - slack || time > stored.back() + slack) {
      throw Error(ErrorKind::input, "--snapshots " + shortest(time) + ": " + input.string() + " has psi " +
                                        (stored.empty() ? "at no time"
                                                        : "from t = " + shortest(stored.front()) + " to " +
                                                              format("%.12g", stored.back())));
    }
    words += (words.empty() ? "" : ",") + shortest(time);
  }
  return words;
}

// Return the ending of the name. Throw Error(argument) unless it is mp4 or gif.
std::string film_format(const std::string& name) {
  std::string ending = std::filesystem::path(name).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  require(ending == ".mp4" || ending == ".gif", "--animate ", name, ": expected a name that ends in .mp4 or .gif");
  return ending.substr(1);
}

int run(const CommonOptions& common, const Options& options) {
  Report report("plot");
  const std::filesystem::path input = options.file;
  std::filesystem::path output = options.output;
  if (!options.animate.empty()) {
    require(options.output.empty(), "--animate and --output are both given; expected one of them");
    const std::string form = film_format(options.animate);
    output = options.animate;
    require_inputs_kept({{"--input", input}}, {{"--animate", output}});
    require_run(input, "--animate");
    draw(film_picture, input, output, {form});
  } else if (!options.snapshots.empty()) {
    const std::string times = snapshots_of(input, options.snapshots);
    if (output.empty()) output = input.stem().string() + "-snapshots.png";
    draw(snapshots_picture, input, output, {times});
  } else {
    const Picture picture = picture_of(input);
    if (output.empty()) output = input.filename().replace_extension(".png");
    draw(picture, input, output);
  }
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
               "  heddle plot h2plus.h5 --output h2plus.png\n  heddle plot trace.json\n"
               "  heddle plot run.h5 --snapshots 0,0.5,1\n  heddle plot run.h5 --animate run.gif"},
              all_options(), run);
}

}  // namespace heddle::driver
