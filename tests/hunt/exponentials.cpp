#include "hunt/exponentials.hpp"

namespace heddle::hunt {

ExponentialTruth exponential_truth(const Array& A, Type type, const Value& time) {
  ExponentialTruth truth;
  Wide::bits = 512;
  WideMatrix X(A);
  const WideComplex factor(time);
  for (WideComplex& x : X.values) x = x * factor;
  truth.norm = norm1(X).to_double();
  truth.balanced = balanced_norm(X);
  truth.normal = A.mirror != Mirror::none && (time.real() == 0 || time.imag() == 0);
  truth.E = wide_exponential(X);
  if (!truth.E || A.rows == 0) return truth;
  const Wide norm = norm1(*truth.E);
  truth.tiny = norm.to_double() < std::ldexp(1.0, range_of(type).normal + range_of(type).digits);
  // A perturbation of 2^-120 |A|, whose first-order effect the reference tells.
  Random random(1, "condition", static_cast<std::uint64_t>(A.rows));
  Wide size = norm1(X);
  size.scale(-120);
  WideMatrix disturbed = X;
  Wide largest;
  WideMatrix F(A.rows, A.columns);
  for (WideComplex& x : F.values) {
    x = WideComplex(Wide(random.unit()) * size, is_complex_type(type) ? Wide(random.unit()) * size : Wide());
  }
  for (std::size_t k = 0; k < F.values.size(); ++k) {
    disturbed.values[k].re += F.values[k].re;
    disturbed.values[k].im += F.values[k].im;
  }
  const auto E = wide_exponential(disturbed);
  if (E && !norm.is_zero() && truth.norm > 0) {
    Wide relative = norm1(F) / norm1(X);
    const Wide condition = distance1(*E, *truth.E) / norm / relative;
    truth.condition = condition.is_number() ? condition.to_double() : std::numeric_limits<double>::infinity();
  }
  return truth;
}

}  // namespace heddle::hunt
