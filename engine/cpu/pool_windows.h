// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/parallel.h"
#include "engine/cpu/pool.h"

#include <algorithm>

namespace tapescope::engine::cpu {

/// Positions of the input that an output's window covers along one axis, padding cut off:
/// begin, begin + dilation, … below end.
struct Window {
    std::int64_t begin;
    std::int64_t end;
};
inline Window windowOf(const PoolShape& s, unsigned axis, std::int64_t at) {
    const std::int64_t step = s.dilation[axis];
    const std::int64_t start = at * s.stride[axis] - s.padding[axis];
    const std::int64_t skipped = start < 0 ? (-start + step - 1) / step : 0;
    return {start + skipped * step,
            std::min(start + (s.kernel[axis] - 1) * step + 1, s.input[axis])};
}
inline Window adaptiveWindow(const PoolShape& s, unsigned axis, std::int64_t at) {
    const std::int64_t in = s.input[axis];
    const std::int64_t out = s.output[axis];
    return {at * in / out, ((at + 1) * in - 1) / out + 1};
}

/// The outputs of a row whose window holds tap kw, and the input column the first of them reads.
struct TapRange {
    std::int64_t begin;
    std::int64_t end;
    std::int64_t column;
};
inline TapRange tapRange(const PoolShape& s, std::int64_t kw) {
    const std::int64_t first = kw * s.dilation[2] - s.padding[2];
    const std::int64_t stride = s.stride[2];
    const std::int64_t begin = first >= 0 ? 0 : (-first + stride - 1) / stride;
    const std::int64_t last = s.input[2] - 1 - first;
    const std::int64_t end = last < 0 ? 0 : std::min(last / stride + 1, s.output[2]);
    return {begin, std::max(begin, end), begin * stride + first};
}

/// fn(input plane offset, output plane offset) for every plane.
template <class Fn>
void forEachPlane(const PoolShape& s, const Fn& fn) {
    const std::int64_t in = s.inPlane();
    const std::int64_t out = s.outPlane();
    const std::int64_t grain =
        std::max<std::int64_t>(kGrain / std::max<std::int64_t>(std::max(in, out), 1), 1);
    parallelFor(s.planes, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t plane = begin; plane < end; ++plane) fn(plane * in, plane * out);
    });
}

/// fn(od, oh, row): every output row of a plane; row counts through all depths.
template <class Fn>
void forEachOutputRow(const PoolShape& s, const Fn& fn) {
    for (std::int64_t od = 0; od < s.output[0]; ++od)
        for (std::int64_t oh = 0; oh < s.output[1]; ++oh) fn(od, oh, od * s.output[1] + oh);
}

/// The taps of an output row, in the order of the definition: fn(row of the input's plane, tap
/// range).
template <class Fn>
void forEachTap(const PoolShape& s, std::int64_t od, std::int64_t oh, const Fn& fn) {
    const Window depths = windowOf(s, 0, od);
    const Window rows = windowOf(s, 1, oh);
    for (std::int64_t id = depths.begin; id < depths.end; id += s.dilation[0])
        for (std::int64_t ih = rows.begin; ih < rows.end; ih += s.dilation[1])
            for (std::int64_t kw = 0; kw < s.kernel[2]; ++kw)
                if (const TapRange r = tapRange(s, kw); r.begin < r.end)
                    fn(id * s.input[1] + ih, r);
}

}  // namespace tapescope::engine::cpu
