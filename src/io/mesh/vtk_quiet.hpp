// Capture of VTK's messages instead of printing. For the sources that include VTK alone.
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
  /// Set the source of a message's ending: the reader's position.
  void set_place(std::function<std::string()> place);

 private:
  vtkSmartPointer<VtkListener> listener_;
  vtkSmartPointer<vtkOutputWindow> before_;
  int display_;
  vtkLogger::Verbosity verbosity_;
};

}  // namespace heddle::impl
