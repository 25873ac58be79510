// Tests of the planned memory and passes of a study of external faces.
#include "studies/faces/faces_plan.hpp"

#include "support/errors.hpp"

#include <gtest/gtest.h>

namespace heddle::driver {
namespace {

using search::Algorithm;
using search::Sorting;

constexpr double gib = 0x1p30;

TEST(StudyFacesPlan, NamesMethodsOnceForEachSort) {
  const auto methods =
      faces_methods({"sort+xor", "hash-fight+mixer", "sort-by-id", "partition"}, {Sorting::radix, Sorting::merge});
  std::vector<std::string> labels;
  for (const FacesMethod& method : methods) labels.push_back(method.label());
  EXPECT_EQ(labels, (std::vector<std::string>{"sort+xor", "sort+xor (merge)", "hash-fight+mixer", "sort-by-id",
                                              "sort-by-id (merge)", "partition"}));
  EXPECT_EQ(methods[1].options.sorting, Sorting::merge);
  EXPECT_EQ(methods[2].options.algorithm, Algorithm::hash_fight);
  EXPECT_EQ(methods[2].options.hash, search::HashFunction::mixer);
  EXPECT_EQ(methods[2].sorting, "");
  EXPECT_EQ(methods[3].sorting, "radix");
  EXPECT_TRUE(methods[5].options.time_phases);
  for (const char* name : {"sort", "partition+xor", "automatic", "sort+automatic"}) {
    EXPECT_THROW(static_cast<void>(faces_methods({name}, {Sorting::radix})), Error) << name;
  }
}

TEST(StudyFacesPlan, OfTheLargestMeshOfThePaper) {
  // 667 million cells have 2.7 billion sides: 24 bytes of each are 64 GB, and two meshes 21.
  const auto methods = faces_methods({"sort-by-id", "sort+fnv1a"}, {Sorting::radix});
  const FacesPlan h200 = plan_faces(511, 5, 2, methods, 139 * gib);
  EXPECT_EQ(h200.cells, 667164155);
  EXPECT_GT(h200.fixed, 2 * 16 * h200.cells);
  EXPECT_LT(h200.fixed, 2 * 18 * h200.cells);
  EXPECT_EQ(h200.bounds, (std::vector<Index>{0, 0}));
  const FacesPlan h100 = plan_faces(511, 5, 2, methods, 78 * gib);
  const auto left = 78 * gib - static_cast<double>(h100.fixed);
  EXPECT_EQ(h100.fixed, h200.fixed);
  EXPECT_EQ(h100.bounds[1], 0);
  EXPECT_LT(static_cast<double>(h100.bounds[0]), left);
  EXPECT_GT(static_cast<double>(h100.bounds[0]), 0.9 * left);
}

TEST(StudyFacesPlan, KeepsABoundThatWasGiven) {
  auto methods = faces_methods({"sort+xor"}, {Sorting::radix});
  methods[0].options.memory = 1000000;
  EXPECT_EQ(plan_faces(20, 5, 1, methods, gib).bounds, std::vector<Index>{1000000});
  // It is less than what one pass takes, but not than what there is.
  const double available = (static_cast<double>(plan_faces(20, 5, 1, methods, gib).fixed) + 900000) * 16 / 15;
  test::expect_refusal(ErrorKind::argument, "study faces: sort+xor of 20 cubes along each axis takes 0.000931 GiB",
                       [&] { static_cast<void>(plan_faces(20, 5, 1, methods, available)); });
}

TEST(StudyFacesPlan, RefusesWhatDoesNotFit) {
  const auto methods = faces_methods({"partition", "sort-by-id"}, {Sorting::merge});
  test::expect_refusal(ErrorKind::argument, "study faces: 511 cubes along each axis are 667164155 cells, which take ",
                       [&] { static_cast<void>(plan_faces(511, 5, 2, methods, 16 * gib)); });
  // A sixteenth is not for the study.
  const double whole = static_cast<double>(plan_faces(511, 5, 2, methods, 139 * gib).fixed);
  EXPECT_THROW(static_cast<void>(plan_faces(511, 5, 2, methods, whole * 1.05)), Error);
  // The meshes fit, but a sixty-fourth of the keys does not.
  const double meshes = static_cast<double>(plan_faces(100, 5, 1, methods, 64 * gib).fixed);
  test::expect_refusal(ErrorKind::argument, "study faces: partition of 100 cubes along each axis takes ",
                       [&] { static_cast<void>(plan_faces(100, 5, 1, methods, (meshes + 1e6) * 16 / 15)); });
}

}  // namespace
}  // namespace heddle::driver
