// Shrinking of failing cases to smaller and simpler ones.
#include "hunt/case.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace heddle::hunt {
namespace {

// Return the array without the indices [begin, end) of the extent that `label` names.
template <class Element> ArrayOf<Element> without(const ArrayOf<Element>& array, char label, Index begin, Index end) {
  const bool in_rows = array.row_label == label;
  const bool in_columns = array.column_label == label;
  if (!in_rows && !in_columns) return array;
  ArrayOf<Element> smaller = array;
  const auto left_out = [&](Index k) { return k >= begin && k < end; };
  smaller.rows = in_rows ? std::max<Index>(array.rows - (end - begin), 0) : array.rows;
  smaller.columns = in_columns ? std::max<Index>(array.columns - (end - begin), 0) : array.columns;
  smaller.values.clear();
  for (Index j = 0; j < array.columns; ++j) {
    for (Index i = 0; i < array.rows; ++i) {
      if (!(in_rows && left_out(i)) && !(in_columns && left_out(j))) smaller.values.push_back(array.at(i, j));
    }
  }
  return smaller;
}
Case without(const Case& one, char label, Index begin, Index end) {
  Case smaller = one;
  for (Array& array : smaller.arrays) array = without(array, label, begin, end);
  for (Integers& array : smaller.integers) array = without(array, label, begin, end);
  return smaller;
}
Index extent(const Case& one, char label) {
  const auto of = [&](const auto& arrays) {
    for (const auto& array : arrays) {
      if (array.row_label == label) return array.rows;
      if (array.column_label == label) return array.columns;
    }
    return Index{-1};
  };
  return std::max(of(one.arrays), of(one.integers));
}
std::set<char> labels(const Case& one) {
  std::set<char> all;
  const auto note = [&](const auto& arrays) {
    for (const auto& array : arrays) all.insert({array.row_label, array.column_label});
  };
  note(one.arrays);
  note(one.integers);
  all.erase('1');
  return all;
}

// Set an element, and its mirror element.
void set(Array& array, Index i, Index j, Value value) {
  if (array.mirror != Mirror::none && i == j) {
    value = array.mirror == Mirror::hermitian ? Value(value.real(), 0.0) : Value(0.0, value.imag());
  }
  array.at(i, j) = value;
  if (array.mirror != Mirror::none && i != j) {
    array.at(j, i) = array.mirror == Mirror::hermitian ? std::conj(value) : -std::conj(value);
  }
}

// Return the nearest power of two towards zero.
double power_of(double x) {
  return x == 0 || !std::isfinite(x) ? x : std::copysign(std::ldexp(1.0, std::ilogb(x)), x);
}
double fewer_bits(double x, int bits) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int exponent = std::ilogb(x);
  return std::ldexp(std::trunc(std::ldexp(x, bits - exponent)), exponent - bits);
}

class Shrinking {
 public:
  Shrinking(const Case& failing, const std::function<bool(const Case&)>& fails, int trials)
      : best_(failing), fails_(fails), left_(trials) {}

  Case result() {
    bool better = true;
    while (better && left_ > 0) {
      better = knobs();
      better = extents() || better;
      better = elements() || better;
      better = integers() || better;
    }
    return best_;
  }

 private:
  bool taken(const Case& candidate) {
    if (left_-- <= 0 || !fails_(candidate)) return false;
    best_ = candidate;
    return true;
  }
  bool knobs() {
    bool better = false;
    for (std::size_t k = 0; k < best_.knobs.size(); ++k) {
      const Knob knob = best_.knobs[k];
      for (const long value : {knob.simple, knob.value / 2}) {
        if (best_.knobs[k].value == value || best_.knobs[k].value == knob.simple) continue;
        Case candidate = best_;
        candidate.knobs[k].value = value;
        better = taken(candidate) || better;
      }
    }
    return better;
  }
  bool extents() {
    bool better = false;
    for (const char label : labels(best_)) {
      for (Index chunk = std::max<Index>(extent(best_, label) / 2, 1); chunk > 0; chunk /= 2) {
        for (Index begin = 0; begin + chunk <= extent(best_, label) && left_ > 0;) {
          if (taken(without(best_, label, begin, begin + chunk))) {
            better = true;
          } else {
            begin += chunk;
          }
        }
      }
    }
    return better;
  }
  bool elements() {
    bool better = false;
    for (std::size_t a = 0; a < best_.arrays.size(); ++a) {
      for (Index j = 0; j < best_.arrays[a].columns; ++j) {
        const bool mirrored = best_.arrays[a].mirror != Mirror::none;
        for (Index i = mirrored ? j : 0; i < best_.arrays[a].rows && left_ > 0; ++i) {
          better = element(a, i, j) || better;
        }
      }
    }
    return better;
  }
  // Try simpler values first, and none that is not simpler than the current value.
  bool element(std::size_t a, Index i, Index j) {
    const Value x = best_.arrays[a].at(i, j);
    const auto parts = [&](const auto& of) { return Value(of(x.real()), of(x.imag())); };
    const Value simpler[] = {Value(0.0),
                             Value(1.0),
                             Value(x.real(), 0.0),
                             parts(power_of),
                             parts([](double y) { return fewer_bits(y, 4); }),
                             parts([](double y) { return fewer_bits(y, 16); })};
    for (const Value& value : simpler) {
      if (x == value) return false;
      Case candidate = best_;
      set(candidate.arrays[a], i, j, value);
      const std::size_t bytes = candidate.arrays[a].values.size() * sizeof(Value);
      if (std::memcmp(candidate.arrays[a].values.data(), best_.arrays[a].values.data(), bytes) == 0) continue;
      if (taken(candidate)) return true;
    }
    return false;
  }
  bool integers() {
    bool better = false;
    for (std::size_t a = 0; a < best_.integers.size(); ++a) {
      for (std::size_t k = 0; k < best_.integers[a].values.size() && left_ > 0; ++k) {
        const std::int64_t x = best_.integers[a].values[k];
        for (const std::int64_t value : {std::int64_t{0}, std::int64_t{1}, x / 2}) {
          if (value == x) break;
          Case candidate = best_;
          candidate.integers[a].values[k] = value;
          if (taken(candidate)) {
            better = true;
            break;
          }
        }
      }
    }
    return better;
  }

  Case best_;
  const std::function<bool(const Case&)>& fails_;
  int left_;
};

}  // namespace

Case shrunk(const Case& failing, const std::function<bool(const Case&)>& fails, int trials) {
  return Shrinking(failing, fails, trials).result();
}

}  // namespace heddle::hunt
