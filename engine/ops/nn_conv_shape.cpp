// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/nn_conv_shape.h"

#include "engine/ops/nn_attrs.h"

namespace tapescope::engine {

using cpu::ConvShape;

ConvShape convShape(std::string_view op, int rank, const Dims& input, const Dims& weight,
                    const Attrs& attrs, int first) {
    checkImageRank(op, "input", input, rank);
    if (weight.size() != rank + 2) {
        static constexpr std::string_view kLayouts[] = {
            "[O, C/groups, kL]", "[O, C/groups, kH, kW]", "[O, C/groups, kD, kH, kW]"};
        throw ShapeError(message(op, ": weight ", weight, " must have ", rank + 2, " dimensions ",
                                 kLayouts[static_cast<unsigned>(rank - 1)]));
    }
    const bool batched = input.size() == rank + 2;
    ConvShape s;
    s.rank = rank;
    s.batch = batched ? input[0] : 1;
    s.channels = input[batched ? 1 : 0];
    s.outChannels = weight[0];
    s.input = spatialSizes(input, rank);
    s.kernel = spatialSizes(weight, rank);
    s.stride = spatialAttr(op, "stride", attrs.dims(first), rank, 1, 1);
    s.padding = spatialAttr(op, "padding", attrs.dims(first + 1), rank, 0, 0);
    s.dilation = spatialAttr(op, "dilation", attrs.dims(first + 2), rank, 1, 1);
    s.groups = attrs.integer(first + 3);
    if (s.groups < 1) throw ShapeError(message(op, ": groups ", s.groups, " must be at least 1"));
    if (s.channels != checkedMul(op, weight[1], s.groups))
        throw ShapeError(message(op, ": input ", input, " has ", s.channels,
                                 " channels but weight ", weight, " takes ", weight[1] * s.groups,
                                 " (groups ", s.groups, ")"));
    if (s.outChannels % s.groups != 0)
        throw ShapeError(message(op, ": weight ", weight, " makes ", s.outChannels,
                                 " channels, which do not divide into ", s.groups, " groups"));
    for (unsigned axis = static_cast<unsigned>(3 - rank); axis < 3; ++axis) {
        if (s.kernel[axis] < 1)
            throw ShapeError(message(op, ": the kernel ", spatialText(s.kernel, rank),
                                     " of weight ", weight, " must not be empty"));
        const std::int64_t padded =
            checkedAdd(op, s.input[axis], checkedMul(op, 2, s.padding[axis]));
        const std::int64_t reach =
            checkedAdd(op, checkedMul(op, s.kernel[axis] - 1, s.dilation[axis]), 1);
        if (reach > padded)
            throw ShapeError(message(op, ": the kernel ", spatialText(s.kernel, rank),
                                     " of weight ", weight, " with dilation ",
                                     spatialText(s.dilation, rank), " is larger than input ", input,
                                     " with padding ", spatialText(s.padding, rank)));
        s.output[axis] = (padded - reach) / s.stride[axis] + 1;
    }
    return s;
}

Dims convOutputSizes(const ConvShape& s, const Dims& input) {
    Dims sizes = withSpatial(input, s.rank, s.output);
    sizes[input.size() - s.rank - 1] = s.outChannels;
    return sizes;
}

Cost convCost(const OpArgs& a, std::span<const Tensor> outputs, double outputElements,
              const Dims& weight) {
    Cost cost;
    for (const Tensor* t : a.inputs)
        if (t->defined()) cost.bytesRead += static_cast<std::int64_t>(t->nbytes());
    cost.bytesWritten = static_cast<std::int64_t>(outputs[0].nbytes());
    double perElement = 2;
    for (int i = 1; i < weight.size(); ++i) perElement *= static_cast<double>(weight[i]);
    cost.flops = outputElements * perElement;
    return cost;
}

}  // namespace tapescope::engine
