// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace tapescope::engine {

/// Memory for the engine's small headers (tensors, storages, nodes): per-thread free lists by
/// 64-byte class up to 1 KiB, larger sizes from operator new. A block may be freed on another
/// thread; it then belongs to that thread's list.
void* smallAllocate(std::size_t sizeBytes);
void smallFree(void* p, std::size_t sizeBytes) noexcept;

}  // namespace tapescope::engine
