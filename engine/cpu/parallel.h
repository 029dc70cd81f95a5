// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tapescope::engine::cpu {

/// Elements of simple work below which a second thread costs more than it gives.
inline constexpr std::int64_t kGrain = 32768;

/// Calls run(context, i) for every i in [0, count), on the engine's threads if count > 1. run must
/// not throw. From inside a parallel region: on the calling thread.
void runParallel(std::int64_t count, void (*run)(void* context, std::int64_t i), void* context);

/// fn(begin, end) over [0, count) in pieces of `grain` (the last may be shorter), in parallel.
/// Where the pieces lie depends on count and grain only, never on the number of threads: results
/// are the same on every machine. fn must not throw.
template <class Fn>
void parallelFor(std::int64_t count, std::int64_t grain, const Fn& fn) {
    if (count <= grain) {
        if (count > 0) fn(std::int64_t{0}, count);
        return;
    }
    struct Work {
        std::int64_t count;
        std::int64_t grain;
        const Fn& fn;
    } work{count, grain, fn};
    runParallel((count - 1) / grain + 1,
                [](void* context, std::int64_t i) {
                    const Work& w = *static_cast<const Work*>(context);
                    const std::int64_t begin = i * w.grain;
                    w.fn(begin, begin + w.grain < w.count ? begin + w.grain : w.count);
                },
                &work);
}

}  // namespace tapescope::engine::cpu
