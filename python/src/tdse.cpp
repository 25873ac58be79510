// heddle._core: the run of a deck of `heddle tdse`, step by step, and the hashes of a run's file.
#include "arrays.hpp"
#include "drivers/support/provenance.hpp"
#include "drivers/tdse/deck/deck.hpp"
#include "drivers/tdse/deck/files.hpp"
#include "drivers/tdse/record/physics_hash.hpp"
#include "drivers/tdse/record/record.hpp"
#include "drivers/tdse/run/accuracy.hpp"
#include "drivers/tdse/run/initial.hpp"
#include "drivers/tdse/run/stability.hpp"
#include "exported.hpp"
#include "module.hpp"
#include <heddle/schrodinger/simulation.hpp>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <utility>
#include <variant>
#include <vector>

namespace heddle::python {
namespace {

using driver::Deck;
using schrodinger::Hamiltonian;
using schrodinger::Simulation;
using schrodinger::State;

// Parts of a run; the simulation owns the Views.
struct Parts {
  Parts(const Communicator& comm, Deck given, const Hamiltonian& problem, const std::vector<State>& initial,
        const schrodinger::SimulationOptions& options)
      : deck(std::move(given)), hamiltonian(problem), simulation(comm, hamiltonian, options, initial) {}
  Deck deck;
  Hamiltonian hamiltonian;
  Simulation simulation;
  driver::Record record;
};

// States that Python gives: the rows of a matrix.
std::vector<State> given_states(const Deck& deck, const Input& psi) {
  const Operand<const Kokkos::complex<double>, 2> rows(psi, "psi");
  require(rows->extent(0) >= 1 && static_cast<Index>(rows->extent(1)) == deck.grid.points, "psi is ", rows->extent(0),
          " x ", rows->extent(1), "; expected a row of ", deck.grid.points, " points for each wave function");
  require(Kokkos::num_devices() <= 0 || psi.device_type() == nb::device::cpu::value,
          "psi: expected an array in host memory");
  const auto* elements = static_cast<const std::complex<double>*>(psi.data());
  std::vector<State> states(rows->extent(0), State(rows->extent(1)));
  for (std::size_t k = 0; k < states.size(); ++k) {
    for (std::size_t i = 0; i < states[k].size(); ++i) {
      states[k][i] =
          elements[static_cast<std::int64_t>(k) * psi.stride(0) + static_cast<std::int64_t>(i) * psi.stride(1)];
    }
  }
  return states;
}

void take(Parts& run) {
  run.record.append(run.deck, driver::snapshot_of(run.simulation));
}

// The run of a deck, on one rank.
class Run {
 public:
  Run(const std::string& text, const std::string& name, const std::vector<std::string>& settings,
      const std::optional<Input>& psi, Index tile, bool allow_growth) {
    kept_ = run([&] {
      const Communicator& comm = one_rank();
      Deck deck = driver::read_deck(text, name, settings);
      driver::read_files(comm, deck);
      const Hamiltonian hamiltonian(deck.grid, deck.potential, deck.nuclei, deck.pulses, deck.absorber);
      if (!allow_growth) driver::require_stable_step(deck, hamiltonian, "allow_growth=True");
      if (tile == 0) tile = schrodinger::default_tile(deck.grid.points);
      const std::vector<State> initial =
          psi ? given_states(deck, *psi) : driver::initial_states(comm, deck, hamiltonian, tile, [](const auto&) {});
      schrodinger::SimulationOptions options{.time_step = deck.time_step,
                                             .propagator = driver::propagator_of(deck, tile),
                                             .states = deck.output_states,
                                             .errors = {}};
      auto kept = std::make_unique<Kept<Parts>>(std::in_place, comm, std::move(deck), hamiltonian, initial, options);
      (**kept).record.tile = tile;
      take(**kept);
      return kept;
    });
  }
  void step() {
    run([&] {
      (**kept_).simulation.step();
      take(**kept_);
    });
  }
  [[nodiscard]] Parts& parts() const { return **kept_; }

 private:
  std::unique_ptr<Kept<Parts>> kept_;
};

// A copy of a list, with its extents.
template <class T> nb::object array_of(const std::vector<T>& values, const std::vector<std::size_t>& extents) {
  auto copy = std::make_unique<std::vector<T>>(values);
  T* const data = copy->data();
  const nb::capsule owner(copy.get(), [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
  static_cast<void>(copy.release());
  constexpr bool of_complex = std::is_same_v<T, std::complex<double>>;
  using Element = std::conditional_t<of_complex, Kokkos::complex<double>, T>;
  return nb::cast(nb::ndarray<nb::array_api>(data, extents.size(), extents.data(), owner, nullptr, dtype_of<Element>(),
                                             nb::device::cpu::value));
}

nb::dict arrays_of_run(const Run& run) {
  const Parts& parts = run.parts();
  nb::dict arrays;
  arrays["/grid/x"] =
      array_of(parts.hamiltonian.grid().positions(), {static_cast<std::size_t>(parts.deck.grid.points)});
  for (const driver::RecordArray& array : driver::arrays_of(parts.record, parts.deck)) {
    arrays[array.name.c_str()] =
        std::visit([&](const auto* values) { return array_of(*values, array.extents); }, array.values);
  }
  return arrays;
}

void write(const Run& run, const std::string& path) {
  const Parts& parts = run.parts();
  const WithoutGil released;
  const Turn turn;
  const char* const words[] = {"heddle.tdse"};
  driver::begin_provenance(1, words);
  driver::write_record(path, parts.deck, parts.hamiltonian, parts.record,
                       parts.simulation.steps_done() >= parts.deck.time_steps);
}

// Notes on a run's pulses, before the run, and on its grid, after it.
std::vector<std::string> notes_of(const Run& run) {
  const Parts& parts = run.parts();
  std::vector<std::string> notes = driver::notes_on_pulses(parts.deck);
  for (Index k = 0; k < parts.simulation.count(); ++k) {
    const auto resolution = grid_resolution(parts.hamiltonian, parts.simulation.state(k));
    const std::string note = driver::note_on_grid(parts.deck, resolution);
    if (!note.empty()) notes.push_back(note);
  }
  return notes;
}

nb::dict verify(const std::string& path) {
  const driver::PhysicsHash found = driver::physics_hash(path);
  nb::dict arrays;
  for (const auto& [name, hash] : found.datasets) arrays[name.c_str()] = hash;
  nb::dict entries;
  entries["sha256"] = found.hash;
  entries["arrays"] = arrays;
  return entries;
}

}  // namespace

void bind_tdse(nb::module_& module) {
  nb::class_<Run>(module, "TdseRun")
      .def(nb::init<const std::string&, const std::string&, const std::vector<std::string>&,
                    const std::optional<Input>&, Index, bool>(),
           nb::arg("text"), nb::arg("name"), nb::arg("settings"), nb::arg("psi").none(), nb::arg("tile"),
           nb::arg("allow_growth"))
      .def("step", &Run::step)
      .def("arrays", arrays_of_run)
      .def("notes", notes_of)
      .def("write", write, nb::arg("path"))
      .def_prop_ro("steps_done", [](const Run& run) { return run.parts().simulation.steps_done(); })
      .def_prop_ro("steps", [](const Run& run) { return run.parts().deck.time_steps; })
      .def_prop_ro("time", [](const Run& run) { return run.parts().simulation.time(); })
      .def_prop_ro("deck", [](const Run& run) { return driver::resolved_text(run.parts().deck); })
      .def_prop_ro("propagator", [](const Run& run) { return run.parts().simulation.propagator_description(); })
      .def("state", [](const Run& run, Index k) {
        const Parts& parts = run.parts();
        require(k >= 0 && k < parts.simulation.count(), "state ", k, " of ", parts.simulation.count());
        const State& psi = parts.simulation.state(k);
        return array_of(psi, {psi.size()});
      });
  module.def("verify", verify, nb::arg("path"));
}

}  // namespace heddle::python
