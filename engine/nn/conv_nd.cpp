// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/conv_nd.h"

#include "engine/errors.h"
#include "engine/nn/dims_text.h"
#include "engine/nn/init.h"
#include "engine/ops/nn_conv.h"

namespace tapescope::engine::nn {
namespace {

ConvTransposeOptions widened(const ConvOptions& o) {
    return {.stride = o.stride,
            .padding = o.padding,
            .dilation = o.dilation,
            .groups = o.groups,
            .bias = o.bias};
}
ConvParams plain(const ConvTransposeOptions& o) {
    return {o.stride, o.padding, o.dilation, o.groups};
}
ConvTransposeParams transposedParams(const ConvTransposeOptions& o) {
    return {o.stride, o.padding, o.output_padding, o.groups, o.dilation};
}

}  // namespace

ConvNd::ConvNd(const char* typeName, int rank, bool transposed, std::int64_t in_channels,
               std::int64_t out_channels, const Dims& kernel, const ConvTransposeOptions& options)
    : Module(typeName),
      m_inChannels(in_channels),
      m_outChannels(out_channels),
      m_kernel(spread(kernel, rank)),
      m_options(options) {
    if (in_channels < 1 || out_channels < 1 || options.groups < 1 ||
        in_channels % options.groups != 0 || out_channels % options.groups != 0) {
        throw Error(std::string(typeName) +
                    ": channels must be at least 1 and multiples of groups, but in_channels is " +
                    std::to_string(in_channels) + ", out_channels " + std::to_string(out_channels) +
                    ", groups " + std::to_string(options.groups));
    }
    if (m_kernel.size() != rank)
        throw Error(std::string(typeName) + ": the kernel " + toString(kernel) +
                    " must be one or " + std::to_string(rank) + " numbers");
    Dims sizes = transposed ? Dims{in_channels, out_channels / options.groups}
                            : Dims{out_channels, in_channels / options.groups};
    for (const std::int64_t size : m_kernel) {
        if (size < 1)
            throw Error(std::string(typeName) +
                        ": the kernel must be at least 1 everywhere, but is " +
                        timesText(m_kernel));
        sizes.push_back(size);
    }
    weight = register_parameter("weight", Tensor::empty(sizes));
    bias = register_parameter("bias", options.bias ? Tensor::empty({out_channels}) : Tensor());
    init::defaultWeightAndBias(weight, bias);
}

std::string ConvNd::details() const {
    std::string text = std::to_string(m_inChannels) + "→" + std::to_string(m_outChannels) + ", " +
                       timesText(m_kernel);
    const auto add = [&](const char* name, const Dims& values, std::int64_t usual) {
        if (values != Dims::filled(values.size(), usual))
            text += std::string(", ") + name + " " + timesText(values, true);
    };
    add("stride", m_options.stride, 1);
    add("padding", m_options.padding, 0);
    add("output padding", m_options.output_padding, 0);
    add("dilation", m_options.dilation, 1);
    if (m_options.groups != 1) text += ", groups " + std::to_string(m_options.groups);
    if (!m_options.bias) text += ", no bias";
    return text;
}

Conv1d::Conv1d(std::int64_t in_channels, std::int64_t out_channels, const Dims& kernel,
               const ConvOptions& options)
    : ConvNd("Conv1d", 1, false, in_channels, out_channels, kernel, widened(options)) {}
Tensor Conv1d::forward(const Tensor& x) {
    return conv1d(x, weight, bias, plain(options()), callSite());
}

Conv3d::Conv3d(std::int64_t in_channels, std::int64_t out_channels, const Dims& kernel,
               const ConvOptions& options)
    : ConvNd("Conv3d", 3, false, in_channels, out_channels, kernel, widened(options)) {}
Tensor Conv3d::forward(const Tensor& x) {
    return conv3d(x, weight, bias, plain(options()), callSite());
}

ConvTranspose1d::ConvTranspose1d(std::int64_t in_channels, std::int64_t out_channels,
                                 const Dims& kernel, const ConvTransposeOptions& options)
    : ConvNd("ConvTranspose1d", 1, true, in_channels, out_channels, kernel, options) {}
Tensor ConvTranspose1d::forward(const Tensor& x) {
    return conv_transpose1d(x, weight, bias, transposedParams(options()), callSite());
}

ConvTranspose2d::ConvTranspose2d(std::int64_t in_channels, std::int64_t out_channels,
                                 const Dims& kernel, const ConvTransposeOptions& options)
    : ConvNd("ConvTranspose2d", 2, true, in_channels, out_channels, kernel, options) {}
Tensor ConvTranspose2d::forward(const Tensor& x) {
    return conv_transpose2d(x, weight, bias, transposedParams(options()), callSite());
}

ConvTranspose3d::ConvTranspose3d(std::int64_t in_channels, std::int64_t out_channels,
                                 const Dims& kernel, const ConvTransposeOptions& options)
    : ConvNd("ConvTranspose3d", 3, true, in_channels, out_channels, kernel, options) {}
Tensor ConvTranspose3d::forward(const Tensor& x) {
    return conv_transpose3d(x, weight, bias, transposedParams(options()), callSite());
}

}  // namespace tapescope::engine::nn
