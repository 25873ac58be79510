// Size of this machine's memory.
#pragma once

namespace heddle {

/// Bytes of this machine's memory, swap included, which no allocation on the host can exceed. Infinity if the system
/// does not say.
[[nodiscard]] double host_memory() noexcept;

}  // namespace heddle
