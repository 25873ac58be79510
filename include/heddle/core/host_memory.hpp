// How much memory this machine has.
#pragma once

namespace heddle {

/// Bytes of this machine's memory, swap included: what no allocation on the host can exceed. Infinity where the system
/// does not say.
[[nodiscard]] double host_memory() noexcept;

}  // namespace heddle
