// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/real_kernels.h"

#include "engine/cpu/strided.h"

namespace tapescope::engine::cpu {
namespace {

template <class Enum>
constexpr std::size_t at(Enum value) {
    return static_cast<std::size_t>(value);
}

/// Doubles go through the C library, which takes a multiple of the time.
constexpr std::int64_t grainOf(DType dtype) {
    return dtype == DType::F32 ? kGrain / 2 : kGrain / 8;
}

const char* bytes(const Tensor& t) { return static_cast<const char*>(t.data_ptr()); }
char* bytesOut(const Tensor& t) { return static_cast<char*>(t.data_ptr()); }

const RealTable& table() {
    static const RealTable& best = *realTableFor(bestIsa());
    return best;
}
const RealBinaryTable& binaryTable() {
    static const RealBinaryTable& best = *realBinaryTableFor(bestIsa());
    return best;
}

}  // namespace

const RealTable* realTableFor(Isa isa) {
    if (!loopsFor(isa)) return nullptr;
#if TAPESCOPE_X86_ISAS
    if (isa == Isa::Avx512) return &avx512::kRealTable;
    if (isa == Isa::Avx2) return &avx2::kRealTable;
#endif
    return &base::kRealTable;
}
const RealBinaryTable* realBinaryTableFor(Isa isa) {
    if (!loopsFor(isa)) return nullptr;
#if TAPESCOPE_X86_ISAS
    if (isa == Isa::Avx512) return &avx512::kRealBinaryTable;
    if (isa == Isa::Avx2) return &avx2::kRealBinaryTable;
#endif
    return &base::kRealBinaryTable;
}

LoopParams realParams(const Attrs& attrs) {
    LoopParams params;
    if (attrs.size() > 0 && std::holds_alternative<double>(attrs[0])) params.a = attrs.real(0);
    if (attrs.size() > 1 && std::holds_alternative<double>(attrs[1])) params.b = attrs.real(1);
    return params;
}

void runReal(RealUnary op, const Tensor& x, const LoopParams& params, const Tensor& out) {
    const DType dtype = out.dtype();
    const UnaryLoop loop = dtype == DType::F32 ? table().f32[at(op)] : table().f64[at(op)];
    const auto item = static_cast<std::int64_t>(itemSize(dtype));
    const auto plan =
        planStrided<2>(out.sizes(), {out.strides(), broadcastStrides(x, out.sizes())});
    if (plan.numel == 0) return;
    char* const y = bytesOut(out);
    const char* const a = bytes(x);
    parallelRows(plan, grainOf(dtype),
                 [&](const std::array<std::int64_t, 2>& starts, std::int64_t n) {
                     loop(n, y + starts[0] * item, plan.innerStride(0), a + starts[1] * item,
                          plan.innerStride(1), params);
                 });
}

void runReal(RealBinary op, const Tensor& first, const Tensor& second, const Tensor& out) {
    const DType dtype = out.dtype();
    const BinaryLoop loop =
        dtype == DType::F32 ? binaryTable().f32[at(op)] : binaryTable().f64[at(op)];
    const auto item = static_cast<std::int64_t>(itemSize(dtype));
    const auto plan =
        planStrided<3>(out.sizes(), {out.strides(), broadcastStrides(first, out.sizes()),
                                     broadcastStrides(second, out.sizes())});
    if (plan.numel == 0) return;
    char* const y = bytesOut(out);
    const char* const a = bytes(first);
    const char* const b = bytes(second);
    parallelRows(plan, grainOf(dtype),
                 [&](const std::array<std::int64_t, 3>& starts, std::int64_t n) {
                     loop(n, y + starts[0] * item, plan.innerStride(0), a + starts[1] * item,
                          plan.innerStride(1), b + starts[2] * item, plan.innerStride(2), {});
                 });
}

}  // namespace tapescope::engine::cpu
