// HDF5 files of runs: arrays with units, and attributes.
#pragma once

#include <heddle/io/pending_hdf5.hpp>

#include <hdf5.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace heddle::driver {

/// Owns an HDF5 identifier and closes it with its own function.
class Hdf5Handle {
 public:
  Hdf5Handle(hid_t id, herr_t (*closing)(hid_t)) : id_(id), close_(closing) {}
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  /// Close the identifier; negative on failure.
  [[nodiscard]] herr_t close() { return close_(std::exchange(id_, -1)); }
  [[nodiscard]] hid_t id() const { return id_; }
  [[nodiscard]] bool valid() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// An HDF5 file being written; it appears complete with commit() or not at all. Every failure throws Error(output) or
/// Error(storage) naming the file.
class Hdf5Writer {
 public:
  /// Write a file that commit() moves to `path`, replacing any file there.
  explicit Hdf5Writer(const std::filesystem::path& path);

  /// Write dataset `name` ("/group/name"; groups are made as needed), row-major, with attributes `unit` and
  /// `description`.
  template <class T>
  void write(const std::string& name, const std::vector<hsize_t>& extents, std::span<const T> values,
             const std::string& unit, const std::string& description);
  /// Write an attribute of the file.
  void attribute(const std::string& name, const std::string& value);
  void attribute(const std::string& name, std::int64_t value);
  /// Complete the file; no writes may follow.
  void commit();

 private:
  [[noreturn]] void fail(const std::string& what) const;
  void attribute(hid_t object, const std::string& name, const std::string& value) const;

  std::string name_;
  PendingHdf5 file_;
};

/// An HDF5 file being read. Every failure throws Error(input) naming the file and the dataset. A file with a link into
/// another file, or a dataset whose elements are in another, is refused: whoever wrote it must not choose what is read.
class Hdf5Reader {
 public:
  explicit Hdf5Reader(const std::filesystem::path& path);

  [[nodiscard]] std::vector<hsize_t> extents(const std::string& name) const;
  [[nodiscard]] bool has(const std::string& name) const;
  /// Read all values of a dataset; T is double, std::int64_t or std::complex<double>.
  template <class T> [[nodiscard]] std::vector<T> read(const std::string& name) const;
  /// Return the names of all datasets, "/group/name", in alphabetical order.
  [[nodiscard]] std::vector<std::string> datasets() const;
  /// Read a dataset of any type in this machine's memory format.
  [[nodiscard]] std::vector<std::byte> bytes(const std::string& name) const;
  [[nodiscard]] bool has_attribute(const std::string& name) const;
  [[nodiscard]] std::string text_attribute(const std::string& name) const;
  [[nodiscard]] std::int64_t integer_attribute(const std::string& name) const;

 private:
  [[noreturn]] void fail(const std::string& what) const;
  void require_whole() const;
  [[nodiscard]] Hdf5Handle open(const std::string& name) const;

  std::string name_;
  Hdf5Handle file_;
};

}  // namespace heddle::driver
