// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/gemm.h"
#include "engine/ops/checks.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/linalg.h"
#include "engine/ops/linalg_rows.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/shape.h"

namespace tapescope::engine {

namespace {

Tensor scaled(const Tensor& x, double factor) { return factor == 1 ? x : mul(x, factor); }
Tensor transposed(const Tensor& x) { return transpose(x, -2, -1); }

Cost costProduct(const OpArgs& a, std::span<const Tensor> outputs) {
    Cost cost;
    for (const Tensor* t : a.inputs)
        if (t->defined()) cost.bytesRead += static_cast<std::int64_t>(t->nbytes());
    cost.bytesWritten = static_cast<std::int64_t>(outputs[0].nbytes());
    // Every element of the left matrix meets each column of the result (one for a vector).
    const Tensor& left = a[static_cast<int>(a.inputs.size()) - 2];
    const Tensor& right = a[static_cast<int>(a.inputs.size()) - 1];
    const std::int64_t columns = right.dim() == 1 && left.dim() > 1 ? 1
                                 : outputs[0].sizes().empty()       ? 1
                                                                    : outputs[0].sizes().back();
    cost.flops = 2.0 * static_cast<double>(left.numel()) * static_cast<double>(columns);
    return cost;
}

// --- mv, dot, outer ------------------------------------------------------------------------------

void checkPair(std::string_view op, std::string_view whatA, const Tensor& a, std::string_view whatB,
               const Tensor& b) {
    checkSameDType(op, whatA, a, whatB, b);
    if (a.dtype() == DType::Bool)
        throw DTypeError(message(op, ": bool tensors cannot be multiplied; convert with to()"));
}

void inferMv(const OpArgs& a, OutputMetas& out) {
    checkRank("mv", "input", a[0], 2, "[n, m]");
    checkRank("mv", "vec", a[1], 1, "[m]");
    checkPair("mv", "input", a[0], "vec", a[1]);
    if (a[0].sizes()[1] != a[1].sizes()[0])
        throw ShapeError(message("mv: inner sizes differ: ", a[0].sizes(), " x ", a[1].sizes()));
    out.add({a[0].sizes()[0]}, a[0].dtype());
}

template <const OpDef& row>
void inferDot(const OpArgs& a, OutputMetas& out) {
    const std::string_view second = row.args[1].name;
    checkRank(row.name, "input", a[0], 1, "[n]");
    checkRank(row.name, second, a[1], 1, "[n]");
    checkPair(row.name, "input", a[0], second, a[1]);
    if (a[0].numel() != a[1].numel())
        throw ShapeError(message(row.name, ": the vectors must have one length, but are ",
                                 a[0].sizes(), " and ", a[1].sizes()));
    out.add({}, a[0].dtype());
}

void inferOuter(const OpArgs& a, OutputMetas& out) {
    checkRank("outer", "input", a[0], 1, "[n]");
    checkRank("outer", "vec2", a[1], 1, "[m]");
    out.add({a[0].sizes()[0], a[1].sizes()[0]}, a[0].dtype());
}

void productKernel(const OpArgs& a, std::span<Tensor> out) { cpu::matmulInto(a[0], a[1], out[0]); }
void outerKernel(const OpArgs& a, std::span<Tensor> out) { cpu::outerInto(a[0], a[1], out[0]); }

void vjpMv(const VjpArgs& v, std::span<Tensor> grads) {
    if (v.need(0)) grads[0] = outer(v.grad(), v.input(1));
    if (v.need(1)) grads[1] = mv(transposed(v.input(0)), v.grad());
}
void vjpDot(const VjpArgs& v, std::span<Tensor> grads) {
    if (v.need(0)) grads[0] = mul(v.grad(), v.input(1));
    if (v.need(1)) grads[1] = mul(v.grad(), v.input(0));
}
void vjpOuter(const VjpArgs& v, std::span<Tensor> grads) {
    if (v.need(0)) grads[0] = mv(v.grad(), v.input(1));
    if (v.need(1)) grads[1] = mv(transposed(v.grad()), v.input(0));
}

// --- beta * input + alpha * product --------------------------------------------------------------

double beta(const Attrs& attrs) { return attrs.real(0); }
double alpha(const Attrs& attrs) { return attrs.real(1); }

/// Checks operands of ranks `rankA` and `rankB` and that input broadcasts to sizes.
void checkAdded(const OpDef& row, const OpArgs& a, int rankA, int rankB) {
    checkRank(row.name, row.args[1].name, a[1], rankA);
    checkRank(row.name, row.args[2].name, a[2], rankB);
    checkPair(row.name, row.args[1].name, a[1], row.args[2].name, a[2]);
    checkSameDType(row.name, "input", a[0], row.args[1].name, a[1]);
    if (!isFloating(a[0].dtype()) &&
        (beta(a.attrs) != static_cast<double>(static_cast<std::int64_t>(beta(a.attrs))) ||
         alpha(a.attrs) != static_cast<double>(static_cast<std::int64_t>(alpha(a.attrs)))))
        throw DTypeError(
            message(row.name, ": beta and alpha must be whole numbers for integer tensors"));
}
void addResult(const OpDef& row, const OpArgs& a, const Dims& sizes, OutputMetas& out) {
    Dims both;
    if (!broadcastShapes(a[0].sizes(), sizes, both) || both != sizes)
        throw ShapeError(message(row.name, ": input ", a[0].sizes(),
                                 " does not broadcast to the product's shape ", sizes));
    out.add(sizes, a[0].dtype());
}
void checkInner(const OpDef& row, const OpArgs& a) {
    const std::int64_t left = a[1].sizes().back();
    const std::int64_t right = a[2].sizes()[std::max(a[2].dim() - 2, 0)];
    if (left != right)
        throw ShapeError(
            message(row.name, ": inner sizes differ: ", a[1].sizes(), " x ", a[2].sizes()));
}
void checkBatch(const OpDef& row, const OpArgs& a) {
    if (a[1].sizes()[0] != a[2].sizes()[0])
        throw ShapeError(
            message(row.name, ": batch sizes differ: ", a[1].sizes(), " x ", a[2].sizes()));
}

void inferAddmm(const OpArgs& a, OutputMetas& out) {
    checkAdded(kAddmm, a, 2, 2);
    checkInner(kAddmm, a);
    addResult(kAddmm, a, {a[1].sizes()[0], a[2].sizes()[1]}, out);
}
void inferAddmv(const OpArgs& a, OutputMetas& out) {
    checkAdded(kAddmv, a, 2, 1);
    checkInner(kAddmv, a);
    addResult(kAddmv, a, {a[1].sizes()[0]}, out);
}
void inferAddr(const OpArgs& a, OutputMetas& out) {
    checkAdded(kAddr, a, 1, 1);
    addResult(kAddr, a, {a[1].sizes()[0], a[2].sizes()[0]}, out);
}
void inferAddbmm(const OpArgs& a, OutputMetas& out) {
    checkAdded(kAddbmm, a, 3, 3);
    checkBatch(kAddbmm, a);
    checkInner(kAddbmm, a);
    addResult(kAddbmm, a, {a[1].sizes()[1], a[2].sizes()[2]}, out);
}
void inferBaddbmm(const OpArgs& a, OutputMetas& out) {
    checkAdded(kBaddbmm, a, 3, 3);
    checkBatch(kBaddbmm, a);
    checkInner(kBaddbmm, a);
    addResult(kBaddbmm, a, {a[1].sizes()[0], a[1].sizes()[1], a[2].sizes()[2]}, out);
}

void addProductKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::addProductInto(a[0], a[1], a[2], beta(a.attrs), alpha(a.attrs), out[0]);
}
void addrKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::addOuterInto(a[0], a[1], a[2], beta(a.attrs), alpha(a.attrs), out[0]);
}
void addbmmKernel(const OpArgs& a, std::span<Tensor> out) {
    cpu::addBatchProductInto(a[0], a[1], a[2], beta(a.attrs), alpha(a.attrs), out[0]);
}

void vjpAdded(const VjpArgs& v, std::span<Tensor> grads) {
    if (v.need(0)) grads[0] = scaled(sum_to_size(v.grad(), v.meta(0).sizes), beta(v.attrs));
}
/// addmm and baddbmm.
void vjpAddProduct(const VjpArgs& v, std::span<Tensor> grads) {
    vjpAdded(v, grads);
    const double factor = alpha(v.attrs);
    if (v.need(1)) grads[1] = scaled(matmul(v.grad(), transposed(v.input(2))), factor);
    if (v.need(2)) grads[2] = scaled(matmul(transposed(v.input(1)), v.grad()), factor);
}
void vjpAddmv(const VjpArgs& v, std::span<Tensor> grads) {
    vjpAdded(v, grads);
    const double factor = alpha(v.attrs);
    if (v.need(1)) grads[1] = scaled(outer(v.grad(), v.input(2)), factor);
    if (v.need(2)) grads[2] = scaled(mv(transposed(v.input(1)), v.grad()), factor);
}
void vjpAddr(const VjpArgs& v, std::span<Tensor> grads) {
    vjpAdded(v, grads);
    const double factor = alpha(v.attrs);
    if (v.need(1)) grads[1] = scaled(mv(v.grad(), v.input(2)), factor);
    if (v.need(2)) grads[2] = scaled(mv(transposed(v.grad()), v.input(1)), factor);
}
void vjpAddbmm(const VjpArgs& v, std::span<Tensor> grads) {
    vjpAdded(v, grads);
    const double factor = alpha(v.attrs);
    const Tensor g = unsqueeze(v.grad(), 0);
    if (v.need(1)) grads[1] = scaled(matmul(g, transposed(v.input(2))), factor);
    if (v.need(2)) grads[2] = scaled(matmul(transposed(v.input(1)), g), factor);
}

constexpr ArgDef kMvArgs[] = {{"input"}, {"vec"}};
constexpr ArgDef kDotArgs[] = {{"input"}, {"tensor"}};
constexpr ArgDef kVdotArgs[] = {{"input"}, {"other"}};
constexpr ArgDef kOuterArgs[] = {{"input"}, {"vec2"}};
constexpr ArgDef kAddmmArgs[] = {{"input"}, {"mat1"}, {"mat2"}};
constexpr ArgDef kAddmvArgs[] = {{"input"}, {"mat"}, {"vec"}};
constexpr ArgDef kAddrArgs[] = {{"input"}, {"vec1"}, {"vec2"}};
constexpr ArgDef kAddbmmArgs[] = {{"input"}, {"batch1"}, {"batch2"}};
constexpr AttrDef kBetaAlpha[] = {{"beta", AttrKind::Float, "1"}, {"alpha", AttrKind::Float, "1"}};

constexpr OpDef productRow(std::string_view name, std::span<const ArgDef> args, InferFn infer,
                           VjpFn vjp, KernelFn kernel) {
    return {.name = name,
            .family = Family::Linalg,
            .args = args,
            .attrs = {},
            .infer = infer,
            .vjp = vjp,
            .saveInputs = 0b11,
            .cost = costProduct,
            .kernels = {kernel}};
}
constexpr OpDef addedRow(std::string_view name, std::span<const ArgDef> args, InferFn infer,
                         VjpFn vjp, KernelFn kernel) {
    return {.name = name,
            .family = Family::Linalg,
            .args = args,
            .attrs = kBetaAlpha,
            .infer = infer,
            .vjp = vjp,
            .saveInputs = 0b110,
            .cost = costProduct,
            .kernels = {kernel}};
}

constexpr OpDef promoting(OpDef row) {
    row.types = TypeRule::Promote;
    return row;
}

}  // namespace

constinit OpDef kMv = productRow("mv", kMvArgs, inferMv, vjpMv, productKernel);
constinit OpDef kDot = productRow("dot", kDotArgs, inferDot<kDot>, vjpDot, productKernel);
constinit OpDef kVdot = productRow("vdot", kVdotArgs, inferDot<kVdot>, vjpDot, productKernel);
constinit OpDef kOuter = {.name = "outer",
                          .family = Family::Linalg,
                          .args = kOuterArgs,
                          .attrs = {},
                          .types = TypeRule::Promote,
                          .infer = inferOuter,
                          .vjp = vjpOuter,
                          .saveInputs = 0b11,
                          .kernels = {outerKernel}};
constinit OpDef kAddmm = addedRow("addmm", kAddmmArgs, inferAddmm, vjpAddProduct, addProductKernel);
constinit OpDef kAddmv = addedRow("addmv", kAddmvArgs, inferAddmv, vjpAddmv, addProductKernel);
constinit OpDef kAddr = promoting(addedRow("addr", kAddrArgs, inferAddr, vjpAddr, addrKernel));
constinit OpDef kAddbmm = addedRow("addbmm", kAddbmmArgs, inferAddbmm, vjpAddbmm, addbmmKernel);
constinit OpDef kBaddbmm =
    addedRow("baddbmm", kAddbmmArgs, inferBaddbmm, vjpAddProduct, addProductKernel);

Tensor mv(const Tensor& input, const Tensor& vec, Site site) {
    return call1(kMv, {&input, &vec}, Attrs(), site);
}
Tensor dot(const Tensor& input, const Tensor& tensor, Site site) {
    return call1(kDot, {&input, &tensor}, Attrs(), site);
}
Tensor vdot(const Tensor& input, const Tensor& other, Site site) {
    return call1(kVdot, {&input, &other}, Attrs(), site);
}
Tensor outer(const Tensor& input, const Tensor& vec2, Site site) {
    return call1(kOuter, {&input, &vec2}, Attrs(), site);
}
Tensor addmm(const Tensor& input, const Tensor& mat1, const Tensor& mat2, double b, double a,
             Site site) {
    return call1(kAddmm, {&input, &mat1, &mat2}, Attrs(b, a), site);
}
Tensor addmv(const Tensor& input, const Tensor& mat, const Tensor& vec, double b, double a,
             Site site) {
    return call1(kAddmv, {&input, &mat, &vec}, Attrs(b, a), site);
}
Tensor addr(const Tensor& input, const Tensor& vec1, const Tensor& vec2, double b, double a,
            Site site) {
    return call1(kAddr, {&input, &vec1, &vec2}, Attrs(b, a), site);
}
Tensor addbmm(const Tensor& input, const Tensor& batch1, const Tensor& batch2, double b, double a,
              Site site) {
    return call1(kAddbmm, {&input, &batch1, &batch2}, Attrs(b, a), site);
}
Tensor baddbmm(const Tensor& input, const Tensor& batch1, const Tensor& batch2, double b, double a,
               Site site) {
    return call1(kBaddbmm, {&input, &batch1, &batch2}, Attrs(b, a), site);
}

}  // namespace tapescope::engine
