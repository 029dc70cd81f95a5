// SPDX-License-Identifier: Apache-2.0
// What detection models need beside layers; semantics: torchvision.ops.
#include "engine/cpu/roi_align.h"
#include "engine/ops/checks.h"
#include "engine/ops/composite.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/nn_attrs.h"
#include "engine/ops/nn_rows.h"
#include "engine/ops/nn_vision.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/shape.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tapescope::engine {

namespace {

using cpu::RoiAlignShape;

void checkBoxes(std::string_view op, std::string_view what, const Tensor& boxes) {
    if (boxes.dtype() == DType::Bool || isComplex(boxes.dtype()))
        throw DTypeError(message(op, ": ", what, " must be real numbers, not ", boxes.dtype()));
    if (boxes.dim() != 2 || boxes.size(1) != 4)
        throw ShapeError(
            message(op, ": ", what, " ", boxes.sizes(), " must be [N, 4] of (x1, y1, x2, y2)"));
}
Tensor corner(const Tensor& boxes, std::int64_t i, Site site) { return select(boxes, 1, i, site); }

// roi_align: input, boxes; output_size, spatial_scale, sampling_ratio, aligned
RoiAlignShape roiShape(std::string_view op, const Dims& input, const Tensor& boxes,
                       const Attrs& attrs, int first) {
    checkSizes(op, input);
    if (input.size() != 4 || input[2] < 1 || input[3] < 1)
        throw ShapeError(message(op, ": input ", input,
                                 " must have 4 dimensions [N, C, H, W] and planes with elements"));
    if (boxes.dim() != 2 || boxes.size(1) != 5)
        throw ShapeError(
            message(op, ": boxes ", boxes.sizes(), " must be [K, 5] of (image, x1, y1, x2, y2)"));
    const Spatial size = spatialAttr(op, "output_size", attrs.dims(first), 2, 1, 1);
    RoiAlignShape s;
    s.batch = input[0];
    s.channels = input[1];
    s.height = input[2];
    s.width = input[3];
    s.boxes = boxes.size(0);
    s.binRows = size[1];
    s.binColumns = size[2];
    s.scale = attrs.real(first + 1);
    s.samplingRatio = attrs.integer(first + 2);
    s.aligned = attrs.flag(first + 3);
    if (!(s.scale > 0) || std::isinf(s.scale))
        throw Error(message(op, ": spatial_scale must be positive and finite"));
    if (s.samplingRatio > cpu::kMaxRoiSamples)
        throw Error(message(op, ": sampling_ratio ", s.samplingRatio, " is more than ",
                            cpu::kMaxRoiSamples, " samples across a bin"));
    checkSizes(op, {s.boxes, s.channels, s.binRows, s.binColumns});
    return s;
}
Dims roiSizes(const RoiAlignShape& s) { return {s.boxes, s.channels, s.binRows, s.binColumns}; }

void inferRoi(const OpArgs& a, OutputMetas& out) {
    checkSameDType("roi_align", "input", a[0], "boxes", a[1]);
    out.add(roiSizes(roiShape("roi_align", a[0].sizes(), a[1], a.attrs, 0)), a[0].dtype());
}
void roiKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::roiAlign(roiShape("roi_align", a[0].sizes(), a[1], a.attrs, 0), a[0], a[1], out[0]);
}
void inferRoiBackward(const OpArgs& a, OutputMetas& out) {
    constexpr std::string_view kOp = "roi_align_backward";
    checkSameDType(kOp, "grad", a[0], "boxes", a[1]);
    const Dims& input = a.attrs.dims(0);
    const Dims expected = roiSizes(roiShape(kOp, input, a[1], a.attrs, 1));
    if (a[0].sizes() != expected)
        throw ShapeError(message(kOp, ": grad ", a[0].sizes(), " must be ", expected));
    out.add(input, a[0].dtype());
}
void roiBackwardKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::roiAlignBackward(roiShape("roi_align_backward", a.attrs.dims(0), a[1], a.attrs, 1), a[0],
                          a[1], out[0]);
}
// Linear in the input: each is the other's adjoint.
void vjpRoi(const VjpArgs& v, std::span<Tensor> grads) {
    Attrs attrs(v.meta(0).sizes);
    for (int i = 0; i < 4; ++i) attrs.push_back(v.attrs[i]);
    if (v.need(0)) grads[0] = call1(kRoiAlignBackward, {&v.grad(), &v.input(1)}, attrs, Site());
}
void vjpRoiBackward(const VjpArgs& v, std::span<Tensor> grads) {
    Attrs attrs;
    for (int i = 1; i < 5; ++i) attrs.push_back(v.attrs[i]);
    if (v.need(0)) grads[0] = call1(kRoiAlign, {&v.grad(), &v.input(1)}, attrs, Site());
}

Tensor areaComposite(const OpArgs& a, Site site) { return box_area(a[0], site); }
Tensor iouComposite(const OpArgs& a, Site site) { return box_iou(a[0], a[1], site); }
Tensor nmsComposite(const OpArgs& a, Site site) { return nms(a[0], a[1], a.attrs.real(0), site); }

constexpr ArgDef kRoiArgs[] = {{"input"}, {"boxes"}};
constexpr ArgDef kRoiBackwardArgs[] = {{"grad"}, {"boxes"}};
constexpr ArgDef kOneBoxes[] = {{"boxes"}};
constexpr ArgDef kTwoBoxes[] = {{"boxes1"}, {"boxes2"}};
constexpr ArgDef kScored[] = {{"boxes"}, {"scores"}};
constexpr AttrDef kRoiAttrs[] = {{"output_size", AttrKind::Dims},
                                 {"spatial_scale", AttrKind::Float, "1"},
                                 {"sampling_ratio", AttrKind::Int, "-1"},
                                 {"aligned", AttrKind::Bool, "false"}};
constexpr AttrDef kRoiBackwardAttrs[] = {
    {"input_sizes", AttrKind::Dims}, kRoiAttrs[0], kRoiAttrs[1], kRoiAttrs[2], kRoiAttrs[3]};
constexpr AttrDef kThreshold[] = {{"iou_threshold", AttrKind::Float}};

}  // namespace

constinit OpDef kRoiAlign{.name = "roi_align",
                          .family = Family::Nn,
                          .args = kRoiArgs,
                          .attrs = kRoiAttrs,
                          .types = TypeRule::Floating,
                          .infer = inferRoi,
                          .vjp = vjpRoi,
                          .saveInputs = 0b10,
                          .kernels = {roiKernel}};
constinit OpDef kRoiAlignBackward{.name = "roi_align_backward",
                                  .family = Family::Nn,
                                  .args = kRoiBackwardArgs,
                                  .attrs = kRoiBackwardAttrs,
                                  .types = TypeRule::Floating,
                                  .infer = inferRoiBackward,
                                  .vjp = vjpRoiBackward,
                                  .saveInputs = 0b10,
                                  .kernels = {roiBackwardKernel}};
constinit OpDef kBoxArea{.name = "box_area",
                         .family = Family::Nn,
                         .args = kOneBoxes,
                         .composite = composeOne<areaComposite>};
constinit OpDef kBoxIou{.name = "box_iou",
                        .family = Family::Nn,
                        .args = kTwoBoxes,
                        .composite = composeOne<iouComposite>};
constinit OpDef kNms{.name = "nms",
                     .family = Family::Nn,
                     .args = kScored,
                     .attrs = kThreshold,
                     .composite = composeOne<nmsComposite>,
                     .compositeGrad = false};

Tensor roi_align(const Tensor& input, const Tensor& boxes, const RoiAlignOptions& o, Site site) {
    return call1(kRoiAlign, {&input, &boxes},
                 Attrs(o.output_size, o.spatial_scale, o.sampling_ratio, o.aligned), site);
}

namespace {

/// torchvision's: products of sides in float32 or int32 at least.
Tensor inWide(const Tensor& t, Site site) {
    const DType dtype = t.dtype();
    if (isReducedFloating(dtype)) return to(t, DType::F32, site);
    return isIntegral(dtype) && itemSize(dtype) < 4 ? to(t, DType::I32, site) : t;
}
Tensor areaOf(const Tensor& boxes, Site site) {
    return mul(sub(corner(boxes, 2, site), corner(boxes, 0, site), site),
               sub(corner(boxes, 3, site), corner(boxes, 1, site), site), site);
}

}  // namespace

Tensor box_area(const Tensor& boxes, Site site) try {
    checkBoxes("box_area", "boxes", boxes);
    return areaOf(inWide(boxes, site), site);
} catch (const Error&) {
    rethrowPlaced(site);
}

Tensor box_iou(const Tensor& a, const Tensor& b, Site site) try {
    constexpr std::string_view kOp = "box_iou";
    checkBoxes(kOp, "boxes1", a);
    checkBoxes(kOp, "boxes2", b);
    const Tensor left = unsqueeze(a, 1, site);
    const Tensor lowest = maximum(narrow(left, 2, 0, 2, site), narrow(b, 1, 0, 2, site), site);
    const Tensor highest = minimum(narrow(left, 2, 2, 2, site), narrow(b, 1, 2, 2, site), site);
    const Tensor sides = clamp(inWide(sub(highest, lowest, site), site), 0,
                               std::numeric_limits<double>::infinity(), site);
    const Tensor common = mul(select(sides, 2, 0, site), select(sides, 2, 1, site), site);
    const Tensor both =
        sub(add(unsqueeze(box_area(a, site), 1, site), box_area(b, site), site), common, site);
    return div(common, both, site);
} catch (const Error&) {
    rethrowPlaced(site);
}

Tensor nms(const Tensor& boxes, const Tensor& scores, double iou_threshold, Site site) try {
    constexpr std::string_view kOp = "nms";
    checkBoxes(kOp, "boxes", boxes);
    checkFloating(kOp, "boxes", boxes);
    if (scores.sizes() != Dims{boxes.size(0)})
        throw ShapeError(message(kOp, ": scores ", scores.sizes(), " must be [", boxes.size(0),
                                 "] for boxes ", boxes.sizes()));
    checkSameDType(kOp, "boxes", boxes, "scores", scores);
    const auto box = boxes.to_vector<double>();
    const auto score = scores.to_vector<double>();
    std::vector<std::size_t> order(score.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // NaN first, as in PyTorch's sort; equal scores in the order given.
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        if (std::isnan(score[a]) || std::isnan(score[b]))
            return std::isnan(score[a]) && !std::isnan(score[b]);
        return score[a] > score[b];
    });
    const auto area = [&](const double* r) { return (r[2] - r[0]) * (r[3] - r[1]); };
    std::vector<bool> dropped(score.size(), false);
    std::vector<std::int64_t> kept;
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (dropped[order[i]]) continue;
        kept.push_back(static_cast<std::int64_t>(order[i]));
        const double* a = box.data() + 4 * order[i];
        for (std::size_t j = i + 1; j < order.size(); ++j) {
            if (dropped[order[j]]) continue;
            const double* b = box.data() + 4 * order[j];
            const double width = std::max(0.0, std::min(a[2], b[2]) - std::max(a[0], b[0]));
            const double height = std::max(0.0, std::min(a[3], b[3]) - std::max(a[1], b[1]));
            const double common = width * height;
            if (common / (area(a) + area(b) - common) > iou_threshold) dropped[order[j]] = true;
        }
    }
    return Tensor::from<std::int64_t>(std::span<const std::int64_t>(kept),
                                      {static_cast<std::int64_t>(kept.size())});
} catch (const Error&) {
    rethrowPlaced(site);
}

}  // namespace tapescope::engine
