// Capture of VTK's messages, which VTK would print.
#include "io/mesh/vtk_quiet.hpp"

#include <vtkObjectFactory.h>

#include <algorithm>
#include <utility>

namespace heddle::impl {

namespace {

// VTK's text without "ERROR: In FILE, line N\nCLASS (0xADDRESS): " before it, on one line.
std::string reason_in(const std::string& text) {
  std::size_t begin = 0;
  if (const auto line = text.find('\n'); text.substr(0, line).find(": In ") != std::string::npos) {
    begin = line == std::string::npos ? 0 : line + 1;
  }
  if (const auto address = text.find(" (0x", begin); address != std::string::npos) {
    if (const auto close = text.find("): ", address); close != std::string::npos) begin = close + 3;
  }
  std::string reason;
  for (const char character : text.substr(begin)) {
    const auto byte = static_cast<unsigned char>(character);
    const bool space = byte <= ' ';
    if (!space) reason += byte < 0x7f ? character : '?';
    if (space && !reason.empty() && reason.back() != ' ') reason += ' ';
  }
  while (!reason.empty() && (reason.back() == ' ' || reason.back() == '.' || reason.back() == '!')) reason.pop_back();
  return reason;
}

}  // namespace

// Replaces VTK's output window, which prints, and keeps the first message: later ones follow from it, except one that
// names the array. Warnings about data that can't be read count as errors.
class VtkListener : public vtkOutputWindow {
 public:
  static VtkListener* New();
  VtkListener(const VtkListener&) = delete;
  VtkListener& operator=(const VtkListener&) = delete;

  void DisplayText(const char* text) override {
    const std::string reason = reason_in(text);
    if (first_.empty()) first_ = reason + (place_ ? place_() : "");
    if (array_.empty() && reason.rfind("Cannot read", 0) == 0) array_ = reason;
  }
  void DisplayErrorText(const char* text) override { DisplayText(text); }
  void DisplayWarningText(const char* text) override {
    if (reason_in(text).rfind("Error", 0) == 0) DisplayText(text);
  }
  void DisplayGenericWarningText(const char* text) override { DisplayWarningText(text); }
  void DisplayDebugText(const char*) override {}

  [[nodiscard]] std::string reason() const {
    return array_.empty() || first_.rfind("Cannot read", 0) == 0 ? first_ : array_ + " (" + first_ + ")";
  }
  // Set the source of a message's ending: the reader's position.
  void set_place(std::function<std::string()> place) { place_ = std::move(place); }

 protected:
  VtkListener() = default;
  ~VtkListener() override = default;

 private:
  std::string first_;
  std::string array_;
  std::function<std::string()> place_;
};

vtkStandardNewMacro(VtkListener);

VtkQuiet::VtkQuiet()
    : listener_(vtkSmartPointer<VtkListener>::New()),
      before_(vtkOutputWindow::GetInstance()),
      display_(vtkObject::GetGlobalWarningDisplay()),
      verbosity_(vtkLogger::GetCurrentVerbosityCutoff()) {
  vtkOutputWindow::SetInstance(listener_);
  vtkObject::SetGlobalWarningDisplay(1);  // Otherwise VTK reports nothing.
  vtkLogger::SetStderrVerbosity(vtkLogger::VERBOSITY_OFF);
  // The remaining cutoff is that of log files. If it hides stderr's, stderr gets VTK's default again.
  const auto files = vtkLogger::GetCurrentVerbosityCutoff();
  if (verbosity_ <= files) verbosity_ = std::min(files, vtkLogger::VERBOSITY_INFO);
}

VtkQuiet::~VtkQuiet() {
  vtkLogger::SetStderrVerbosity(verbosity_);
  vtkObject::SetGlobalWarningDisplay(display_);
  vtkOutputWindow::SetInstance(before_);
}

std::string VtkQuiet::reason() const {
  return listener_->reason();
}

void VtkQuiet::set_place(std::function<std::string()> place) {
  listener_->set_place(std::move(place));
}

}  // namespace heddle::impl
