# SPDX-License-Identifier: Apache-2.0
"""For make_dtype_reference.py: where the first suitable call of an operator is not the one to take.

SPECIAL[operator] may have
    fn        the call itself, where the case files compute what it gives in another way (in float64, by the definition)
    labels    the cases to take; the first is also the one for forms
    values    the inputs whose dtype the operator is about
    nonzero   inputs that must not be 0 (divisors)
    ours      PyTorch has no such operator: its definition in float64, rounded, in the floating dtypes
    exact     with the values as they are, which belong together (an output beside its input)
    halves    the tolerance of 16-bit floats, in units of their eps; tol: the tolerance by dtype
    attrs     instead of the case's
    stats     inputs that are float32 beside 16-bit floats
    narrow    "values", "first": what is compared in 16 bits at most, where PyTorch's own gradients are of no use there
    shift     unsigned integers and flags by an offset, so that different values stay different
    forms, number, mixed, closure   False: no empty and 0-d calls, none with a number, of two dtypes, keep what fn holds
    options   of every case
    make      instead of all that, (label, function of a dtype that gives the call) pairs
"""
import torch
import torch.nn.functional as F

from make_dtype_reference import Call, Number, cast

aten = torch.ops.aten
L = torch.linalg
F64 = torch.float64
SPECIAL = {}
ADDED = {}
FAMILY = {"linspace": "create", "logspace": "create", "tril_indices": "create", "triu_indices": "create", "full_like": "create"}


FLOATING = [F64, torch.float32, torch.float16, torch.bfloat16]
# Where ours take fewer dtypes, as their rows do (tests/engine/ops/dtype_differences.cpp); grid_sample's own rounding of the
# coordinates to 16 bits is not PyTorch's.
FUNCTION_DTYPES = {**{name: FLOATING for name in ("rnn_tanh_cell", "rnn_relu_cell", "rnn_tanh", "rnn_relu", "conv1d", "conv2d",
                                                  "conv3d", "interpolate")}, "grid_sample": FLOATING[:2]}


def special(*names, **what):
    for name in names:
        SPECIAL.setdefault(name, {}).update(what)


def made(op, *calls, family=None, **what):
    """calls: (label, function of a dtype that gives fn, inputs and attributes)."""
    def call(build):
        return lambda dtype: Call(family, op, "", *build(dtype), True, {})
    special(op, make=[(label, call(build)) for label, build in calls], **what)


def creation():
    dims = lambda *v: ("dims", list(v))
    for name in ("zeros", "ones"):
        made(name, ("", lambda t, n=name: (lambda: getattr(torch, n)(2, 3, dtype=t), [], [dims(2, 3), ("dtype", t)])))
    for label, value in (("", 7.0), ("fraction", 2.75)):
        SPECIAL.setdefault("full", {"make": []})["make"].append((label, lambda t, v=value: Call(
            None, "full", "", lambda: torch.full((2,), v, dtype=t), [], [("float", v), dims(2), ("dtype", t)], True, {})))
    made("arange", ("", lambda t: (lambda: torch.arange(1, 6, 2, dtype=t), [],
                                   [("float", 1.0), ("float", 6.0), ("float", 2.0), ("dtype", t)])))
    made("eye", ("", lambda t: (lambda: torch.eye(2, 3, dtype=t), [], [("int", 2), ("dtype", t), ("int", 3)])))
    made("linspace", ("", lambda t: (lambda: torch.linspace(1, 8, 5, dtype=t), [],
                                     [("float", 1.0), ("float", 8.0), ("int", 5), ("dtype", t)])))
    made("logspace", ("", lambda t: (lambda: torch.logspace(0, 3, 4, 2, dtype=t), [],
                                     [("float", 0.0), ("float", 3.0), ("int", 4), ("float", 2.0), ("dtype", t)])))


def conversion():
    """Every dtype to every other; negative floats have no unsigned value."""
    def to(source, target):
        x = torch.tensor([2.75, 0.5, 11.0, 0.0, 100.0] + [-2.75, -11.0] * (target != torch.uint8 and source != torch.uint8))
        return lambda v: v.to(target), [x.to(source)], [("dtype", target)]
    from make_reference import NAMES
    made("to", *[("to_" + name, lambda t, d=target: to(t, d)) for target, name in NAMES.items()])
    special("copy_", mixed=True)


def random():
    """PyTorch draws other numbers: sizes and dtypes."""
    dims = lambda *v: ("dims", list(v))
    o = {"options": {"values": "no"}}
    for name in ("rand", "randn"):
        made(name, ("", lambda t, n=name: (lambda: getattr(torch, n)(2, 3, dtype=t), [], [dims(2, 3), ("dtype", t)])), **o)
    made("randint", ("", lambda t: (lambda: torch.randint(0, 2, (2, 3), dtype=t), [],
                                    [("int", 0), ("int", 2), dims(2, 3), ("dtype", t)])), **o)
    unit = torch.tensor([[0.25, 0.5, 1.0], [0.0, 0.75, 0.125]])
    sample = lambda t: (unit if t.is_floating_point else unit > 0.3).to(t)
    for name, fn, attrs in [("uniform_", lambda x: x.uniform_(0, 1), [("float", 0.0), ("float", 1.0)]),
                            ("normal_", lambda x: x.normal_(0, 1), [("float", 0.0), ("float", 1.0)]),
                            ("exponential_", lambda x: x.exponential_(1), [("float", 1.0)]),
                            ("bernoulli_", lambda x: x.bernoulli_(0.5), [("float", 0.5)]),
                            ("random_", lambda x: x.random_(0, 2), [("int", 0), ("int", 2)]),
                            ("bernoulli", torch.bernoulli, []), ("poisson", torch.poisson, []),
                            ("multinomial", lambda x: torch.multinomial(x, 2), [("int", 2), ("bool", False)])]:
        made(name, ("", lambda t, f=fn, a=attrs: (lambda x: f(x.detach().clone()), [sample(t)], a)), **o)
    made("normal", ("", lambda t: (lambda m, s: torch.normal(m, s), [sample(t), sample(t)], [])), **o)
    # F.dropout refuses what it cannot scale; the kept elements are those of our generator.
    made("dropout", ("", lambda t: (lambda x: (F.dropout(x, 0.5, True), x != 0), [sample(t)], [("float", 0.5), ("bool", True)])), **o)


def in_place():
    for name in ("neg", "abs", "sign", "exp", "exp2", "expm1", "square", "reciprocal", "sin", "cos", "tan", "sinh", "cosh", "tanh",
                 "erf", "erfc", "sigmoid", "floor", "ceil", "trunc", "frac", "round", "nan_to_num", "log", "log2", "log10", "log1p",
                 "sqrt", "rsqrt", "pow", "remainder", "fmod", "atan2", "clamp_min", "clamp_max", "bitwise_and",
                 "bitwise_or", "bitwise_xor"):
        special(name + "_", fn=lambda x, *y, n=name + "_": getattr(x, n)(*y))
    special("floor_divide_", fn=lambda x, y: x.div_(y, rounding_mode="floor"))
    for name, fn in [("clamp", lambda x: x.clamp_(-0.9, 1.1)), ("leaky_relu", lambda x: F.leaky_relu(x, 0.3, True)),
                     ("elu", lambda x: F.elu(x, 0.7, True)), ("selu", lambda x: F.selu(x, True)),
                     ("celu", lambda x: F.celu(x, 0.5, True)), ("silu", lambda x: F.silu(x, True)), ("mish", lambda x: F.mish(x, True)),
                     ("hardtanh", lambda x: F.hardtanh(x, -2, 1, True)), ("relu6", lambda x: F.relu6(x, True)),
                     ("hardswish", lambda x: F.hardswish(x, True)), ("hardsigmoid", lambda x: F.hardsigmoid(x, True)),
                     ("threshold", lambda x: F.threshold(x, 1, 7, True))]:
        special(name + "_", fn=fn)
    special("hardtanh_", attrs=[("float", -2.0), ("float", 1.0)])
    special("threshold_", attrs=[("float", 1.0), ("float", 7.0)])
    for name in ("pow_", "remainder_", "fmod_", "floor_divide_"):
        special(name, nonzero=(1,))


def pointwise():
    for name in ("div", "floor_divide", "div_trunc", "remainder", "fmod", "div_"):
        special(name, nonzero=(1,))
    # PyTorch multiplies with 1/6 in float32.
    special("hardsigmoid", fn=F.hardsigmoid, tol={F64: 1e-7})
    special("hardsigmoid_", tol={F64: 1e-7})
    special("celu", "gelu", labels=["matrix"])
    # Whole numbers: PyTorch cuts off the fractions of others where the tensor holds integers.
    special("hardtanh", "threshold", "addcmul", "masked_fill_", labels=["int"])
    special("hardtanh", "threshold", "addcmul", "index_reduce", forms=False)
    special("clamp", labels=["matrix", "int"])
    special("addcmul_", labels=["same_shape"], attrs=[("float", 2.0)], fn=lambda x, a, b: x.addcmul_(a, b, value=2))
    special("full_like", fn=lambda x: torch.full_like(x, -2))
    special("lgamma", tol={F64: 1e-9})  # PyTorch's trigamma is no better
    # PyTorch's own gradient subtracts logarithms in 16 bits.
    special("logcumsumexp", narrow="values")
    special("hardswish_backward", fn=aten.hardswish_backward)
    special("mish_backward", fn=aten.mish_backward)
    special("silu_backward", fn=aten.silu_backward)
    special("softmax_backward", fn=lambda g, y: aten._softmax_backward_data(g, y, -1, y.dtype), labels=["last"])
    special("log_softmax_backward", fn=lambda g, y: aten._log_softmax_backward_data(g, y, -1, y.dtype), labels=["last"])
    special("where", values=[1, 2])
    special("fill_", labels=["int"])
    special("addcdiv", nonzero=(2,))
    special("atan2", "atan2_", number=False)
    special("pow", labels=["tensor_exponent", "int_number"])
    whole = lambda x: x.clone().clamp(0, 3)
    special("bitwise_left_shift", fn=lambda a, b: torch.bitwise_left_shift(a, b))
    special("logical_and", labels=["bool"])


def normalisation():
    stats = {"options": {"gradoutputs": "1"}, "halves": 4}
    special("batch_norm", labels=["train_2d"], values=[0, 1, 2, 3, 4], mixed=False,
            fn=lambda x, v, b, m, s: wide_stats(torch.native_batch_norm(x, v, b, m.clone(), s.clone(), True, 0.1, 1e-5)), **stats)
    special("group_norm", labels=["4d"], forms=False, fn=lambda x, v, b: torch.native_group_norm(x, v, b, 2, 4, 4, 2, 1e-5),
            **stats)
    special("layer_norm", labels=["last"], fn=lambda x, v, b: wide_stats(torch.native_layer_norm(x, (4,), v, b, 1e-5), True), **stats)
    special("batch_norm_backward", labels=["train_all_2d"], ours=True, stats=(2, 3), halves=8)
    special("layer_norm_backward", labels=["all_last"], ours=True, stats=(2, 3), halves=4)
    special("group_norm_backward", labels=["2d"], ours=True, halves=4)
    special("nll_loss_backward", labels=["weighted_mean"])


def definitions():
    """Operators that PyTorch has not: the gradients of others, for the most part."""
    special("roi_align_backward", "logcumsumexp_grad", "dropout_backward", "rnn_layer", "lstm_layer", "gru_layer", "lion_step_",
            "as_strided_backward", "pad_mode_backward", ours=True, forms=False)
    special("unfold_backward", labels=["gradient"], ours=True, forms=False)
    special("rnn_layer_backward", "lstm_layer_backward", "gru_layer_backward", ours=True, exact=True, halves=8, forms=False)
    special("rnn_layer", labels=["tanh_forwards", "relu_forwards"])
    special("topk", "kthvalue", shift=True)
    special("upsample_bilinear2d", "upsample_bicubic2d", "upsample_bilinear2d_backward", "upsample_bicubic2d_backward",
            labels=["larger_centers"])
    special("binary_cross_entropy", labels=["none"])
    special("roi_align_backward", exact=True, tol={F64: 1e-6})  # torchvision's gradient in float32
    special("linalg_matrix_exp", narrow="first")  # PyTorch gives NaN


def wide_stats(triple, flat=False):
    """Ours keeps the statistics of 16-bit floats in float32."""
    y, mean, invstd = triple
    wide = lambda s: (s.squeeze(-1) if flat else s).to(torch.promote_types(y.dtype, torch.float32))
    return y, wide(mean), wide(invstd)


def optimisers():
    for name in ("sgd", "adam", "rmsprop", "adagrad", "adadelta", "adamax", "rprop", "asgd", "nadam", "radam"):
        special(name + "_step_", closure=False, forms=False, mixed=False)

    def unscaled(grad, found):
        torch._amp_foreach_non_finite_check_and_unscale_([grad], found, torch.tensor(0.25))
        return grad
    made("amp_check_and_unscale_", ("", lambda t: (lambda g, f: unscaled(g.detach(), f), [cast(torch.tensor([1.5, -2.0, 3.0]), t),
                                                                                       torch.zeros(())], [("float", 0.25)])))
    FAMILY["amp_check_and_unscale_"] = "optim"
    ADDED["amp_check_and_unscale_"] = [Call("optim", "amp_check_and_unscale_", "", None, [], [], False, {})]


def indexing():
    put = lambda a, v, *i: a.index_put(tuple(i), v, False)
    add = lambda a, v, *i: a.index_put(tuple(i), v, True)
    special("index_put", labels=["vector_False", "mask_rows_False"], fn=put, values=[0, 1])
    special("index_put_", labels=["vector_False"], fn=lambda a, v, *i: a.index_put_(tuple(i), v, False), values=[0, 1])
    special("scatter_reduce", labels=["sum_self_rows", "prod_self_rows", "mean_self_rows", "amax_self_rows", "amin_self_rows"])
    special("index_reduce", labels=["prod_self_rows", "mean_self_rows", "amax_self_rows", "amin_self_rows"])
    special("index", values=[0])
    special("embedding_renorm_", closure=False)


def attention():
    import cases_sequence

    def forward(t):
        q, k, v = (cast(x, t) for x in samples)
        return lambda q, k, v: cases_sequence.attention(q, k, v), [q, k, v], [("bool", False), ("float", 0.0), ("bool", False)]

    def backward(t):
        q, k, v = (cast(x, t) for x in samples)
        g = cast(grad, t)
        attrs = [("bool", False), ("float", 0.0), ("bool", False)]
        if not t.is_floating_point:
            return lambda g, q, k, v, m, y, s: cases_sequence.attention(q, k, v), [g, q, k, v, None, g, g[..., 0]], attrs
        out, lse = cases_sequence.attention(q, k, v)

        def run(g, q, k, v, mask, out, lse):
            leaves = [x.detach().requires_grad_(True) for x in (q, k, v)]
            return torch.autograd.grad(cases_sequence.attention(*leaves)[0], leaves, g.detach())
        return run, [g, q, k, v, None, out, lse], attrs
    w = torch.Generator().manual_seed(3)
    samples = [torch.randn(s, generator=w) for s in ((2, 3), (3, 3), (3, 2))]
    grad = torch.randn(2, 2, generator=w)
    made("scaled_dot_product_attention", ("", forward), options={"gradoutputs": "1"})
    made("scaled_dot_product_attention_backward", ("", backward))


def complex_numbers():
    frequencies = lambda name: lambda t: (lambda: getattr(torch.fft, name)(5, 0.5, dtype=t), [],
                                          [("int", 5), ("float", 0.5), ("dtype", t)])
    for name in ("fftfreq", "rfftfreq"):
        made("fft_" + name, ("", frequencies(name)))
    special("_fft_c2c", "_fft_r2c", "_fft_c2r", forms=False)  # ours want sizes checked by the functions that call them
    for name in ("fft", "ifft", "irfft", "hfft"):
        special("fft_" + name, labels=["complex_5", "shorter", "middle_longer"])
    for name in ("rfft", "ihfft"):
        special("fft_" + name, labels=["real_5", "shorter", "middle_longer"])
    for name in ("fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"):
        special("fft_" + name, labels=["plain", "negative_dims", "turned_dims"])


creation()
conversion()
random()
in_place()
pointwise()
normalisation()
definitions()
optimisers()
indexing()
attention()
complex_numbers()
