// When Kokkos begins in a program that knows nothing of it, and whose turn it is to use it.
#pragma once

#include <heddle/blas/blas.hpp>

#include <functional>

namespace heddle::impl::interpose {

/// Runs `work` with a context of Kokkos' threads, and waits for it. Calls of several threads come one after the other.
///
/// Kokkos is started by the first call, unless the program did it, and is never ended: what is kept in it is the
/// system's when the process ends. In a process that was forked after that, work runs on a thread of its own, since the
/// threads that the pool of the calling one has are not there; and so it does where the calling thread has little
/// stack.
void with_kokkos(const std::function<void(const blas::Context&)>& work);

}  // namespace heddle::impl::interpose
