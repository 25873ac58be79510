// heddle study: experiments whose tables and pictures show why things are done as they are.
#include "drivers/studies.hpp"
#include "studies/exact/exact.hpp"
#include "studies/exact/exact_errors.hpp"
#include "studies/faces/faces.hpp"
#include "studies/gemm/gemm.hpp"
#include "studies/jacobi/jacobi.hpp"
#include "studies/transpose/transpose.hpp"

#include <CLI/CLI.hpp>

namespace heddle::driver {

bool has_studies() {
  return true;
}

std::optional<Picture> study_picture_of(const std::filesystem::path& path) {
  if (looks_like_study(path)) return study_picture;
  if (looks_like_study_jacobi(path)) return study_jacobi_picture;
  if (looks_like_study_faces(path)) return study_faces_picture;
  if (looks_like_study_gemm(path)) return study_gemm_picture;
  if (looks_like_study_exact(path)) return study_exact_picture;
  if (looks_like_study_exact_errors(path)) return study_exact_errors_picture;
  return {};
}

std::string leave_to_studies(int /*argc*/, const char* const* /*argv*/) {
  return {};
}

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
