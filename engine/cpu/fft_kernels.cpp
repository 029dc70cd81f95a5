// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/fft_kernels.h"

#include "engine/cpu/copy.h"
#include "engine/cpu/fft.h"
#include "engine/cpu/fft_isa.h"
#include "engine/cpu/lines.h"
#include "engine/errors.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

namespace tapescope::engine::cpu {
namespace {

using Int = std::int64_t;
using Planes = FftPlan<float>::Planes;

constexpr Int kGap = 48;  // see fft.cpp
/// Transforms side by side: as many as the widest register holds floats.
constexpr Int kSide = 16;
/// Longer ones side by side would leave the second-level cache.
constexpr Int kLongestAside = 4096;
/// Shorter ones have too little work to fill the registers alone.
constexpr Int kShortestAlone = 128;
constexpr Int kMostScratch = Int{16} << 20;  // floats, of all workers together
constexpr Int kMostWorkers = 8;

/// Where one line, or some of them side by side, lie: complex numbers count as two floats.
struct Place {
    float* data;
    Int step;  ///< between elements, in floats
    std::array<Int, kSide> offsets;
    Int lanes;  ///< lines there are; the others of a group are not read or written
    /// The lines are neighbours in memory, `width` floats apart.
    bool adjacent(Int width) const {
        for (Int l = 1; l < lanes; ++l)
            if (offsets[static_cast<unsigned>(l)] != offsets[0] + l * width) return false;
        return true;
    }
    float* at(Int lane) const { return data + offsets[static_cast<unsigned>(lane)]; }
};

void loadComplex(const Place& from, Int n, Int lanes, Planes to) {
    const FftLoops<float>& loops = fftLoops<float>();
    if (lanes == 1) {
        const float* x = from.at(0);
        if (from.step == 2) return loops.split(n, x, to.re, to.im);
        for (Int i = 0; i < n; ++i, x += from.step) {
            to.re[i] = x[0];
            to.im[i] = x[1];
        }
        return;
    }
    if (from.lanes == lanes && from.adjacent(2)) {
        for (Int i = 0; i < n; ++i)
            loops.split(lanes, from.at(0) + i * from.step, to.re + i * lanes, to.im + i * lanes);
        return;
    }
    for (Int l = 0; l < lanes; ++l) {
        const float* x = from.at(std::min(l, from.lanes - 1));
        for (Int i = 0; i < n; ++i, x += from.step) {
            to.re[i * lanes + l] = x[0];
            to.im[i * lanes + l] = x[1];
        }
    }
}

void storeComplex(Planes from, Int n, Int lanes, float scale, const Place& to) {
    const FftLoops<float>& loops = fftLoops<float>();
    if (lanes == 1 && to.step == 2) return loops.join(n, from.re, from.im, scale, to.at(0));
    if (lanes > 1 && to.lanes == lanes && to.adjacent(2)) {
        for (Int i = 0; i < n; ++i)
            loops.join(lanes, from.re + i * lanes, from.im + i * lanes, scale,
                       to.at(0) + i * to.step);
        return;
    }
    for (Int l = 0; l < to.lanes; ++l) {
        float* y = to.at(l);
        for (Int i = 0; i < n; ++i, y += to.step) {
            y[0] = from.re[i * lanes + l] * scale;
            y[1] = from.im[i * lanes + l] * scale;
        }
    }
}

/// put(i, lane, value) for every element.
template <class Put>
void loadReal(const Place& from, Int n, Int lanes, const Put& put) {
    for (Int l = 0; l < lanes; ++l) {
        const float* x = from.at(std::min(l, from.lanes - 1));
        for (Int i = 0; i < n; ++i) put(i, l, x[i * from.step]);
    }
}

/// Lines along dim, alone or side by side, spread over workers with scratch of their own.
/// work(from, to, lanes, scratch) must not throw.
struct Job {
    const Tensor& x;
    const Tensor& out;
    int dim;
    Int length;  ///< of the transform
};
Int widthOf(const Tensor& t) { return isComplex(t.dtype()) ? 2 : 1; }

template <class ScratchSize, class Work>
void forEachGroup(const Job& job, const ScratchSize& scratchSize, const Work& work) {
    const Lines from(job.x, job.dim);
    const Lines to(job.out, job.dim);
    const Int count = to.count();
    const bool along = to.stride() == 1 && from.stride() == 1;
    const bool alone = count == 1 || job.length > kLongestAside ||
                       (along && job.length >= kShortestAlone && job.length % 32 == 0);
    const Int lanes = alone ? 1 : kSide;
    const Int groups = (count - 1) / lanes + 1;
    const Int scratch = scratchSize(lanes);
    // About 20 simple operations an element and pass.
    const Int grain = std::max<Int>(1, kGrain / std::max<Int>(1, 10 * job.length * lanes));
    const Int most = std::clamp<Int>(kMostScratch / std::max<Int>(1, scratch), 1, kMostWorkers);
    const Int workers = std::clamp<Int>(groups / grain, 1, most);
    const Tensor memory =
        Tensor::empty({workers * (scratch + kGap)}, DType::F32, MemoryRole::Temporary);
    auto* const own = memory.data<float>();
    const auto placeOf = [&](const Tensor& t, const Lines& lines, Int first) {
        const Int width = widthOf(t);
        Place place{static_cast<float*>(t.data_ptr()), lines.stride() * width, {}, 0};
        place.lanes = std::min(lanes, count - first);
        for (Int l = 0; l < place.lanes; ++l)
            place.offsets[static_cast<unsigned>(l)] = lines.offset(first + l) * width;
        return place;
    };
    parallelFor(workers, 1, [&](Int begin, Int end) {
        for (Int w = begin; w < end; ++w) {
            for (Int g = groups * w / workers; g < groups * (w + 1) / workers; ++g)
                work(placeOf(job.x, from, g * lanes), placeOf(job.out, to, g * lanes), lanes,
                     own + w * (scratch + kGap));
        }
    });
}

/// The two planes at the start of scratch, and what comes behind them.
struct Split {
    Planes planes;
    float* rest;
};
Split splitScratch(float* scratch, Int n, Int lanes) {
    const Int plane = n * lanes + kGap;
    return {{scratch, scratch + plane}, scratch + 2 * plane};
}

void complexLines(const Tensor& x, int dim, bool forward, double scale, const Tensor& out) {
    const Int n = out.sizes()[dim];
    const auto plan = fftPlan(n);
    const auto factor = static_cast<float>(scale);
    forEachGroup(
        {x, out, dim, n},
        [&](Int lanes) { return 2 * (n * lanes + kGap) + plan->scratchSize(lanes); },
        [&](const Place& from, const Place& to, Int lanes, float* scratch) {
            const auto [planes, rest] = splitScratch(scratch, n, lanes);
            loadComplex(from, n, lanes, planes);
            storeComplex(plan->run(planes, rest, lanes, !forward), n, lanes, factor, to);
        });
}

/// The second half of a real signal's transform: the first one's conjugates, backwards.
void mirror(Planes y, Int n, Int lanes) {
    for (Int k = n / 2 + 1; k < n; ++k) {
        for (Int l = 0; l < lanes; ++l) {
            y.re[k * lanes + l] = y.re[(n - k) * lanes + l];
            y.im[k * lanes + l] = -y.im[(n - k) * lanes + l];
        }
    }
}

void linesFromReal(const Tensor& x, int dim, double scale, const Tensor& out) {
    const Int n = x.sizes()[dim];
    const Int given = out.sizes()[dim];  // n / 2 + 1 or n
    const auto factor = static_cast<float>(scale);
    const Job job{x, out, dim, n};
    if (n % 2 != 0) {
        const auto plan = fftPlan(n);
        forEachGroup(
            job, [&](Int lanes) { return 2 * (n * lanes + kGap) + plan->scratchSize(lanes); },
            [&](const Place& from, const Place& to, Int lanes, float* scratch) {
                const auto [planes, rest] = splitScratch(scratch, n, lanes);
                loadReal(from, n, lanes, [&, p = planes](Int i, Int l, float value) {
                    p.re[i * lanes + l] = value;
                    p.im[i * lanes + l] = 0;
                });
                storeComplex(plan->run(planes, rest, lanes, false), given, lanes, factor, to);
            });
        return;
    }
    const auto plan = realFftPlan(n);
    const Int half = n / 2;
    forEachGroup(
        job,
        [&](Int lanes) {
            return 2 * (half * lanes + kGap) + plan->half->scratchSize(lanes) +
                   2 * (n * lanes + kGap);
        },
        [&](const Place& from, const Place& to, Int lanes, float* scratch) {
            const auto [planes, rest] = splitScratch(scratch, half, lanes);
            if (lanes == 1 && from.step == 1)
                fftLoops<float>().split(half, from.at(0), planes.re, planes.im);
            else
                loadReal(from, n, lanes, [&, p = planes](Int i, Int l, float value) {
                    (i % 2 == 0 ? p.re : p.im)[i / 2 * lanes + l] = value;
                });
            const Planes z = plan->half->run(planes, rest, lanes, false);
            const Planes y = splitScratch(rest + plan->half->scratchSize(lanes), n, lanes).planes;
            fftLoops<float>().fromHalf(half, lanes, plan->re.data(), plan->im.data(), z.re, z.im,
                                       y.re, y.im);
            if (given == n) mirror(y, n, lanes);
            storeComplex(y, given, lanes, factor, to);
        });
}

void linesToReal(const Tensor& x, int dim, double scale, const Tensor& out) {
    const Int n = out.sizes()[dim];
    const auto factor = static_cast<float>(scale);
    const Job job{x, out, dim, n};
    const auto store = [&](const Place& to, const auto& value) {
        for (Int l = 0; l < to.lanes; ++l) {
            float* const y = to.at(l);
            for (Int i = 0; i < n; ++i) y[i * to.step] = value(i, l) * factor;
        }
    };
    if (n % 2 != 0) {
        const auto plan = fftPlan(n);
        forEachGroup(
            job, [&](Int lanes) { return 2 * (n * lanes + kGap) + plan->scratchSize(lanes); },
            [&](const Place& from, const Place& to, Int lanes, float* scratch) {
                const auto [planes, rest] = splitScratch(scratch, n, lanes);
                loadComplex(from, n / 2 + 1, lanes, planes);
                std::fill_n(planes.im, lanes, 0.0F);
                mirror(planes, n, lanes);
                const Planes y = plan->run(planes, rest, lanes, true);
                store(to, [&](Int i, Int l) { return y.re[i * lanes + l]; });
            });
        return;
    }
    const auto plan = realFftPlan(n);
    const Int half = n / 2;
    forEachGroup(
        job,
        [&](Int lanes) {
            return 2 * ((half + 1) * lanes + kGap) + 2 * (half * lanes + kGap) +
                   plan->half->scratchSize(lanes);
        },
        [&](const Place& from, const Place& to, Int lanes, float* scratch) {
            const auto [given, behind] = splitScratch(scratch, half + 1, lanes);
            const auto [planes, rest] = splitScratch(behind, half, lanes);
            loadComplex(from, half + 1, lanes, given);
            fftLoops<float>().toHalf(half, lanes, plan->re.data(), plan->im.data(), given.re,
                                     given.im, planes.re, planes.im);
            const Planes y = plan->half->run(planes, rest, lanes, true);
            if (lanes == 1 && to.step == 1)
                return fftLoops<float>().join(half, y.re, y.im, factor, to.at(0));
            store(to, [&](Int i, Int l) { return (i % 2 == 0 ? y.re : y.im)[i / 2 * lanes + l]; });
        });
}

/// The heap's failure as the engine's own error.
template <class Fn>
void guarded(const Tensor& out, const Fn& fn) {
    if (out.numel() == 0) return;
    try {
        fn();
    } catch (const std::bad_alloc&) {
        throw OutOfMemoryError("fft: there is no memory for the tables of a transform to " +
                               toString(out.sizes()));
    }
}

}  // namespace

void fftComplex(const Tensor& x, const Dims& dims, bool forward, double scale, const Tensor& out) {
    guarded(out, [&] {
        Tensor from = x;
        for (int i = 0; i < dims.size(); ++i) {
            complexLines(from, static_cast<int>(dims[i]), forward, i == 0 ? scale : 1.0, out);
            from = out;
        }
    });
}

void fftFromReal(const Tensor& x, const Dims& dims, double scale, const Tensor& out) {
    guarded(out, [&] {
        linesFromReal(x, static_cast<int>(dims.back()), scale, out);
        for (int i = 0; i + 1 < dims.size(); ++i)
            complexLines(out, static_cast<int>(dims[i]), true, 1.0, out);
    });
}

void fftToReal(const Tensor& x, const Dims& dims, double scale, const Tensor& out) {
    guarded(out, [&] {
        Tensor from = x;
        if (dims.size() > 1) {
            const Tensor own = Tensor::empty(x.sizes(), DType::C64, MemoryRole::Temporary);
            for (int i = 0; i + 1 < dims.size(); ++i) {
                complexLines(from, static_cast<int>(dims[i]), false, 1.0, own);
                from = own;
            }
        }
        linesToReal(from, static_cast<int>(dims.back()), scale, out);
    });
}

}  // namespace tapescope::engine::cpu
