// Owners of HDF5's identifiers.
#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

namespace heddle::impl {

/// Owns one identifier; `close` is the H5?close that belongs to it.
template <herr_t (*close)(hid_t)> class Hdf5Handle {
 public:
  Hdf5Handle() = default;
  explicit Hdf5Handle(hid_t id) : id_(id) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Hdf5Handle() { reset(); }

  [[nodiscard]] explicit operator bool() const noexcept { return id_ >= 0; }
  [[nodiscard]] hid_t get() const noexcept { return id_; }
  /// Closes now; false where that failed.
  bool reset() noexcept {
    const hid_t id = std::exchange(id_, H5I_INVALID_HID);
    return id < 0 || close(id) >= 0;
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

using Hdf5File = Hdf5Handle<H5Fclose>;
using Hdf5Dataset = Hdf5Handle<H5Dclose>;
using Hdf5Space = Hdf5Handle<H5Sclose>;
using Hdf5Type = Hdf5Handle<H5Tclose>;
using Hdf5Properties = Hdf5Handle<H5Pclose>;

/// While it lives, HDF5 prints nothing when a call fails; the caller's setting comes back afterwards.
class Hdf5Quiet {
 public:
  Hdf5Quiet() {
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Hdf5Quiet() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  Hdf5Quiet(const Hdf5Quiet&) = delete;
  Hdf5Quiet& operator=(const Hdf5Quiet&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

/// Return HDF5's innermost reason for the latest failed call, on one line.
[[nodiscard]] std::string hdf5_reason();

}  // namespace heddle::impl
