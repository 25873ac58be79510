// Names of methods, accuracies and ends, and the values that they name.
#include "core/names.hpp"

#include <heddle/eigen/jacobi.hpp>

namespace heddle::eigen {
namespace {

constexpr heddle::impl::Names<JacobiMethod, 6> methods = {{
    {JacobiMethod::automatic, "automatic"},
    {JacobiMethod::classical, "classical"},
    {JacobiMethod::cyclic, "cyclic"},
    {JacobiMethod::round_robin, "round-robin"},
    {JacobiMethod::blocked, "blocked"},
    {JacobiMethod::preconditioned, "preconditioned"},
}};
constexpr heddle::impl::Names<JacobiAccuracy, 3> accuracies = {{
    {JacobiAccuracy::automatic, "automatic"},
    {JacobiAccuracy::relative, "relative"},
    {JacobiAccuracy::norm, "norm"},
}};
constexpr heddle::impl::Names<JacobiEnd, 5> ends = {{
    {JacobiEnd::diagonal, "diagonal"},
    {JacobiEnd::tolerance, "tolerance"},
    {JacobiEnd::quadratic, "quadratic"},
    {JacobiEnd::sweep_limit, "sweep-limit"},
    {JacobiEnd::rotation_limit, "rotation-limit"},
}};

template <class Names, class Value> std::string_view name_of(const Names& names, Value value) {
  const std::string_view name = heddle::impl::name_in(names, value);
  require(!name.empty(), "eigen: not a value of this enumeration");
  return name;
}
template <class Names> auto value_of(const Names& names, std::string_view text, const char* what) {
  return heddle::impl::value_in(names, text, message_of(what, " \"", text, "\"; expected one of "));
}

}  // namespace

std::string_view to_string(JacobiMethod method) {
  return name_of(methods, method);
}
JacobiMethod jacobi_method_from(std::string_view text) {
  return value_of(methods, text, "Jacobi method");
}
std::string_view to_string(JacobiAccuracy accuracy) {
  return name_of(accuracies, accuracy);
}
JacobiAccuracy jacobi_accuracy_from(std::string_view text) {
  return value_of(accuracies, text, "Jacobi accuracy");
}
std::string_view to_string(JacobiEnd end) {
  return name_of(ends, end);
}

}  // namespace heddle::eigen
