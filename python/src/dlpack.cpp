// DLPack import of other libraries' GPU arrays, ordered behind the streams that write them.
#include "arrays.hpp"
#include <heddle/comm/event.hpp>

#include <vector>

namespace heddle::python {
namespace {

// Whether a kind of device, as DLPack numbers them, is a GPU.
bool on_gpu(int device_type) {
  return device_type == nb::device::cuda::value || device_type == nb::device::cuda_managed::value ||
         device_type == nb::device::rocm::value;
}

// The table of functions that a type's attribute __dlpack_c_exchange_api__ has, by DLPack 1.3 (dlpack.h,
// DLPackExchangeAPI): an array exported without a call of Python.
struct Version {
  std::uint32_t major;
  std::uint32_t minor;
};
struct ManagedTensor {
  Version version;
  void* manager_context;
  void (*deleter)(ManagedTensor* self);
  std::uint64_t flags;
  nb::dlpack::dltensor tensor;
};
struct Exchange {
  Version version;
  const Exchange* previous;
  int (*allocate)(nb::dlpack::dltensor* prototype, ManagedTensor** made, void* error_context,
                  void (*set_error)(void* error_context, const char* kind, const char* message));
  int (*exported)(void* array, ManagedTensor** found);
  int (*imported)(ManagedTensor* tensor, void** array);
  int (*borrowed)(void* array, nb::dlpack::dltensor* found);
  int (*current_stream)(std::int32_t device_type, std::int32_t device, void** found);
};

// The table of an array's type; null where it has none that is understood.
const Exchange* exchange_of(nb::handle array) {
  struct Known {
    nb::handle type;
    const Exchange* exchange;
  };
  // Few, and never let go: a type at the address of another one would be taken for it.
  static auto* const known = new std::vector<Known>;
  const nb::handle type = array.type();
  for (const Known& one : *known) {
    if (one.type.is(type)) return one.exchange;
  }
  const nb::object attribute = nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
  if (attribute.is_none() || PyCapsule_IsValid(attribute.ptr(), "dlpack_exchange_api") == 0) return nullptr;
  const auto* exchange = static_cast<const Exchange*>(PyCapsule_GetPointer(attribute.ptr(), "dlpack_exchange_api"));
  while (exchange != nullptr && exchange->version.major > 1) exchange = exchange->previous;
  if (exchange == nullptr || exchange->version.major != 1) return nullptr;
  known->push_back({type.inc_ref(), exchange});
  return exchange;
}

constexpr const char* capsule_name = "dltensor_versioned";

// An array by its type's table; its elements are there for what is given to space() from now on.
nb::object exchanged_capsule(const Exchange& exchange, nb::handle array) {
  ManagedTensor* tensor = nullptr;
  if (exchange.exported(array.ptr(), &tensor) != 0) throw nb::python_error();
  PyObject* const capsule = PyCapsule_New(tensor, capsule_name, [](PyObject* unused) {
    // Whoever takes the tensor takes this destructor away.
    auto* const left = static_cast<ManagedTensor*>(PyCapsule_GetPointer(unused, capsule_name));
    if (left != nullptr && left->deleter != nullptr) left->deleter(left);
  });
  if (capsule == nullptr) {
    if (tensor->deleter != nullptr) tensor->deleter(tensor);
    throw nb::python_error();
  }
  nb::object owner = nb::steal(capsule);
  const int device_type = tensor->tensor.device.device_type;
  if (on_gpu(device_type)) {
    start();
    const int device = tensor->tensor.device.device_id;
    // An array on another GPU is refused by its user.
    if (device != Kokkos::device_id()) return owner;
    void* stream = nullptr;
    if (exchange.current_stream(device_type, device, &stream) != 0) throw nb::python_error();
    Event::on_stream(stream).before(space());
  }
  return owner;
}

}  // namespace

nb::object ordered_capsule(nb::handle array) {
  if (const Exchange* const exchange = exchange_of(array)) return exchanged_capsule(*exchange, array);
  if (!nb::hasattr(array, "__dlpack_device__")) return {};
  const nb::object device = array.attr("__dlpack_device__")();
  if (!on_gpu(static_cast<int>(nb::int_(nb::object(device[0]))))) return {};
  start();
  return array.attr("__dlpack__")(nb::arg("stream") = stream_number());
}

bool reachable(int device_type, int device) {
  if (!on_gpu(device_type)) return views_on_host;
  if constexpr (views_on_host) throw nb::type_error("heddle was built for CPUs, and this array is on a GPU");
  if (device != Kokkos::device_id()) {
    throw nb::type_error(message_of("an array on GPU ", device, "; heddle runs on GPU ", Kokkos::device_id()).c_str());
  }
  return true;
}

}  // namespace heddle::python
