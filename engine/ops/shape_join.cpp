// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/copy.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/shape.h"
#include "engine/ops/shape_rows.h"

#include <vector>

namespace tapescope::engine {

namespace {

/// PyTorch lets cat skip tensors of shape [0], whatever the rank of the others.
bool isLegacyEmpty(const Dims& sizes) { return sizes == Dims{0}; }

/// The input that says what the others must look like: the first that is not of shape [0].
int catReference(const OpArgs& a) {
    const int count = static_cast<int>(a.inputs.size());
    for (int i = 0; i < count; ++i)
        if (!isLegacyEmpty(a[i].sizes())) return i;
    return 0;
}

void inferCat(const OpArgs& a, OutputMetas& out) {
    const int reference = catReference(a);
    const Dims like = a[reference].sizes();
    if (like.empty()) throw ShapeError("cat: a 0-dimensional tensor cannot be joined; use stack()");
    const int dim = wrapDim("cat", a.attrs.integer(0), like.size());
    Dims sizes = like;
    sizes[dim] = 0;
    for (int i = 0; i < static_cast<int>(a.inputs.size()); ++i) {
        const Dims& s = a[i].sizes();
        if (isLegacyEmpty(s)) continue;
        bool fits = s.size() == like.size();
        for (int d = 0; fits && d < s.size(); ++d) fits = d == dim || s[d] == like[d];
        if (!fits)
            throw ShapeError(message("cat: tensor ", i, " ", s, " does not match tensor ",
                                     reference, " ", like, " outside dimension ", dim));
        sizes[dim] = checkedAdd("cat", sizes[dim], s[dim]);
    }
    checkSizes("cat", sizes);
    out.add(sizes, a[0].dtype());
}

void catKernel(const OpArgs& a, std::span<Tensor> out) {
    const int dim = wrapDim("cat", a.attrs.integer(0), out[0].dim());
    std::int64_t start = 0;
    for (const Tensor* x : a.inputs) {
        if (x->numel() == 0) continue;
        Dims sizes = out[0].sizes();
        sizes[dim] = x->sizes()[dim];
        const std::int64_t offset = out[0].storage_offset() + start * out[0].strides()[dim];
        cpu::copyTensor(makeView(out[0], sizes, out[0].strides(), offset), *x);
        start += sizes[dim];
    }
}

void vjpCat(const VjpArgs& v, std::span<Tensor> grads) {
    const int dim = wrapDim("cat", v.attrs.integer(0), v.grad().dim());
    std::int64_t start = 0;
    for (int i = 0; i < v.inputCount(); ++i) {
        const Dims& sizes = v.meta(i).sizes;
        if (isLegacyEmpty(sizes) && v.grad().dim() != 1) {
            if (v.need(i))
                grads[static_cast<unsigned>(i)] = zeros(sizes, {.dtype = v.meta(i).dtype});
            continue;
        }
        if (v.need(i)) grads[static_cast<unsigned>(i)] = narrow(v.grad(), dim, start, sizes[dim]);
        start += sizes[dim];
    }
}

void inferStack(const OpArgs& a, OutputMetas& out) {
    Dims sizes = a[0].sizes();
    for (int i = 1; i < static_cast<int>(a.inputs.size()); ++i)
        if (a[i].sizes() != sizes)
            throw ShapeError(message("stack: tensor ", i, " ", a[i].sizes(),
                                     " must have the shape of tensor 0, ", sizes));
    const int dim = wrapDim("stack", a.attrs.integer(0), sizes.size() + 1);
    sizes.insert(dim, static_cast<std::int64_t>(a.inputs.size()));
    checkSizes("stack", sizes);
    out.add(sizes, a[0].dtype());
}

void stackKernel(const OpArgs& a, std::span<Tensor> out) {
    const int dim = wrapDim("stack", a.attrs.integer(0), out[0].dim());
    Dims strides = out[0].strides();
    const std::int64_t step = strides[dim];
    strides.erase(dim);
    std::int64_t offset = out[0].storage_offset();
    for (const Tensor* x : a.inputs) {
        cpu::copyTensor(makeView(out[0], x->sizes(), strides, offset), *x);
        offset += step;
    }
}

void vjpStack(const VjpArgs& v, std::span<Tensor> grads) {
    const int dim = wrapDim("stack", v.attrs.integer(0), v.grad().dim());
    for (int i = 0; i < v.inputCount(); ++i)
        if (v.need(i)) grads[static_cast<unsigned>(i)] = select(v.grad(), dim, i);
}

std::vector<const Tensor*> pointersTo(std::string_view op, std::span<const Tensor> tensors,
                                      Site site) {
    if (tensors.empty())
        throw ShapeError(message(op, ": give at least one tensor") + placeSuffix("", site));
    std::vector<const Tensor*> pointers;
    pointers.reserve(tensors.size());
    for (const Tensor& t : tensors) pointers.push_back(&t);
    return pointers;
}

constexpr ArgDef kTensors[] = {{.name = "tensors", .list = true}};
constexpr AttrDef kJoinAttrs[] = {{"dim", AttrKind::Int, "0"}};

}  // namespace

constinit OpDef kCat{.name = "cat",
                     .family = Family::Shape,
                     .args = kTensors,
                     .attrs = kJoinAttrs,
                     .types = TypeRule::Promote,
                     .infer = inferCat,
                     .vjp = vjpCat,
                     .native = kEveryType,
                     .kernels = {catKernel}};
constinit OpDef kStack{.name = "stack",
                       .family = Family::Shape,
                       .args = kTensors,
                       .attrs = kJoinAttrs,
                       .types = TypeRule::Promote,
                       .infer = inferStack,
                       .vjp = vjpStack,
                       .native = kEveryType,
                       .kernels = {stackKernel}};

Tensor cat(std::span<const Tensor> tensors, std::int64_t dim, Site site) {
    const std::vector<const Tensor*> inputs = pointersTo("cat", tensors, site);
    return std::move(call(kCat, inputs, Attrs(dim), site)[0]);
}
Tensor stack(std::span<const Tensor> tensors, std::int64_t dim, Site site) {
    const std::vector<const Tensor*> inputs = pointersTo("stack", tensors, site);
    return std::move(call(kStack, inputs, Attrs(dim), site)[0]);
}

}  // namespace tapescope::engine
