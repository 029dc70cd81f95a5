// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/nn_pool_shape.h"

#include "engine/ops/nn_attrs.h"

namespace tapescope::engine {

namespace {

using cpu::PoolShape;

/// rank, planes and input sizes.
PoolShape planesOf(std::string_view op, int rank, const Dims& input) {
    checkImageRank(op, "input", input, rank);
    PoolShape s;
    s.rank = rank;
    s.planes = 1;
    for (int i = 0; i < input.size() - rank; ++i) s.planes = checkedMul(op, s.planes, input[i]);
    s.input = spatialSizes(input, rank);
    std::int64_t plane = 1;
    for (const std::int64_t size : s.input) {
        if (size == 0)
            throw ShapeError(message(op, ": input ", input, " has planes without elements"));
        plane = checkedMul(op, plane, size);
    }
    // Positions within a plane are counted in 32 bits on the way.
    if (plane > std::numeric_limits<std::int32_t>::max())
        throw ShapeError(
            message(op, ": the planes of input ", input, " are larger than 2^31 elements"));
    return s;
}

}  // namespace

PoolShape poolShape(std::string_view op, int rank, const Dims& input, const Attrs& attrs,
                    const PoolAttrs& at) {
    PoolShape s = planesOf(op, rank, input);
    const Dims& kernel = attrs.dims(at.kernel);
    const Dims& padding = attrs.dims(at.padding);
    s.kernel = spatialAttr(op, "kernel_size", kernel, rank, 1, 1);
    s.stride = attrs.dims(at.stride).empty()
                   ? s.kernel
                   : spatialAttr(op, "stride", attrs.dims(at.stride), rank, 1, 1);
    s.padding = spatialAttr(op, "padding", padding, rank, 0, 0);
    if (at.dilation >= 0)
        s.dilation = spatialAttr(op, "dilation", attrs.dims(at.dilation), rank, 1, 1);
    const bool ceilMode = at.ceilMode >= 0 && attrs.flag(at.ceilMode);
    for (unsigned axis = static_cast<unsigned>(3 - rank); axis < 3; ++axis) {
        const std::int64_t reach =
            checkedAdd(op, checkedMul(op, s.kernel[axis] - 1, s.dilation[axis]), 1);
        if (s.padding[axis] > reach / 2)
            throw ShapeError(
                message(op, ": padding ", padding, " must be at most half the kernel ", kernel));
        const std::int64_t padded =
            checkedAdd(op, s.input[axis], checkedMul(op, 2, s.padding[axis]));
        if (reach > padded)
            throw ShapeError(message(op, ": kernel ", kernel, " is larger than input ", input,
                                     " with padding ", padding));
        const std::int64_t stride = s.stride[axis];
        const std::int64_t rest = padded - reach;
        s.output[axis] = rest / stride + 1;
        // One window more, unless it would begin in the padding behind the input.
        if (ceilMode && rest % stride != 0 &&
            checkedMul(op, s.output[axis], stride) < s.input[axis] + s.padding[axis])
            ++s.output[axis];
    }
    return s;
}

PoolShape adaptiveShape(std::string_view op, int rank, const Dims& input, const Dims& output_size) {
    PoolShape s = planesOf(op, rank, input);
    s.output = spatialAttr(op, "output_size", output_size, rank, -1, 1);
    for (unsigned axis = static_cast<unsigned>(3 - rank); axis < 3; ++axis) {
        if (s.output[axis] < 0) s.output[axis] = s.input[axis];
        if (s.output[axis] == 0) {
            std::string least;
            for (int i = 0; i < rank; ++i) least += i == 0 ? "1" : " x 1";
            throw ShapeError(
                message(op, ": output ", spatialText(s.output, rank), " must be at least ", least));
        }
        checkedMul(op, s.input[axis], s.output[axis]);
    }
    return s;
}

PoolShape pooledShape(std::string_view op, int rank, const Dims& input, const Tensor& grad) {
    checkSizes(op, input);
    PoolShape s = planesOf(op, rank, input);
    const Dims& sizes = grad.sizes();
    bool fits = sizes.size() == input.size();
    for (int i = 0; fits && i < input.size() - rank; ++i) fits = sizes[i] == input[i];
    if (!fits)
        throw ShapeError(message(op, ": grad ", sizes, " must have the planes of input ", input));
    s.output = spatialSizes(sizes, rank);
    return s;
}

Dims pooledSizes(const Dims& input, const PoolShape& s) {
    return withSpatial(input, s.rank, s.output);
}

void checkPooledGrad(std::string_view op, const Tensor& grad, const Dims& input,
                     const PoolShape& s) {
    if (grad.sizes() != pooledSizes(input, s))
        throw ShapeError(message(op, ": grad ", grad.sizes(),
                                 " must have the pooling's output sizes ", pooledSizes(input, s)));
}

Cost poolCost(const OpArgs& a, std::span<const Tensor> outputs, int kernelAt, const Tensor& pooled,
              int rank) {
    Cost c;
    for (const Tensor* t : a.inputs) c.bytesRead += static_cast<std::int64_t>(t->nbytes());
    for (const Tensor& t : outputs) c.bytesWritten += static_cast<std::int64_t>(t.nbytes());
    const Dims& kernel = a.attrs.dims(kernelAt);
    double window = 1;
    for (int i = 0; i < rank; ++i)
        window *= static_cast<double>(kernel[kernel.size() == 1 ? 0 : i]);
    c.flops = static_cast<double>(pooled.numel()) * window;
    return c;
}

}  // namespace tapescope::engine
