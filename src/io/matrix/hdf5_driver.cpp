// HDF5 driver (virtual file layer) for files whose writing may fail.
#include "io/matrix/hdf5_driver.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace heddle::impl {

namespace {

// Settings that HDF5 copies from the properties to the open callback.
struct Settings {
  int* failure;
};

// HDF5's part comes first, since HDF5 knows no other.
struct File {
  H5FD_t common;
  int descriptor;
  int* failure;
  haddr_t end_of_allocation;
  haddr_t end_of_file;
};

File& file_of(H5FD_t* file) {
  return *reinterpret_cast<File*>(file);
}
const File& file_of(const H5FD_t* file) {
  return *reinterpret_cast<const File*>(file);
}

constexpr haddr_t largest_address = (haddr_t{1} << 63U) - 1;

H5FD_t* open_file(const char* name, unsigned flags, hid_t properties, haddr_t /*largest*/) {
  const auto* const settings = static_cast<const Settings*>(H5Pget_driver_info(properties));
  const int create = (flags & H5F_ACC_TRUNC) != 0 ? O_CREAT | O_TRUNC : 0;
  const int descriptor = ::open(name, O_RDWR | O_CLOEXEC | create, 0666);
  struct stat status {};
  if (descriptor < 0 || ::fstat(descriptor, &status) != 0) {
    *settings->failure = errno;
    if (descriptor >= 0) ::close(descriptor);
    return nullptr;
  }
  return &(new File{{}, descriptor, settings->failure, 0, static_cast<haddr_t>(status.st_size)})->common;
}

herr_t close_file(H5FD_t* file) {
  const File* const mine = &file_of(file);
  // Some file systems write here.
  if (::close(mine->descriptor) != 0 && *mine->failure == 0) *mine->failure = errno;
  delete mine;
  return 0;
}

herr_t query(const H5FD_t* /*file*/, unsigned long* flags) {
  // As HDF5's own driver of plain files has them.
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t get_end_of_allocation(const H5FD_t* file, H5FD_mem_t /*type*/) {
  return file_of(file).end_of_allocation;
}
herr_t set_end_of_allocation(H5FD_t* file, H5FD_mem_t /*type*/, haddr_t address) {
  file_of(file).end_of_allocation = address;
  return 0;
}
haddr_t get_end_of_file(const H5FD_t* file, H5FD_mem_t /*type*/) {
  return file_of(file).end_of_file;
}

herr_t read(H5FD_t* file, H5FD_mem_t /*type*/, hid_t /*properties*/, haddr_t address, size_t size, void* buffer) {
  const File& mine = file_of(file);
  auto* to = static_cast<char*>(buffer);
  while (size > 0) {
    const ssize_t count = ::pread(mine.descriptor, to, size, static_cast<off_t>(address));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -1;
    if (count == 0) break;
    to += count;
    address += static_cast<haddr_t>(count);
    size -= static_cast<size_t>(count);
  }
  // Beyond the end there is nothing yet, or what could not be written.
  std::memset(to, 0, size);
  return 0;
}

herr_t write(H5FD_t* file, H5FD_mem_t /*type*/, hid_t /*properties*/, haddr_t address, size_t size,
             const void* buffer) {
  File& mine = file_of(file);
  mine.end_of_file = std::max(mine.end_of_file, address + size);
  const auto* from = static_cast<const char*>(buffer);
  while (size > 0 && *mine.failure == 0) {
    const ssize_t count = ::pwrite(mine.descriptor, from, size, static_cast<off_t>(address));
    if (count < 0) {
      if (errno != EINTR) *mine.failure = errno;
      continue;
    }
    from += count;
    address += static_cast<haddr_t>(count);
    size -= static_cast<size_t>(count);
  }
  return 0;
}

herr_t truncate(H5FD_t* file, hid_t /*properties*/, hbool_t /*closing*/) {
  File& mine = file_of(file);
  if (mine.end_of_file == mine.end_of_allocation) return 0;
  mine.end_of_file = mine.end_of_allocation;
  if (*mine.failure == 0 && ::ftruncate(mine.descriptor, static_cast<off_t>(mine.end_of_file)) != 0) {
    *mine.failure = errno;
  }
  return 0;
}

H5FD_class_t driver_class() {
  H5FD_class_t driver = {};
#if H5_VERSION_GE(1, 13, 0)
  driver.version = H5FD_CLASS_VERSION;
  // A value from the range that is free for use in one program.
  driver.value = static_cast<H5FD_class_value_t>(400);
#endif
  driver.name = "heddle";
  driver.maxaddr = largest_address;
  // Objects that are open when an error is thrown do not keep the file open.
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(Settings);
  driver.open = open_file;
  driver.close = close_file;
  driver.query = query;
  driver.get_eoa = get_end_of_allocation;
  driver.set_eoa = set_end_of_allocation;
  driver.get_eof = get_end_of_file;
  driver.read = read;
  driver.write = write;
  driver.truncate = truncate;
  const H5FD_mem_t dichotomy[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(dichotomy), std::end(dichotomy), std::begin(driver.fl_map));
  return driver;
}

}  // namespace

Hdf5Properties hdf5_output_properties(int& failure) {
  // HDF5 keeps the address.
  static const H5FD_class_t driver = driver_class();
  const Hdf5Handle<H5FDunregister> id(H5FDregister(&driver));
  Hdf5Properties properties(H5Pcreate(H5P_FILE_ACCESS));
  const Settings settings = {&failure};
  // The properties count as a user of the driver.
  H5Pset_driver(properties.get(), id.get(), &settings);
  return properties;
}

}  // namespace heddle::impl
