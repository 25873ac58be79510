// Cases of an operation: lookup of arrays and knobs, printing, and filling with hard numbers.
#include "hunt/case.hpp"

#include <cstdio>

namespace heddle::hunt {
namespace {

const char* type_name(Type type) {
  static constexpr const char* names[] = {"float", "double", "complex<float>", "complex<double>"};
  return names[static_cast<int>(type)];
}

template <class List> auto& named(List& list, std::string_view name, const std::string& operation) {
  for (auto& item : list) {
    if (item.name == name) return item;
  }
  throw std::logic_error("hunt: " + operation + " has no " + std::string(name));
}

template <class Element>
ArrayOf<Element>& added(std::vector<ArrayOf<Element>>& list, const std::string& name, char row_label, Index rows,
                        char column_label, Index columns) {
  ArrayOf<Element> array;
  array.name = name;
  array.row_label = row_label;
  array.column_label = column_label;
  array.rows = rows;
  array.columns = columns;
  array.values.assign(static_cast<std::size_t>(rows * columns), Element{});
  list.push_back(std::move(array));
  return list.back();
}

template <class Element> std::string shown_array(const ArrayOf<Element>& array) {
  std::string text = "  " + array.name + " " + std::to_string(array.rows) + " x " + std::to_string(array.columns) + ":";
  constexpr std::size_t most = 400;
  for (Index i = 0; i < array.rows && text.size() < 30 * most; ++i) {
    text += array.columns > 1 ? "\n    " : " ";
    for (Index j = 0; j < array.columns; ++j) {
      if constexpr (std::is_same_v<Element, Value>) {
        text += shown(array.at(i, j)) + " ";
      } else {
        text += std::to_string(array.at(i, j)) + " ";
      }
    }
  }
  return text + "\n";
}

}  // namespace

const Array& Case::array(std::string_view name) const {
  return named(arrays, name, operation);
}
const Integers& Case::integer(std::string_view name) const {
  return named(integers, name, operation);
}
long Case::knob(std::string_view name) const {
  return named(knobs, name, operation).value;
}
Array& Case::add(const std::string& name, char row_label, Index rows, char column_label, Index columns) {
  return added(arrays, name, row_label, rows, column_label, columns);
}
Integers& Case::add_integers(const std::string& name, char row_label, Index rows, char column_label, Index columns) {
  return added(integers, name, row_label, rows, column_label, columns);
}

std::string shown(double x) {
  char text[40];
  if (x == std::floor(x) && std::abs(x) < 1e6 && !(x == 0 && std::signbit(x))) {
    std::snprintf(text, sizeof(text), "%.0f", x);
  } else {
    std::snprintf(text, sizeof(text), "%a", x);
  }
  return text;
}
std::string shown(const Value& x) {
  return x.imag() == 0 && !std::signbit(x.imag())
             ? shown(x.real())
             : shown(x.real()) + (std::signbit(x.imag()) ? "" : "+") + shown(x.imag()) + "i";
}
std::string shown(const Case& one) {
  std::string text = "  " + one.operation + ", " + type_name(one.type);
  for (const Knob& knob : one.knobs) text += ", " + knob.name + " " + std::to_string(knob.value);
  text += "\n";
  for (const Array& array : one.arrays) text += shown_array(array);
  for (const Integers& array : one.integers) text += shown_array(array);
  return text;
}

void fill_mood(Random& random, Type type, Array& array, Mood mood) {
  const Range& range = range_of(type);
  for (Value& value : array.values) {
    const double real = hard_number(random, mood, range);
    value = Value(real, is_complex_type(type) ? hard_number(random, mood, range) : 0.0);
  }
}
void fill_hard(Random& random, Type type, Array& array) {
  if (random.one_in(5)) {
    const Range& range = range_of(type);
    for (Value& value : array.values) {
      const auto mood = static_cast<Mood>(random.below(moods));
      const double real = hard_number(random, mood, range);
      value = Value(real, is_complex_type(type) && !random.one_in(4) ? hard_number(random, mood, range) : 0.0);
    }
    return;
  }
  fill_mood(random, type, array, static_cast<Mood>(random.below(moods)));
}
void sprinkle(Random& random, Type type, Array& array) {
  if (array.values.empty()) return;
  for (long count = random.between(1, 3); count > 0; --count) {
    Value& value = array.values[static_cast<std::size_t>(random.below(static_cast<long>(array.values.size())))];
    const double x = special_number(random, range_of(type));
    value = is_complex_type(type) && random.one_in(2) ? Value(value.real(), x) : Value(x, value.imag());
  }
}

}  // namespace heddle::hunt
