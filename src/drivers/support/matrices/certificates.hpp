// The check that a certificate of exponentials passes or not.
#pragma once

#include "drivers/support/context.hpp"
#include "drivers/support/process/text.hpp"

namespace heddle::driver {

/// Enters the check and says how it ended: proven where `certificate`, an upper bound of a relative error, is at most
/// `tolerance`.
inline void check_certificate(const Context& context, Report& report, double certificate, double tolerance) {
  const bool proven = report.check_at_most("certificate", certificate, tolerance);
  context.say(format("certificate: |E - exp(A)| <= %.3g |exp(A)| (1-norm): %s %.3g", certificate,
                     proven ? "proven to be within" : "not proven to be within", tolerance));
}

}  // namespace heddle::driver
