// HDF5 files that are written in several steps.
#include "io/matrix/hdf5_driver.hpp"
#include <heddle/core/error.hpp>
#include <heddle/core/pending_file.hpp>
#include <heddle/io/pending_hdf5.hpp>

namespace heddle {

struct PendingHdf5::State {
  explicit State(const std::filesystem::path& target) : pending(target) {}

  PendingFile pending;
  int failure = 0;
  impl::Hdf5File file;  // Last: closing it may write.
};

PendingHdf5::PendingHdf5(const std::filesystem::path& target, bool keep) : state_(std::make_unique<State>(target)) {
  const impl::Hdf5Quiet quiet;
  const impl::Hdf5Properties properties = impl::hdf5_output_properties(state_->failure);
  const std::filesystem::path& path = state_->pending.path();
  std::error_code error;
  if (keep && std::filesystem::exists(target, error)) {
    std::filesystem::copy_file(target, path, std::filesystem::copy_options::overwrite_existing, error);
    if (error) state_->pending.refuse(error.value());
    state_->file = impl::Hdf5File(H5Fopen(path.c_str(), H5F_ACC_RDWR, properties.get()));
  } else {
    state_->file = impl::Hdf5File(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, properties.get()));
  }
  require_written();
  if (!state_->file) {
    throw Error(ErrorKind::output, message_of(target.string(), ": can't be written: ", impl::hdf5_reason()));
  }
}

PendingHdf5::~PendingHdf5() {
  const impl::Hdf5Quiet quiet;
  state_.reset();
}

std::int64_t PendingHdf5::id() const noexcept {
  return state_->file.get();
}

void PendingHdf5::require_written() const {
  if (state_->failure != 0) state_->pending.refuse(state_->failure);
}

void PendingHdf5::commit() {
  const impl::Hdf5Quiet quiet;
  const bool closed = state_->file.reset();
  require_written();
  if (!closed) throw Error(ErrorKind::computation, "HDF5 could not close a file: " + impl::hdf5_reason());
  state_->pending.commit();
}

}  // namespace heddle
