// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/parallel.h"

#include <atomic>
#include <omp.h>

namespace tapescope::engine::cpu {

namespace {
#if defined(__SANITIZE_THREAD__)
// libgomp is not instrumented: these tell ThreadSanitizer what its fork and join order.
std::atomic<int> g_fence{0};
void orderThreads() { g_fence.fetch_add(1, std::memory_order_acq_rel); }
#else
void orderThreads() {}
#endif
}  // namespace

void runParallel(std::int64_t count, void (*run)(void*, std::int64_t), void* context) {
    if (count <= 1 || omp_in_parallel() != 0 || omp_get_max_threads() == 1) {
        for (std::int64_t i = 0; i < count; ++i) run(context, i);
        return;
    }
    orderThreads();
#pragma omp parallel
    {
        orderThreads();
        // Dynamic: on a busy machine the threads that run take the pieces of those that wait.
#pragma omp for schedule(dynamic) nowait
        for (std::int64_t i = 0; i < count; ++i) run(context, i);
        orderThreads();
    }
    orderThreads();
}

}  // namespace tapescope::engine::cpu
