#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes reference_<family>.txt: operator calls with the values PyTorch computes for them (CPU, 1.13 or later).

    python3 make_reference.py [family ...]

Every cases_<family>.py beside this file has a function cases(w) that adds calls with w.case(...); one file per family of
engine/ops, or per part of one (cases_<family>_<part>.py). tests/engine/ops/operators_test.cpp reads them, calls each operator by name with contiguous, transposed
and gapped inputs, compares outputs and gradients, and checks gradients of first and second order by central differences
in float64. An operator without a case fails the suite.

The format, one record per line, a blank line after each case:

    case OP LABEL [option=value ...]
    in DTYPE [SIZES ...] | VALUES ...      dtype: bool i64 f32 f64 f16 bf16 i32 i16 i8 u8 c64 (real and imaginary part of each); "in none" for an absent optional input;
                                           "in number-f64 | V" for a Python number (number-c64: two)
    attr none | bool B | int I | float F | dims D ... | dtype T      in the order of the operator's row
    out DTYPE SIZES | VALUES
    gout INDEX ...                         the gradient given to output INDEX
    gin INDEX ...                          the gradient of input INDEX for it

Options: tol=1e-5 (relative, and absolute below 1), seed=N (set before the call), layouts=contiguous (no strided inputs),
gradcheck=no (kinks: no central differences), second=no (no second order), constant=3,4 (inputs that get no gradient), gradoutputs=1
(gradients flow from the first output only), refused=yes (the call must throw DTypeError; there are no outputs), symmetric=yes (an operator
that reads one triangle of input 0: differences along symmetric matrices), text=... (an argument that is text, "_" for a space).

functions_<part>.py are the same for functions that call several operators and have no row; they write functions_<part>.txt, which
tests name.
"""
import importlib.util
import math
import pathlib
import sys

import torch

HERE = pathlib.Path(__file__).resolve().parent
NAMES = {torch.bool: "bool", torch.int64: "i64", torch.float32: "f32", torch.float64: "f64", torch.float16: "f16",
         torch.bfloat16: "bf16", torch.int32: "i32", torch.int16: "i16", torch.int8: "i8", torch.uint8: "u8",
         torch.complex64: "c64"}
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)


class Number:
    """A Python number as an operand: in type promotion it counts by its category only."""

    def __init__(self, value):
        self.value = value


def text(value):
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int):
        return str(value)
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return repr(value)


def number_text(value):
    """A Python number as an input."""
    if isinstance(value, complex):
        return f"in number-c64 | {text(value.real)} {text(value.imag)}"
    return f"in {'number-i64' if isinstance(value, int) else 'number-f64'} | {text(value)}"


def tensor_text(t):
    t = t.detach()
    if t._is_zerotensor():  # a gradient that PyTorch knows to be zero has no memory
        t = torch.zeros(t.shape, dtype=t.dtype)
    head = " ".join([NAMES[t.dtype]] + [str(s) for s in t.shape])
    if t.is_complex():
        t = torch.view_as_real(t.resolve_conj())
    values = t.contiguous().view(-1)
    if t.dtype == torch.float32:
        words = [("%.9g" % v) for v in values.tolist()]
    else:
        words = [text(v) for v in values.tolist()]
    return head + " | " + " ".join(words)


def weights(t, salt):
    """A fixed gradient for an output: smooth, no zeros, no symmetry."""
    if t.is_complex():
        return torch.view_as_complex(weights(torch.view_as_real(t.detach().resolve_conj()), salt).contiguous())
    n = t.numel()
    w = torch.cos(torch.arange(n, dtype=torch.float64) * 1.7 + 0.3 + salt) + 0.25
    return w.reshape(t.shape).to(t.dtype)


class Writer:
    def __init__(self, path):
        self.path = path
        self.lines = []
        self.generator = torch.Generator().manual_seed(20240229)

    def randn(self, *sizes, dtype=torch.float32):
        return torch.randn(sizes, generator=self.generator, dtype=torch.float64).to(dtype)

    def rand(self, *sizes, low=0.0, high=1.0, dtype=torch.float32):
        u = torch.rand(*sizes, generator=self.generator, dtype=torch.float64)
        return (u * (high - low) + low).to(dtype)

    def randint(self, low, high, sizes, dtype=torch.int64):
        return torch.randint(low, high, sizes, generator=self.generator).to(dtype)

    def crandn(self, *sizes):
        return torch.view_as_complex(self.randn(*sizes, 2))

    def permutation(self, *sizes, dtype=torch.float32):
        """Distinct values, for operators that pick."""
        n = math.prod(sizes)
        order = torch.randperm(n, generator=self.generator)
        return ((order.to(torch.float64) - n / 2) * 0.37 + 0.11).reshape(sizes).to(dtype)

    def case(self, op, label, fn, inputs, attrs=(), grad=True, **options):
        """fn(*inputs) gives the outputs. inputs: tensors, Number or None. attrs: (kind, value) pairs. grad=False: PyTorch's gradient is
        not recorded. fn is not called where the call is to be refused."""
        head = ["case", op, label] + [f"{k}={v}" for k, v in options.items()]
        self.lines.append(" ".join(head))
        for x in inputs:
            if x is None:
                self.lines.append("in none")
            elif isinstance(x, Number):
                self.lines.append(number_text(x.value))
            else:
                self.lines.append("in " + tensor_text(x))
        for kind, value in attrs:
            if kind == "none":
                self.lines.append("attr none")
            elif kind == "dims":
                self.lines.append(" ".join(["attr dims"] + [str(v) for v in value]))
            elif kind == "dtype":
                self.lines.append("attr dtype " + NAMES[value])
            else:
                self.lines.append(f"attr {kind} {text(value)}")

        if options.get("refused") == "yes":
            self.lines.append("")
            return
        constant = str(options.get("constant", "")).split(",")
        leaves = {}
        arguments = []
        for i, x in enumerate(inputs):
            if isinstance(x, Number):
                arguments.append(x.value)
            elif x is not None and grad and (x.is_floating_point() or x.is_complex()) and str(i) not in constant:
                leaves[i] = x.clone().requires_grad_(True)
                arguments.append(leaves[i].clone())  # in-place operators may write it
            else:
                arguments.append(None if x is None else x.clone())
        result = fn(*arguments)
        outputs = list(result) if isinstance(result, (tuple, list)) else [result]
        for y in outputs:
            self.lines.append("out " + tensor_text(y))
        used = [(k, y) for k, y in enumerate(outputs) if y.requires_grad]
        if leaves and used:
            given = [weights(y, k) for k, y in used]
            for (k, _), g in zip(used, given):
                self.lines.append(f"gout {k} " + tensor_text(g))
            grads = torch.autograd.grad([y for _, y in used], list(leaves.values()), given, allow_unused=True)
            for i, g in zip(leaves, grads):
                if g is not None:
                    self.lines.append(f"gin {i} " + tensor_text(g))
        self.lines.append("")

    def save(self):
        note = "# PyTorch %s; made by make_reference.py, see there for the format.\n" % torch.__version__
        self.path.write_text(note + "\n".join(self.lines))
        print(f"{self.path.name}: {sum(l.startswith('case ') for l in self.lines)} cases")


def main():
    for script in sorted([*HERE.glob("cases_*.py"), *HERE.glob("functions_*.py")]):
        kind, family = script.stem.split("_", 1)
        if len(sys.argv) > 1 and (family if kind == "cases" else script.stem) not in sys.argv[1:]:
            continue
        spec = importlib.util.spec_from_file_location(script.stem, script)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        writer = Writer(HERE / f"{'reference' if kind == 'cases' else kind}_{family}.txt")
        module.cases(writer)
        writer.save()


if __name__ == "__main__":
    sys.modules["make_reference"] = sys.modules["__main__"]
    torch.set_num_threads(1)
    main()
