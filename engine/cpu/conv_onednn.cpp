// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/conv.h"
#include "engine/cpu/onednn.h"

#include <omp.h>

namespace tapescope::engine::cpu {

namespace {

using dnnl::memory;
using Desc = memory::desc;
using Tag = memory::format_tag;

constexpr auto kFloat = memory::data_type::f32;
// Not convolution_auto: Winograd saves a few per cent and loses three digits.
constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;

/// The dimensions in use of a triple.
memory::dims used(const ConvShape& s, const ConvShape::Triple& values) {
    return {values.begin() + (3 - s.rank), values.end()};
}
memory::dims joined(memory::dims head, const memory::dims& tail) {
    head.insert(head.end(), tail.begin(), tail.end());
    return head;
}
Tag imageTag(int rank) { return rank == 1 ? Tag::ncw : rank == 2 ? Tag::nchw : Tag::ncdhw; }
Tag weightTagOf(int rank, bool grouped) {
    if (rank == 1) return grouped ? Tag::goiw : Tag::oiw;
    if (rank == 2) return grouped ? Tag::goihw : Tag::oihw;
    return grouped ? Tag::goidhw : Tag::oidhw;
}

/// What the three directions describe alike. "any": the layout oneDNN likes best; plain NCHW would
/// fall to a slow path.
struct Descriptors {
    explicit Descriptors(const ConvShape& s)
        : input(joined({s.batch, s.channels}, used(s, s.input))),
          output(joined({s.batch, s.outChannels}, used(s, s.output))),
          weight(joined(s.groups == 1 ? memory::dims{s.outChannels, s.channels}
                                      : memory::dims{s.groups, s.outChannels / s.groups,
                                                     s.channels / s.groups},
                        used(s, s.kernel))),
          plain(imageTag(s.rank)),
          weightTag(weightTagOf(s.rank, s.groups != 1)),
          stride(used(s, s.stride)),
          paddingBefore(used(s, s.padding)) {
        for (unsigned axis = static_cast<unsigned>(3 - s.rank); axis < 3; ++axis) {
            // oneDNN counts the gaps between taps.
            dilation.push_back(s.dilation[axis] - 1);
            const std::int64_t reach =
                (s.output[axis] - 1) * s.stride[axis] + (s.kernel[axis] - 1) * s.dilation[axis] + 1;
            paddingAfter.push_back(reach - s.input[axis] - s.padding[axis]);
        }
    }
    static Desc any(const memory::dims& dims) { return {dims, kFloat, Tag::any}; }
    Desc plainInput() const { return {input, kFloat, plain}; }
    Desc plainOutput() const { return {output, kFloat, plain}; }
    Desc plainWeight() const { return {weight, kFloat, weightTag}; }

    memory::dims input;
    memory::dims output;
    memory::dims weight;
    Tag plain;
    Tag weightTag;
    memory::dims stride;
    memory::dims dilation;
    memory::dims paddingBefore;
    memory::dims paddingAfter;
};

dnnl::primitive_attr ownScratchpad() {
    dnnl::primitive_attr attr;
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    return attr;
}

dnnl::convolution_forward::primitive_desc forwardDesc(const Descriptors& d, const ConvShape& s,
                                                      bool bias) {
    const auto kind = dnnl::prop_kind::forward_training;
    const Desc biasDesc({s.outChannels}, kFloat, Tag::a);
    const auto op = bias ? dnnl::convolution_forward::desc(
                               kind, kAlgorithm, Desc(Descriptors::any(d.input)),
                               Descriptors::any(d.weight), biasDesc, Descriptors::any(d.output),
                               d.stride, d.dilation, d.paddingBefore, d.paddingAfter)
                         : dnnl::convolution_forward::desc(
                               kind, kAlgorithm, Descriptors::any(d.input),
                               Descriptors::any(d.weight), Descriptors::any(d.output), d.stride,
                               d.dilation, d.paddingBefore, d.paddingAfter);
    return {op, ownScratchpad(), oneDnnEngine()};
}

std::unique_ptr<OneDnnPlan> makeForward(const ConvShape& s, bool bias) {
    const Descriptors d(s);
    const auto desc = forwardDesc(d, s, bias);
    std::vector<OneDnnPlan::Operand> operands{
        {DNNL_ARG_SRC, d.plainInput(), desc.src_desc(), false},
        {DNNL_ARG_WEIGHTS, d.plainWeight(), desc.weights_desc(), false},
        {DNNL_ARG_DST, d.plainOutput(), desc.dst_desc(), true}};
    if (bias) operands.push_back({DNNL_ARG_BIAS, desc.bias_desc(), desc.bias_desc(), false});
    return std::make_unique<OneDnnPlan>(dnnl::convolution_forward(desc), desc.scratchpad_desc(),
                                        operands);
}

std::unique_ptr<OneDnnPlan> makeInputGrad(const ConvShape& s) {
    const Descriptors d(s);
    const dnnl::convolution_backward_data::desc op(
        kAlgorithm, Descriptors::any(d.input), Descriptors::any(d.weight),
        Descriptors::any(d.output), d.stride, d.dilation, d.paddingBefore, d.paddingAfter);
    const dnnl::convolution_backward_data::primitive_desc desc(op, ownScratchpad(), oneDnnEngine(),
                                                               forwardDesc(d, s, false));
    const OneDnnPlan::Operand operands[] = {
        {DNNL_ARG_DIFF_DST, d.plainOutput(), desc.diff_dst_desc(), false},
        {DNNL_ARG_WEIGHTS, d.plainWeight(), desc.weights_desc(), false},
        {DNNL_ARG_DIFF_SRC, d.plainInput(), desc.diff_src_desc(), true}};
    return std::make_unique<OneDnnPlan>(dnnl::convolution_backward_data(desc),
                                        desc.scratchpad_desc(), operands);
}

std::unique_ptr<OneDnnPlan> makeWeightGrad(const ConvShape& s) {
    const Descriptors d(s);
    const dnnl::convolution_backward_weights::desc op(
        kAlgorithm, Descriptors::any(d.input), Descriptors::any(d.weight),
        Descriptors::any(d.output), d.stride, d.dilation, d.paddingBefore, d.paddingAfter);
    const dnnl::convolution_backward_weights::primitive_desc desc(
        op, ownScratchpad(), oneDnnEngine(), forwardDesc(d, s, false));
    const OneDnnPlan::Operand operands[] = {
        {DNNL_ARG_DIFF_DST, d.plainOutput(), desc.diff_dst_desc(), false},
        {DNNL_ARG_SRC, d.plainInput(), desc.src_desc(), false},
        {DNNL_ARG_DIFF_WEIGHTS, d.plainWeight(), desc.diff_weights_desc(), true}};
    return std::make_unique<OneDnnPlan>(dnnl::convolution_backward_weights(desc),
                                        desc.scratchpad_desc(), operands);
}

PlanKey keyOf(ConvKind kind, const ConvShape& s, bool bias) {
    // The number of threads is part of it: primitives are laid out for one.
    PlanKey key{{static_cast<std::int64_t>(kind) * 8 + s.rank * 2 + (bias ? 1 : 0),
                 omp_get_max_threads(), s.batch, s.channels, s.outChannels, s.groups}};
    std::size_t at = 6;
    for (const ConvShape::Triple* t :
         {&s.input, &s.output, &s.kernel, &s.stride, &s.padding, &s.dilation})
        for (const std::int64_t value : *t) key.values.at(at++) = value;
    return key;
}

}  // namespace

bool convolveOneDnn(ConvKind kind, const ConvShape& shape, const float* a, const float* b,
                    const float* bias, float* out) {
    OneDnnPlan* const plan =
        PlanCache::ofThisThread().find(keyOf(kind, shape, bias != nullptr), [&] {
            switch (kind) {
                case ConvKind::InputGrad:
                    return makeInputGrad(shape);
                case ConvKind::WeightGrad:
                    return makeWeightGrad(shape);
                case ConvKind::Forward:
                    break;
            }
            return makeForward(shape, bias != nullptr);
        });
    if (!plan) return false;
    // oneDNN's handles are not const; inputs are only read.
    void* const data[] = {const_cast<float*>(a), const_cast<float*>(b), out,
                          const_cast<float*>(bias)};
    plan->run(std::span(data, bias ? 4U : 3U));
    return true;
}

}  // namespace tapescope::engine::cpu
