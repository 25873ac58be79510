// heddle study: experiments whose tables and pictures show why things are done as they are.
#include "drivers/study/exact.hpp"
#include "drivers/study/exact_errors.hpp"
#include "drivers/study/faces.hpp"
#include "drivers/study/gemm.hpp"
#include "drivers/study/jacobi.hpp"
#include "drivers/study/transpose.hpp"

#include <CLI/CLI.hpp>

namespace heddle::driver {

void add_study(CLI::App& app, Selection& selection) {
  CLI::App& study = *app.add_subcommand("study", "Experiments: tables and pictures of what makes a kernel fast");
  study.require_subcommand(1);
  add_study_transpose(study, selection);
  add_study_jacobi(study, selection);
  add_study_faces(study, selection);
  add_study_gemm(study, selection);
  add_study_exact(study, selection);
  add_study_exact_errors(study, selection);
}

}  // namespace heddle::driver
