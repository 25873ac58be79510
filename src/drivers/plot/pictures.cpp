// Pictures drawn by Heddle's Python scripts.
#include "drivers/plot/pictures.hpp"

#include "drivers/shared_files.hpp"
#include "drivers/support/process/programs.hpp"
#include <heddle/core/error.hpp>
#include <heddle/core/pending_file.hpp>

#include <string>

namespace heddle::driver {

void draw(const Picture& picture, const std::filesystem::path& input, const std::filesystem::path& output,
          const std::vector<std::string>& more) {
  const std::filesystem::path script = shared_file(picture.script);
  PendingFile pending(output);
  const std::string interpreter = python_program();
  std::vector<std::string> words = {interpreter, "-B", script.string(), input.string(), pending.path().string()};
  words.insert(words.end(), more.begin(), more.end());
  const int status = run_program(words);
  if (status == 127) throw Error(ErrorKind::input, interpreter + " could not be run; set HEDDLE_PYTHON to a Python 3");
  if (status == 3) {
    throw Error(ErrorKind::input, message_of(interpreter, " lacks ", picture.modules, " (Debian: ", picture.packages,
                                             "); set HEDDLE_PYTHON to one that has what is missing"));
  }
  if (status == 4) {
    throw Error(ErrorKind::input, message_of(output.string(),
                                             ": needs ffmpeg, which is not on the PATH (Debian: ffmpeg); "
                                             "a .gif needs Pillow alone"));
  }
  if (status == 5) {
    throw Error(ErrorKind::input,
                interpreter + " has a matplotlib before 3.6; set HEDDLE_PYTHON to one with a newer one");
  }
  if (status != 0) throw Error(ErrorKind::computation, message_of("plotting ", input.string(), " failed"));
  pending.commit();
}

}  // namespace heddle::driver
