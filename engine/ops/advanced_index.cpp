// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/advanced_index.h"

#include "engine/cpu/copy.h"
#include "engine/cpu/scatter_kernels.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/index_rows.h"
#include "engine/ops/indexing.h"
#include "engine/ops/shape.h"

#include <vector>

namespace tapescope::engine {
namespace {

constexpr ArgDef kGetArgs[] = {{"input"}, {.name = "indices", .optional = true, .list = true}};
constexpr ArgDef kPutArgs[] = {
    {"input"}, {"values"}, {.name = "indices", .optional = true, .list = true}};
constexpr AttrDef kAccumulate[] = {{"accumulate", AttrKind::Bool, "false"}};

/// The indices of a call, from argument `from` on. Throws DTypeError.
std::vector<Tensor> indicesOf(std::string_view op, const OpArgs& a, std::size_t from) {
    std::vector<Tensor> indices;
    for (std::size_t i = from; i < a.inputs.size(); ++i) {
        const Tensor& t = *a.inputs[i];
        if (t.defined() && t.dtype() == DType::I32) {
            indices.push_back(cpu::converted(t, DType::I64));
            continue;
        }
        if (t.defined() && t.dtype() != DType::Bool && t.dtype() != DType::I64)
            throw DTypeError(
                message(op, ": an index must be int64, int32 or a bool mask, not ", t.dtype()));
        indices.push_back(t);
    }
    return indices;
}
std::vector<Tensor> savedIndices(const VjpArgs& v, int from) {
    std::vector<Tensor> indices;
    for (int i = from; i < v.inputCount(); ++i) indices.push_back(v.input(i));
    return indices;
}
bool hasMask(std::span<const Tensor> indices) {
    for (const Tensor& t : indices)
        if (t.defined() && t.dtype() == DType::Bool) return true;
    return false;
}

void inferIndex(const OpArgs& a, OutputMetas& out) {
    const std::vector<Tensor> indices = indicesOf("index", a, 1);
    if (hasMask(indices)) return out.addDynamic(a[0].dtype());
    const Dims sizes = cpu::indexShape("index", a[0].sizes(), indices).sizes();
    checkSizes("index", sizes);
    out.add(sizes, a[0].dtype());
}
void indexKernel(const OpArgs& a, std::span<Tensor> out) {
    const std::vector<Tensor> indices =
        cpu::expandMasks("index", a[0].sizes(), indicesOf("index", a, 1));
    if (!out[0].defined()) {
        const Dims sizes = cpu::indexShape("index", a[0].sizes(), indices).sizes();
        checkSizes("index", sizes);
        out[0] = Tensor::empty(sizes, a[0].dtype());
    }
    cpu::indexInto(a[0], indices, out[0]);
}
void vjpIndex(const VjpArgs& v, std::span<Tensor> grads) {
    grads[0] = index_put(zerosOf(v.meta(0)), savedIndices(v, 1), v.grad(), true);
}

template <const OpDef& row>
void inferPut(const OpArgs& a, OutputMetas& out) {
    if (row.inplace) checkWritable(row.name, a[0]);
    checkSameDType(row.name, "input", a[0], "values", a[1]);
    indicesOf(row.name, a, 2);
    out.add(a[0].sizes(), a[0].dtype());
}
template <const OpDef& row>
void putKernel(const OpArgs& a, std::span<Tensor> out) {
    std::vector<Tensor> indices =
        cpu::expandMasks(row.name, a[0].sizes(), indicesOf(row.name, a, 2));
    const Dims result = cpu::indexShape(row.name, a[0].sizes(), indices).sizes();
    Dims common;
    if (!broadcastShapes(a[1].sizes(), result, common) || common != result)
        throw ShapeError(message(row.name, ": values ", a[1].sizes(),
                                 " do not broadcast to the indexed part ", result));
    const Tensor values = cpu::apartFrom(a[1], out[0]);
    for (Tensor& index : indices) index = cpu::apartFrom(index, out[0]);
    if (!same(out[0], a[0])) cpu::copyTensor(out[0], a[0]);
    cpu::indexPutInto(row.name, out[0], indices, values, a.attrs.flag(0));
}
void vjpPut(const VjpArgs& v, std::span<Tensor> grads) {
    const std::vector<Tensor> indices = savedIndices(v, 2);
    if (v.need(0)) {
        const Tensor zero = zeros({}, {.dtype = v.meta(0).dtype});
        grads[0] = v.attrs.flag(0) ? v.grad() : index_put(v.grad(), indices, zero);
    }
    if (v.need(1)) grads[1] = sum_to_size(index(v.grad(), indices), v.meta(1).sizes);
}

template <const OpDef& row>
constexpr OpDef putting(std::string_view name, bool inplace) {
    return {.name = name,
            .family = Family::Index,
            .args = kPutArgs,
            .attrs = kAccumulate,
            .infer = inferPut<row>,
            .vjp = vjpPut,
            .saveInputs = 0b100,
            .inplace = inplace,
            .kernels = {putKernel<row>}};
}

std::vector<const Tensor*> inputsOf(std::initializer_list<const Tensor*> first,
                                    std::span<const Tensor> indices) {
    std::vector<const Tensor*> inputs(first);
    for (const Tensor& t : indices) inputs.push_back(&t);
    return inputs;
}

}  // namespace

constinit OpDef kIndex{.name = "index",
                       .family = Family::Index,
                       .args = kGetArgs,
                       .infer = inferIndex,
                       .vjp = vjpIndex,
                       .saveInputs = 0b10,
                       .kernels = {indexKernel}};
constinit OpDef kIndexPut = putting<kIndexPut>("index_put", false);
constinit OpDef kIndexPutInplace = putting<kIndexPutInplace>("index_put_", true);

Tensor index(const Tensor& x, std::span<const Tensor> indices, Site site) {
    return std::move(call(kIndex, inputsOf({&x}, indices), {}, site)[0]);
}
Tensor index_put(const Tensor& x, std::span<const Tensor> indices, const Tensor& values,
                 bool accumulate, Site site) {
    return std::move(call(kIndexPut, inputsOf({&x, &values}, indices), Attrs(accumulate), site)[0]);
}
Tensor index_put_(const Tensor& x, std::span<const Tensor> indices, const Tensor& values,
                  bool accumulate, Site site) {
    return std::move(
        call(kIndexPutInplace, inputsOf({&x, &values}, indices), Attrs(accumulate), site)[0]);
}

}  // namespace tapescope::engine
