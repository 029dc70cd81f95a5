#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes dtypes_<family>.txt: every operator in every dtype, with what PyTorch computes (CPU) or that it refuses the dtype.

    python3 make_dtype_reference.py [family ... | functions_<part> ...]

The calls are those of cases_<family>.py: of each operator a small one (and an empty one, a 0-d one and one with a number, where
there are), with its values rounded to what bfloat16 holds, so that every floating type gets the same, or made small integers or
flags; complex numbers get an imaginary part besides. dtype_calls.py says where the first suitable call is not the one to take.
tests/engine/ops/operator_dtypes_test.cpp reads the files and fails for an operator that lacks a dtype.
functions_<part>_dtypes.txt are the same for functions_<part>.py, where PyTorch takes the dtype. The detection operators need
torchvision. The format is that of make_reference.py and

    option dtype=f16      the dtype the case is about
    option form=mixed     operands of two dtypes; form=index, form=mask: indices or a mask of dtype
    option refused=yes    PyTorch refuses; its words are the comment above (refused=value: a number that the dtype cannot hold;
                          refused=sizes: not the dtype; refused=type: it gives complex128 or complex32, or compares in them,
                          which there are not here)
    option values=no      sizes and dtypes only (random numbers)
    given2 INDEX ...      second order: the gradient given to the gradient of input INDEX
    gin2 INDEX ...        and what it gives for input INDEX
"""
import functools
import importlib.util
import sys
import types

import torch

import make_reference as reference

HERE = reference.HERE
Number = reference.Number
DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8,
          torch.uint8, torch.bool]
C64 = torch.complex64
SWEPT = DTYPES + [C64]
MIXED = [(torch.float32, torch.float64), (torch.float16, torch.bfloat16), (torch.int64, torch.float16), (torch.uint8, torch.int8),
         (torch.bool, torch.int32), (torch.float32, torch.int64)]
SCALAR = [(torch.float32, torch.float64), (torch.float16, torch.float32), (torch.bfloat16, torch.int64), (torch.int8, torch.int64),
          (torch.uint8, torch.float64), (torch.bool, torch.int16), (torch.int32, torch.bool)]
MIXED_COMPLEX = [pair for t in [torch.float32] + DTYPES[:1] + DTYPES[2:] for pair in ((C64, t), (t, C64))]
# A number that promotes like another that is there is left out.
SCALAR_COMPLEX = [(C64, t) for t in (torch.float64, torch.float16, torch.int64, torch.bool)] + [(t, C64) for t in DTYPES]
DIGITS = {torch.float32: 9, torch.float16: 5, torch.bfloat16: 4}


class NoSuchType(Exception):
    """A result of a dtype that there is not here."""


def differentiable(x):
    return x.is_floating_point() or x.is_complex()


class Call:
    def __init__(self, family, op, label, fn, inputs, attrs, grad, options):
        self.family, self.op, self.label, self.fn = family, op, label, fn
        self.inputs, self.attrs, self.grad, self.options = list(inputs), list(attrs), grad, options

    def tensors(self):
        return [x for x in self.inputs if torch.is_tensor(x)]

    def numel(self):
        return sum(x.numel() for x in self.tensors())

    def with_(self, **changes):
        call = Call(self.family, self.op, self.label, self.fn, self.inputs, self.attrs, self.grad, self.options)
        for name, value in changes.items():
            setattr(call, name, value)
        return call


def rebuilt(value, change, seen=None):
    """value, a function of a case file, with cells of its own (loops go on after the call is listed) and the tensors and floats in
    them changed."""
    seen = {} if seen is None else seen
    if torch.is_tensor(value):
        return change(value)
    if isinstance(value, types.FunctionType) and value.__module__.startswith(("cases_", "functions_")):
        if id(value) in seen:
            return seen[id(value)]
        cells = tuple(types.CellType() for _ in value.__closure__ or ())
        copy = types.FunctionType(value.__code__, value.__globals__, value.__name__, value.__defaults__, cells)
        copy.__qualname__, copy.__module__ = value.__qualname__, value.__module__
        seen[id(value)] = copy
        for cell, old in zip(cells, value.__closure__ or ()):
            try:
                cell.cell_contents = rebuilt(old.cell_contents, change, seen)
            except ValueError:  # still empty
                pass
        copy.__defaults__ = value.__defaults__ and tuple(rebuilt(d, change, seen) for d in value.__defaults__)
        copy.__kwdefaults__ = value.__kwdefaults__ and {k: rebuilt(d, change, seen) for k, d in value.__kwdefaults__.items()}
        return copy
    if type(value) is float:
        return change(value)
    if type(value) in (list, tuple):
        return type(value)(rebuilt(v, change, seen) for v in value)
    if type(value) is dict:
        return {k: rebuilt(v, change, seen) for k, v in value.items()}
    return value


def plain(fn):
    """Without the wrapper that computes float32 in float64."""
    while isinstance(fn, types.FunctionType) and fn.__qualname__.startswith("exact.<locals>"):
        fn = dict(zip(fn.__code__.co_freevars, (c.cell_contents for c in fn.__closure__)))["fn"]
    return fn


class Collector(reference.Writer):
    def __init__(self, path, family, calls):
        super().__init__(path)
        self.family, self.calls = family, calls

    def case(self, op, label, fn, inputs, attrs=(), grad=True, **options):
        if fn is None:  # a refused call
            return
        fn = rebuilt(plain(fn), lambda t: t)
        inputs = [x.clone() if torch.is_tensor(x) else x for x in inputs]
        self.calls.setdefault(op, []).append(Call(self.family, op, label, fn, inputs, attrs, grad, options))


def collect(name="cases_*"):
    calls = {}
    # cases_complex.py has calls of other families' operators, too.
    for script in sorted(HERE.glob(name + ".py"), key=lambda path: (path.stem == "cases_complex", path)):
        if script.stem == "cases_dtypes":
            continue
        spec = importlib.util.spec_from_file_location(script.stem, script)
        module = importlib.util.module_from_spec(spec)
        sys.modules[script.stem] = module
        spec.loader.exec_module(module)
        module.cases(Collector(HERE / f"reference_{script.stem[6:]}.txt", script.stem.split("_")[1], calls))
    return calls


def value_positions(call):
    """The inputs whose dtype the operator is about: not indices and masks beside them."""
    for kind in (differentiable, lambda x: x.dtype == torch.int64, lambda x: x.dtype == torch.bool):
        found = [i for i, x in enumerate(call.inputs) if torch.is_tensor(x) and kind(x)]
        if found:
            return found
    return []


def usable(call):
    numbers = [x for x in call.tensors() if differentiable(x)]
    return call.numel() > 0 and all(x.isfinite().all() for x in numbers) and call.label not in ("specials", "range", "long")


def first(calls, test):
    return next((c for c in calls if test(c)), None)


def main_call(calls):
    """The smallest that is more than one number."""
    fitting = [c for c in calls if usable(c) and not any(isinstance(x, Number) for x in c.inputs) and
               all(x.numel() > 0 for x in c.tensors())]
    floats = [c for c in fitting if any(differentiable(x) for x in c.tensors())]
    fitting = floats or fitting
    fitting = [c for c in fitting if c.grad] or fitting
    some = [c for c in fitting if max([x.numel() for x in c.tensors()], default=0) >= 4 and c.numel() <= 80]
    return min(some or fitting or calls, key=lambda c: c.numel())


def cast(x, dtype, nonzero=False, exact=False, shift=False, salt=0):
    """x in dtype: floats that bfloat16 holds (unless exact), integers of the same sign and up to 11, flags of the positive ones."""
    if dtype.is_complex and not x.is_complex():
        return torch.complex(cast(x, torch.float32, exact=exact), given(torch.empty(x.shape), salt + 1))
    if x.is_complex():
        parts = torch.view_as_real(x.resolve_conj())
        if dtype.is_complex:
            return torch.view_as_complex(cast(parts, torch.float32, exact=exact).contiguous())
        x = parts.select(-1, 0)
    if exact:
        return x.to(dtype)
    if dtype.is_floating_point:
        return x.to(torch.bfloat16).to(dtype) if x.is_floating_point() else x.to(dtype)
    if x.is_floating_point():
        x = x.double().nan_to_num(0, 11, -11)
        whole = (x.sign() * (x.abs() * 3).ceil()).clamp(-11, 11)
    else:
        whole = x.clamp(-11, 11) if x.dtype != torch.bool else x
    if dtype == torch.bool:
        return torch.ones_like(whole, dtype=torch.bool) if nonzero else whole > 0
    if dtype == torch.uint8:
        whole = whole if whole.dtype == torch.bool else whole + 11 if shift else whole.abs()
    return whole.to(dtype)


def short(t):
    if t.dtype not in reference.NAMES:
        raise NoSuchType("gives " + str(t.dtype).removeprefix("torch."))
    if t.dtype not in DIGITS:
        return reference.tensor_text(t)
    if t._is_zerotensor():
        t = torch.zeros(t.shape, dtype=t.dtype)
    head = " ".join([reference.NAMES[t.dtype]] + [str(s) for s in t.shape])
    return head + " | " + " ".join(f"{v:.{DIGITS[t.dtype]}g}" for v in t.detach().reshape(-1).tolist())


def given(t, salt):
    """A gradient for t: eighths, so that every type holds them, without zeros."""
    if t.is_complex():
        return torch.complex(given(t.real, salt), given(t.imag, salt + 4))
    n = torch.arange(t.numel(), dtype=torch.float64)
    return (((n * 5 + 3 * salt) % 11 - 5) / 4 + 0.125).reshape(t.shape).to(t.dtype)


class Writer:
    def __init__(self, path):
        self.path, self.lines, self.tolerances = path, [], {}

    def head(self, call, label, dtype, **options):
        kept = {k: v for k, v in call.options.items() if k in ("seed", "layouts", "constant", "gradoutputs", "text")}
        kept["dtype"] = reference.NAMES[dtype]
        if dtype in self.tolerances:
            kept["tol"] = self.tolerances[dtype]
        kept.update(options)
        return " ".join(["case", call.op, label] + [f"{k}={v}" for k, v in kept.items()])

    def inputs(self, call):
        for x in call.inputs:
            if x is None:
                yield "in none"
            elif isinstance(x, Number):
                yield reference.number_text(x.value)
            else:
                yield "in " + short(x)
        for kind, value in call.attrs:
            if kind == "none":
                yield "attr none"
            elif kind == "dims":
                yield " ".join(["attr dims"] + [str(v) for v in value])
            elif kind == "dtype":
                yield "attr dtype " + reference.NAMES[value]
            else:
                yield f"attr {kind} {reference.text(value)}"

    def write(self, call, label, dtype, skip=False, sizes=False, **options):
        """skip: leave out what PyTorch refuses; sizes: it does because of the sizes. Gives whether it takes the call."""
        try:
            lines = self.recorded(call)
        except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError, NoSuchType) as error:
            words = str(error).split("\n")[0][:120]
            if skip:
                return False
            if "ZeroDivision" in words:
                raise
            self.lines.append("# " + words)
            why = "type" if isinstance(error, NoSuchType) else "value" if "without overflow" in words else "sizes" if sizes else "yes"
            lines, options = [], {**options, "refused": why}
        self.lines += [self.head(call, label, dtype, **options), *self.inputs(call), *lines, ""]
        return options.get("refused") in (None, "type")

    def recorded(self, call):
        try:
            return list(self.results(call))
        except RuntimeError as error:
            if "does not support automatic differentiation" not in str(error):
                raise
            return list(self.results(call.with_(grad=False)))

    def results(self, call):
        if call.family == "compare" and len(call.inputs) == 2:  # the result is bool, whatever the operands meet in
            common = torch.result_type(*[x.value if isinstance(x, Number) else x for x in call.inputs])
            if common not in reference.NAMES:
                raise NoSuchType("compares in " + str(common).removeprefix("torch."))
        constant = str(call.options.get("constant", "")).split(",")
        leaves, arguments = {}, []
        for i, x in enumerate(call.inputs):
            if isinstance(x, Number):
                arguments.append(x.value)
            elif x is not None and call.grad and differentiable(x) and str(i) not in constant:
                leaves[i] = x.clone().requires_grad_(True)
                arguments.append(leaves[i].clone())
            else:
                arguments.append(None if x is None else x.clone())
        result = call.fn(*arguments)
        outputs = list(result) if isinstance(result, (tuple, list)) else [result]
        for y in outputs:
            yield "out " + short(y)
        count = int(call.options.get("gradoutputs", len(outputs)))
        used = [(k, y) for k, y in enumerate(outputs[:count]) if y.requires_grad]
        narrow = any(y.element_size() == 2 for _, y in used)
        if not leaves or not used or (narrow and call.options.get("narrow") == "values"):
            return
        if call.options.get("values") == "no":
            return
        weights = [given(y, k) for k, y in used]
        roots, variables = [y for _, y in used], list(leaves.values())
        twice = call.options.get("second") != "no" and not (narrow and call.options.get("narrow") == "first")
        try:
            grads = torch.autograd.grad(roots, variables, weights, allow_unused=True, create_graph=twice)
        except RuntimeError as error:
            yield "# no gradient: " + str(error).split("\n")[0][:100]
            return
        for (k, _), g in zip(used, weights):
            yield f"gout {k} " + short(g)
        for i, g in zip(leaves, grads):
            if g is not None:
                yield f"gin {i} " + short(g)
        again = [(i, g) for i, g in zip(leaves, grads) if g is not None and g.requires_grad]
        if not again:
            return
        try:
            factors = [given(g, 7 + i) for i, g in again]
            second = torch.autograd.grad([g for _, g in again], variables, factors, allow_unused=True)
        except RuntimeError:  # PyTorch has no derivative of this gradient
            return
        if all(s is None for s in second):
            return
        for (i, _), f in zip(again, factors):
            yield f"given2 {i} " + short(f)
        for i, s in zip(leaves, second):
            if s is not None:
                yield f"gin2 {i} " + short(s)

    def save(self):
        note = "# PyTorch %s; made by make_dtype_reference.py, see there for the format.\n" % torch.__version__
        self.path.write_text(note + "\n".join(self.lines))
        count = sum(l.startswith("case ") for l in self.lines)
        refused = sum(" refused=" in l for l in self.lines)
        print(f"{self.path.name}: {count} cases, {refused} refused, {self.path.stat().st_size >> 10} KiB")


def wide_type(dtype):
    return torch.promote_types(dtype, torch.float32) if dtype.is_floating_point else dtype


def in_dtype(call, dtypes, positions, nonzero=(), closure=True, exact=False, shift=False, stats=()):
    """call with the inputs at positions in dtypes (a list as long, or one for all), and what its function holds in the first."""
    each = dtypes if isinstance(dtypes, (list, tuple)) else [dtypes] * len(positions)
    inputs = list(call.inputs)
    for i, dtype in zip(positions, each):
        inputs[i] = cast(call.inputs[i], wide_type(dtype) if i in stats else dtype, i in nonzero, exact, shift, i)
    target = each[0] if each else None

    def change(t):
        if type(t) is float:  # whole numbers are integers for ours
            return int(t) if target in reference.INTEGERS and t.is_integer() else t
        return cast(t, target, exact=exact) if target is not None and differentiable(t) else t
    return call.with_(inputs=inputs, fn=rebuilt(call.fn, change) if closure else call.fn)


def in_float64(fn):
    """What PyTorch has no operator for: the definition in float64, rounded once."""
    def run(*inputs):
        dtypes = [x.dtype for x in inputs if torch.is_tensor(x) and x.is_floating_point()]
        common = functools.reduce(torch.promote_types, dtypes)  # statistics are float32 beside 16-bit floats
        wide = [x.double() if torch.is_tensor(x) and x.is_floating_point() else x for x in inputs]
        result = rebuilt(fn, lambda t: t.double() if torch.is_tensor(t) and t.is_floating_point() else t)(*wide)
        rounded = lambda y, dtype: y.to(dtype) if y.is_floating_point() else y
        if torch.is_tensor(result):
            return rounded(result, dtypes[0])
        return tuple(rounded(y, common if k else dtypes[0]) for k, y in enumerate(result))
    return run


def sweep(w, call, label, positions, nonzero=(), closure=True, exact=False, shift=False, stats=(), dtypes=SWEPT, skip=False,
          **options):
    """Writes call in every dtype and gives those that PyTorch takes."""
    taken = []
    for dtype in dtypes:
        name = reference.NAMES[dtype] + ("_" + label if label else "")
        with torch.random.fork_rng(enabled=dtype == C64):  # the others keep their random numbers
            if not positions:  # the dtype is an argument
                w.write(call(dtype).with_(options=options), name, dtype, **options)
                continue
            own = in_dtype(call, dtype, positions, nonzero, closure, exact, shift, stats)
            if w.write(own, name, dtype, skip, **options):
                taken.append(dtype)
    return taken


def tolerances(calls):
    """The loosest that the case files state for an operator, by dtype."""
    found = {}
    for call in calls:
        tol = float(call.options.get("tol", 0))
        for x in call.tensors():
            if x.dtype in (torch.float32, torch.float64):
                found[x.dtype] = max(found.get(x.dtype, 0), tol)
    if torch.float32 not in found and found.get(torch.float64, 0) > 0:
        found[torch.float32] = 5e-5
    found[C64] = max(1e-5, found.get(torch.float32, 0))  # products are sums, and terms cancel
    return {dtype: tol for dtype, tol in found.items() if tol > 0}


def about_complex(call):
    """The rows that are, which take real numbers besides or refuse them."""
    return call.family in ("complex", "fft")


def write_operator(w, op, calls, special):
    if not about_complex(calls[0]):
        calls = [c for c in calls if c.family != "complex"]
    w.tolerances = tolerances(calls)
    special = special or {}
    if "halves" in special:
        w.tolerances.update({torch.float16: special["halves"] * 2.0**-10, torch.bfloat16: special["halves"] * 2.0**-7})
    w.tolerances.update(special.get("tol", {}))
    options = special.get("options", {})
    if "make" in special:
        for label, make in special["make"]:
            sweep(w, make, label, [], **options)
        return
    chosen = [main_call(calls)]
    if "labels" in special:
        chosen = [first(calls, lambda c, l=l: c.label == l) for l in special["labels"]]
    fn = special.get("fn")
    ours = special.get("ours", False)
    def own(c):
        c = c.with_(options={**c.options, "narrow": special.get("narrow")}, attrs=special.get("attrs", c.attrs))
        return c.with_(fn=fn) if fn else c.with_(fn=in_float64(c.fn)) if ours else c
    how = {k: special[k] for k in ("nonzero", "closure", "exact", "shift", "stats") if k in special}
    if ours:
        how.update(closure=False, dtypes=DTYPES[:4])
    nonzero = special.get("nonzero", ())
    places = lambda c: special.get("values") or value_positions(c)
    if not places(chosen[0]):  # no operand and no dtype: randperm
        return
    taken = SWEPT
    for k, call in enumerate(chosen):
        if k and about_complex(call):
            how["dtypes"] = taken
        taken = sweep(w, own(call), call.label if k else "", places(call), **how, **options)
        complex = C64 in taken if k == 0 else complex
    main = chosen[0]
    if about_complex(main) and special.get("forms", True):
        for label, change in (("empty", lambda x: x[:0]), ("zero_dim", lambda x: x.reshape(-1)[0]),
                              ("no_lines", lambda x: x[..., :0])):
            sized = main.with_(inputs=[change(x) for x in main.inputs])
            sweep(w, own(sized), label, places(main), dtypes=taken, sizes=True, **options)
    elif special.get("forms", True):
        for label in ("empty", "zero_dim"):
            call = first(calls, lambda c: c.label == label and not c.options.get("seed"))
            if call and call not in chosen:
                how["dtypes"] = [d for d in how.get("dtypes", SWEPT) if d in taken]  # PyTorch skips the check of empty ones
                sweep(w, own(call), label, places(call), **how, **options)
    number = first(calls, lambda c: usable(c) and any(isinstance(x, Number) for x in c.inputs) and c.tensors())
    if number and special.get("number", True):
        sweep(w, own(number), "number", value_positions(number), nonzero, **options)
        imaginary = [Number(1.5 - 0.5j) if isinstance(x, Number) else x for x in number.inputs]
        for dtype in SWEPT if complex else [torch.float32]:
            call = in_dtype(own(number).with_(inputs=imaginary, grad=False), dtype, value_positions(number), nonzero)
            w.write(call, "complex_number_" + reference.NAMES[dtype], dtype, form="mixed", **options)
    if special.get("mixed", not ours and not op.endswith("_backward")):
        write_mixed(w, own(main), places(main), nonzero, options, complex)


def write_mixed(w, call, positions, nonzero, options, complex):
    """Operands of two dtypes (networks take one), and indices and masks of other dtypes than the usual. complex: PyTorch takes
    complex64."""
    call = call.with_(options={**call.options, "second": "no"})
    inexact = lambda t: t.is_floating_point or t.is_complex
    real = lambda a, b: inexact(a) and inexact(b)  # PyTorch's gradients wrap in uint8
    if len(positions) >= 2 and call.family != "nn":
        for a, b in MIXED + MIXED_COMPLEX:
            if C64 in (a, b) and torch.float32 not in (a, b) and not complex:  # what does not meet float32 meets none
                continue
            each = [a, b] + [b] * (len(positions) - 2)
            name = f"mixed_{reference.NAMES[a]}_{reference.NAMES[b]}"
            own = in_dtype(call, each, positions, nonzero)
            taken = w.write(own.with_(grad=call.grad and real(a, b)), name, a, form="mixed", **options)
            if (a, b) == (torch.float32, C64):
                complex = complex and (taken or call.op.endswith("_"))
    if len(positions) >= 2 and call.family in ("pointwise", "compare"):
        for a, b in SCALAR + (SCALAR_COMPLEX if complex else []):  # a 0-d operand only raises the category
            single = list(call.inputs)
            last = positions[-1]
            single[last] = single[last].reshape(-1)[0]
            each = [a] * (len(positions) - 1) + [b]
            name = f"scalar_{reference.NAMES[a]}_{reference.NAMES[b]}"
            own = in_dtype(call.with_(inputs=single), each, positions, nonzero)
            w.write(own.with_(grad=call.grad and real(a, b)), name, a, form="mixed", **options)
    for kind, others in ((torch.int64, (torch.int32, torch.int16, torch.uint8, torch.float32)),
                         (torch.bool, (torch.uint8, torch.int64, torch.float32))):
        beside = [i for i, x in enumerate(call.inputs) if torch.is_tensor(x) and x.dtype == kind and i not in positions]
        if not beside or not positions or not call.inputs[positions[0]].is_floating_point():
            continue
        for other in others:
            inputs = [x.to(other) if i in beside else x for i, x in enumerate(in_dtype(call, torch.float32, positions).inputs)]
            label = ("at_" if kind == torch.int64 else "mask_") + reference.NAMES[other]
            w.write(call.with_(inputs=inputs, grad=False), label, other, form="index" if kind == torch.int64 else "mask", **options)


def write_functions(part):
    """functions_<part>.py in every dtype that PyTorch takes: functions_<part>_dtypes.txt."""
    import dtype_calls
    calls = collect("functions_" + part)
    w = Writer(HERE / f"functions_{part}_dtypes.txt")
    for op, list_ in calls.items():
        # Several operators, each of which rounds.
        w.tolerances = {torch.float32: 1e-5, torch.float16: 4 * 2.0**-10, torch.bfloat16: 4 * 2.0**-7, **tolerances(list_)}
        dtypes = dtype_calls.FUNCTION_DTYPES.get(op, DTYPES)
        small = [c for c in list_ if usable(c) and c.numel() <= 60 and all(x.numel() > 0 for x in c.tensors())]
        small = [c for c in small if c.grad] or small
        words = {c.options.get("text", ""): c for c in reversed(small)}  # one a word
        for call in list(words.values())[:12]:
            call = call.with_(options={**call.options, "second": "no"})
            sweep(w, call, call.label, value_positions(call), dtypes=dtypes, skip=True)
    w.save()


def main():
    import dtype_calls
    for part in ("linalg", "sequence", "text"):
        if len(sys.argv) == 1 or "functions_" + part in sys.argv[1:]:
            write_functions(part)
    if any(name.startswith("functions_") for name in sys.argv[1:]):
        return
    calls = collect()
    for op, made in dtype_calls.ADDED.items():
        calls.setdefault(op, []).extend(made)
    families = {}
    for op, list_ in calls.items():
        families.setdefault(dtype_calls.FAMILY.get(op, list_[0].family), []).append(op)
    for family, ops in sorted(families.items()):
        if len(sys.argv) > 1 and family not in sys.argv[1:]:
            continue
        torch.manual_seed(7)
        w = Writer(HERE / f"dtypes_{family}.txt")
        for op in ops:
            try:
                write_operator(w, op, calls[op], dtype_calls.SPECIAL.get(op))
            except Exception as error:
                raise RuntimeError(f"{op}: {error}") from error
        w.save()


if __name__ == "__main__":
    sys.modules["make_dtype_reference"] = sys.modules["__main__"]
    sys.modules["make_reference"] = reference
    torch.set_num_threads(1)
    main()
