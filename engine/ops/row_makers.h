// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/map.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/pointwise_rows.h"
#include "engine/ops/shape.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

namespace tapescope::engine {

/// An operator's name as a template argument, so that a shape rule knows whose it is.
template <std::size_t N>
struct OpName {
    char text[N]{};
    consteval OpName(const char (&name)[N]) {  // NOLINT(google-explicit-constructor)
        std::copy_n(name, N, text);
    }
    constexpr std::string_view view() const { return {text, N - 1}; }
};

inline constexpr ArgDef kInputArg[] = {{"input"}};
inline constexpr ArgDef kInputOtherArgs[] = {{"input"}, {"other"}};
inline constexpr ArgDef kGradInputArgs[] = {{"grad"}, {"input"}};

/// Library functions take many times the time of an addition, so fewer of them are worth a thread.
inline constexpr std::int64_t kLibraryGrain = cpu::kGrain / 8;

/// The output looks like input 0.
inline void inferLikeFirst(const OpArgs& args, OutputMetas& out) {
    out.add(args[0].sizes(), args[0].dtype());
}
/// The same shape, bool.
inline void inferTestOfFirst(const OpArgs& args, OutputMetas& out) {
    out.add(args[0].sizes(), DType::Bool);
}

[[noreturn]] inline void refuseType(std::string_view op, DType dtype, std::string_view remedy) {
    throw DTypeError(
        message(op, ": ", dtype, " tensors cannot be used; convert them with to(x, ", remedy, ")"));
}
enum class Takes : std::uint8_t { Numbers, Integers, Reals };
inline void checkTakes(std::string_view op, Takes takes, DType dtype) {
    if (takes == Takes::Numbers && dtype == DType::Bool) refuseType(op, dtype, "DType::I64");
    if (takes == Takes::Integers && isFloating(dtype)) refuseType(op, dtype, "DType::I64");
    if (takes == Takes::Reals && !isFloating(dtype)) refuseType(op, dtype, "DType::F32");
}

/// A number that integers are to calculate with. Throws DTypeError unless it is a whole number that
/// int64 can hold, as PyTorch's integer kernels want it.
inline void checkWhole(std::string_view op, std::string_view what, DType dtype, double value) {
    if (isFloating(dtype) || (std::fabs(value) < 0x1p63 && std::floor(value) == value)) return;
    throw DTypeError(message(op, ": ", what, " ", std::to_string(value), " is not a whole number ",
                             "that ", dtype, " tensors can take; convert them with to(x, ",
                             "DType::F32)"));
}

template <OpName name, Takes takes>
void inferUnaryOf(const OpArgs& args, OutputMetas& out) {
    checkTakes(name.view(), takes, args[0].dtype());
    inferLikeFirst(args, out);
}
/// Both of one dtype already.
template <OpName name>
void inferBinary(const OpArgs& args, OutputMetas& out) {
    out.add(broadcastOf(name.view(), args[0].sizes(), args[1].sizes()), args[0].dtype());
}
template <OpName name, Takes takes>
void inferBinaryOf(const OpArgs& args, OutputMetas& out) {
    checkTakes(name.view(), takes, args[0].dtype());
    inferBinary<name>(args, out);
}

// Kernels from a captureless lambda, element by element.
template <class Fn>
void realUnaryKernel(const OpArgs& args, std::span<Tensor> outputs) {
    visitFloating(outputs[0].dtype(), [&]<class T>() {
        cpu::mapElements<T, T>(kLibraryGrain, Fn{}, outputs[0], args[0]);
    });
}
template <class Fn>
void realBinaryKernel(const OpArgs& args, std::span<Tensor> outputs) {
    visitFloating(outputs[0].dtype(), [&]<class T>() {
        cpu::mapElements<T, T, T>(kLibraryGrain, Fn{}, outputs[0], args[0], args[1]);
    });
}
template <class Fn>
constexpr KernelFn realMap(Fn) {
    return realUnaryKernel<Fn>;
}
template <class Fn>
constexpr KernelFn realMap2(Fn) {
    return realBinaryKernel<Fn>;
}

enum class Keeps : std::uint32_t { None = 0, Input = 1, Output = 2 };

/// A function of real numbers; integers are taken as float32.
constexpr OpDef realRow(std::string_view name, VjpFn vjp, Keeps keeps, KernelFn kernel,
                        std::span<const AttrDef> attrs = {}) {
    return {.name = name,
            .family = Family::Pointwise,
            .args = kInputArg,
            .attrs = attrs,
            .types = TypeRule::PromoteFloat,
            .infer = inferLikeFirst,
            .vjp = vjp,
            .saveInputs = keeps == Keeps::Input,
            .saveOutputs = keeps == Keeps::Output,
            .kernels = {kernel}};
}
/// Two operands, promoted to one dtype.
constexpr OpDef binaryRow(std::string_view name, TypeRule types, InferFn infer, VjpFn vjp,
                          std::uint32_t saves, KernelFn kernel) {
    return {.name = name,
            .family = Family::Pointwise,
            .args = kInputOtherArgs,
            .types = types,
            .infer = infer,
            .vjp = vjp,
            .saveInputs = saves,
            .kernels = {kernel}};
}

/// What flows to operand i: summed where it was broadcast.
inline Tensor reduceTo(const VjpArgs& a, int i, const Tensor& grad) {
    return sum_to_size(grad, a.meta(i).sizes);
}
inline void zeroVjp(const VjpArgs& a, std::span<Tensor> out) { out[0] = zeros_like(a.grad()); }

}  // namespace tapescope::engine
