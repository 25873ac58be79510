// Reader of the lists of cells in legacy .vtk files, with checks of their numbers.
#include "io/mesh/vtk/legacy_cells.hpp"

#include "io/mesh/mesh_parts.hpp"

#include <algorithm>

namespace heddle::impl {

namespace {

ElementType part(LegacySource& source, const char* name) {
  if (!source.next_keyword() || source.keyword() != lower(name)) {
    source.refuse("expected ", name, ", found ", source.found_keyword());
  }
  const std::string word = lower(source.word());
  const auto type = legacy_type_from(word);
  if (!type || bytes_of(*type) < 4 || *type == ElementType::float32 || *type == ElementType::float64) {
    source.refuse("expected the type of the ", name, ", as vtktypeint64, found ", impl::quoted(word));
  }
  return *type;
}

// A list of whole numbers of any type.
template <class Take>
void read_numbers(LegacySource& source, ElementType type, Index count, const char* what, const Take& take) {
  with_type(type, [&](auto number) {
    source.read_each<decltype(number)>(count, what, [&](Index i, auto value) { take(i, static_cast<Index>(value)); });
  });
}

}  // namespace

void LegacyCells::read(LegacySource& source, Index points) {
  std::string keyword = source.keyword();
  std::transform(keyword.begin(), keyword.end(), keyword.begin(), [](char c) { return c >= 'a' ? char(c - 32) : c; });
  if (is_read_) source.refuse("a second ", keyword);
  is_read_ = true;
  const Index count = source.count("the number of cells");
  const Index size = source.count("the size of the cells");
  source.end_line();
  if (source.version() >= 5) {
    cells_ = std::max<Index>(0, count - 1);
    if (count > 0) read_offsets(source, count, size, points);
  } else {
    cells_ = count;
    read_counted(source, size, points);
  }
}

void LegacyCells::move_to(Index* offsets, Index* corners) {
  // Offsets of version 5 begin with one of their own.
  offsets[0] = 0;
  offsets_.move_to(offsets);
  corners_.move_to(corners);
}

Index LegacyCells::bad_cell(const Index* offsets) const {
  return bad_place_ >= 0 ? std::upper_bound(offsets, offsets + cells_ + 1, bad_place_) - offsets - 1 : bad_cell_;
}

void LegacyCells::look_at_corner(const LegacySource& source, Index cell, Index corner, Index points) {
  if ((corner >= 0 && corner < points) || bad_cell_ >= 0) return;
  bad_cell_ = cell;
  bad_corner_ = source.described(wrong_corner(cell, corner, points));
}

// A number of corners, and so many corners, cell after cell.
void LegacyCells::read_counted(LegacySource& source, Index size, Index points) {
  Index left = 0;
  const auto require_more = [&](Index read) {
    if (left > 0 || static_cast<Index>(offsets_.size()) <= cells_ || read == size) return;
    source.refuse("the cells have ", read, " numbers, where ", size, " are announced");
  };
  require_more(0);
  source.read_each<std::int32_t>(size, "a cell's corner", [&](Index i, std::int32_t number) {
    const auto cell = static_cast<Index>(offsets_.size()) - 1;
    if (left > 0) {
      look_at_corner(source, cell - 1, number, points);
      corners_.append(number);
      --left;
      return require_more(i + 1);
    }
    if (number < 0 || number >= size - i) {
      source.refuse("cell ", cell, " has ", number, " corners, where ", size - i, " of the ", size,
                    " numbers of all cells are left");
    }
    left = number;
    offsets_.append(static_cast<Index>(corners_.size()) + number);
    require_more(i + 1);
  });
  if (const auto cell = static_cast<Index>(offsets_.size()) - 1; cell < cells_) {
    source.refuse("cell ", cell, " is missing, where all the ", size, " numbers of cells are read");
  }
}

void LegacyCells::read_offsets(LegacySource& source, Index count, Index corners, Index points) {
  Index last = 0;
  offsets_ = {};
  read_numbers(source, part(source, "OFFSETS"), count, "an offset", [&](Index i, Index offset) {
    if (offset < last || offset > corners) {
      source.refuse("offset ", i, " is ", offset, ", where ", last, " to ", corners, " is expected");
    }
    last = offset;
    offsets_.append(offset);
  });
  read_numbers(source, part(source, "CONNECTIVITY"), corners, "a cell's corner", [&](Index i, Index corner) {
    if (bad_place_ < 0 && (corner < 0 || corner >= points)) {
      bad_place_ = i;
      bad_corner_ = source.described(
          message_of("corner ", i, " of all is ", corner, ", where there are ", points, " points, numbered from 0"));
    }
    corners_.append(corner);
  });
}

}  // namespace heddle::impl
