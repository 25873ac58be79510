// Reader of $NodeData and $ElementData of Gmsh files.
#include "io/mesh/gmsh/gmsh_fields.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace heddle::impl {

namespace {

Index next_count(GmshSource& source, const char* what) {
  source.begin_line(what);
  const auto count = source.next<Index>(what);
  if (count < 0 || static_cast<std::uintmax_t>(count) > source.size()) {
    source.refuse(what, " is ", count, ", where the file has ", source.size(), " bytes");
  }
  source.end_line();
  return count;
}

}  // namespace

void GmshTags::finish() {
  std::sort(sorted_.begin(), sorted_.end());
}

GmshTags::Pairs::const_iterator GmshTags::first(Index tag) const {
  return std::lower_bound(sorted_.begin(), sorted_.end(), std::pair(tag, Index{0}));
}

void read_gmsh_field(GmshSource& source, const GmshTags& tags, std::vector<MeshArray>& arrays) {
  std::string name;
  const Index names = next_count(source, "the number of names");
  for (Index i = 0; i < names; ++i) {
    const std::string line(source.text_line("a name"));
    if (i == 0) name = line;
  }
  if (name.size() >= 2 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
  const Index reals = next_count(source, "the number of real numbers");
  for (Index i = 0; i < reals; ++i) static_cast<void>(source.text_line("a real number"));
  // Time step, components, entities, perhaps a partition.
  std::array<Index, 3> sizes = {0, 1, 0};
  const Index integers = next_count(source, "the number of whole numbers");
  for (Index i = 0; i < integers; ++i) {
    const Index value = next_count(source, "a number of data");
    if (i < 3) sizes[static_cast<std::size_t>(i)] = value;
  }
  const auto [step, components, entities] = sizes;
  const bool taken =
      std::any_of(arrays.begin(), arrays.end(), [&](const MeshArray& array) { return array.name == name; });
  // Scalars, vectors and tensors: there are no others.
  if (integers < 3 || components < 1 || components > 9) {
    source.refuse("data ", quoted(name), " of ", components, " components, where 1 to 9 are expected");
  }
  void* data = nullptr;
  MeshArray array = new_array(name, ElementType::float64, taken ? 0 : tags.size(), components, data);
  auto* const values = static_cast<double*>(data);
  std::fill_n(values, array.size() * components, std::numeric_limits<double>::quiet_NaN());
  for (Index i = 0; i < entities; ++i) {
    source.begin_record("data");
    const auto tag = source.next<std::int32_t>("a tag");
    std::array<double, 9> tuple{};
    for (Index k = 0; k < components; ++k) tuple[static_cast<std::size_t>(k)] = source.next_any("a value");
    source.end_record();
    if (taken) continue;
    const bool known = tags.each(
        tag, [&, count = components](Index number) { std::copy_n(tuple.begin(), count, values + number * count); });
    if (!known) source.refuse("data ", quoted(name), " are given for ", tag, ", which is no tag");
  }
  source.end_section("the data");
  if (!taken) arrays.push_back(std::move(array));
}

}  // namespace heddle::impl
