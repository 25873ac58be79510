// What VTK says, kept instead of printed. For the sources that include VTK alone.
#pragma once

#include <vtkLogger.h>
#include <vtkNew.h>
#include <vtkOutputWindow.h>
#include <vtkSmartPointer.h>

#include <functional>
#include <string>

namespace heddle::impl {

class VtkListener;

/// While it lives, VTK prints nothing, and its first error is kept.
class VtkQuiet {
 public:
  VtkQuiet();
  ~VtkQuiet();
  VtkQuiet(const VtkQuiet&) = delete;
  VtkQuiet& operator=(const VtkQuiet&) = delete;

  /// That error on one line, or nothing.
  [[nodiscard]] std::string reason() const;
  /// What to add to a message: where the reader is.
  void set_place(std::function<std::string()> place);

 private:
  vtkSmartPointer<VtkListener> listener_;
  vtkSmartPointer<vtkOutputWindow> before_;
  int display_;
  vtkLogger::Verbosity verbosity_;
};

}  // namespace heddle::impl
