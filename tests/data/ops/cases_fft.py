# SPDX-License-Identifier: Apache-2.0
"""torch.fft. norm: 0 backward, 1 ortho, 2 forward."""
import torch

NORMS = ["backward", "ortho", "forward"]
LENGTHS = [1, 2, 3, 5, 7, 8, 12, 13, 16, 30, 37]


def cases(w):
    fft = torch.fft
    r = w.randn
    c = w.crandn
    none = ("none", None)

    def one(name, label, x, n=None, dim=-1, norm=0, **options):
        w.case("fft_" + name, label, lambda t: getattr(fft, name)(t, n, dim, NORMS[norm]).resolve_conj(), [x],
               [none if n is None else ("int", n), ("int", dim), ("int", norm)], tol=1e-5, **options)

    def many(name, label, x, s=None, dim=None, norm=0, **options):
        given = {} if dim is None else {"dim": dim}
        attrs = [none if s is None else ("dims", s), ("dims", dim) if dim is not None else none, ("int", norm)]
        if name.endswith("2") and dim is None:
            attrs[1] = ("dims", [-2, -1])
        w.case("fft_" + name, label, lambda t: getattr(fft, name)(t, s, norm=NORMS[norm], **given), [x], attrs, tol=1e-5, **options)

    def refused(name, label, x, attrs):
        w.case("fft_" + name, label, None, [x], attrs, refused="yes")

    # What each transform takes: complex numbers, real ones, or a half of what is symmetric.
    both = {"fft": (c, r), "ifft": (c, r), "rfft": (r,), "ihfft": (r,), "irfft": (c, r), "hfft": (c, r)}
    for name, makers in both.items():
        half = name in ("irfft", "hfft")
        for length in LENGTHS:
            for maker in makers:
                kind = "real" if maker is r else "complex"
                size = length // 2 + 1 if half else length
                one(name, f"{kind}_{length}", maker(2, size), length if half else None)
        x = makers[0]
        for norm in (1, 2):
            one(name, NORMS[norm], x(2, 6), norm=norm)
            one(name, NORMS[norm] + "_odd", x(5), 5 if half else None, norm=norm)
        one(name, "shorter", x(2, 8), 5)
        one(name, "longer", x(2, 5), 9)
        one(name, "first_dim", x(6, 3), dim=0)
        one(name, "negative_dim", x(2, 6, 3), 5, dim=-2)
        one(name, "middle_longer", x(2, 3, 2), 6, dim=1, norm=1)
        one(name, "empty_batch", x(0, 4))
        one(name, "empty_dim_longer", x(2, 0), 4)
        one(name, "columns", x(5, 18), dim=0, gradcheck="no")
        one(name, "many_lines", x(18, 4), gradcheck="no")
        one(name, "long", x(65 if half else 128), gradcheck="no")
        one(name, "prime", x(67), 67, gradcheck="no")
        if name in ("rfft", "ihfft"):
            refused(name, "complex", c(4), [none, ("int", -1), ("int", 0)])
        else:
            one(name, "int", w.randint(-9, 9, (2, 5)))
            one(name, "bool", torch.tensor([True, False, True]))
        refused(name, "float64", r(4, dtype=torch.float64), [none, ("int", -1), ("int", 0)])
        refused(name, "float16", r(4, dtype=torch.float16), [none, ("int", -1), ("int", 0)])

    for name in ("fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"):
        x = r if name.startswith("rfft") else c
        many(name, "plain", x(3, 4))
        many(name, "odd", x(2, 3, 5))
        for norm in (1, 2):
            many(name, NORMS[norm], x(4, 3), norm=norm)
        many(name, "sizes", x(2, 3, 4), [5, 3])
        many(name, "kept_size", x(2, 3, 4), [-1, 6])
        many(name, "dims", x(3, 4, 2), dim=[0, 1])
        many(name, "turned_dims", x(3, 4, 2), dim=[1, 0])
        many(name, "negative_dims", x(3, 4, 2), [4, 3], dim=[-3, -1], norm=1)
        many(name, "empty_batch", x(0, 3, 4), dim=[1, 2])
        many(name, "larger", x(2, 18, 5), gradcheck="no")
        if name in ("fftn", "ifftn", "fft2", "ifft2"):
            many(name, "real", r(3, 4))
        if name.startswith("irfft"):
            many(name, "real", r(3, 4))
            many(name, "odd_result", c(3, 4), [3, 7])
        refused(name, "float64", r(4, 4, dtype=torch.float64), [none, ("dims", [-2, -1]), ("int", 0)])
    for name in ("fftn", "ifftn"):
        many(name, "no_dims", c(3), dim=[])
        many(name, "no_dims_real", r(3), dim=[])
        many(name, "three", c(2, 3, 4))
    many("rfftn", "three", r(2, 3, 4))
    many("rfftn", "one", r(6), dim=[0])

    for name in ("fftfreq", "rfftfreq"):
        for n in (1, 2, 5, 8):
            w.case("fft_" + name, f"n{n}", lambda: getattr(fft, name)(n), [], [("int", n), ("float", 1.0), ("dtype", torch.float32)])
        w.case("fft_" + name, "spaced", lambda: getattr(fft, name)(7, 0.1), [], [("int", 7), ("float", 0.1), ("dtype", torch.float32)])
        w.case("fft_" + name, "double", lambda: getattr(fft, name)(6, 0.3, dtype=torch.float64), [],
               [("int", 6), ("float", 0.3), ("dtype", torch.float64)])
        w.case("fft_" + name, "complex", None, [], [("int", 6), ("float", 0.5), ("dtype", torch.complex64)], refused="yes")
        w.case("fft_" + name, "int", None, [], [("int", 6), ("float", 0.5), ("dtype", torch.int64)], refused="yes")
    for name in ("fftshift", "ifftshift"):
        f = getattr(fft, name)
        w.case("fft_" + name, "all", f, [r(4, 5)], [none])
        w.case("fft_" + name, "complex", f, [c(5)], [none])
        w.case("fft_" + name, "dim", lambda x: f(x, (-1,)), [r(3, 5)], [("dims", [-1])])
        w.case("fft_" + name, "dims", lambda x: f(x, (0, 2)), [r(3, 2, 5)], [("dims", [0, 2])])
        w.case("fft_" + name, "int", f, [w.randint(-9, 9, (6,))], [none])

    aten = torch.ops.aten
    for scale in (0, 1, 2):
        for forward in (True, False):
            w.case("_fft_c2c", f"scale{scale}_{'forward' if forward else 'backward'}",
                   lambda x: aten._fft_c2c(x, [0, 2], scale, forward), [c(3, 2, 4)],
                   [("dims", [0, 2]), ("int", scale), ("bool", forward)], tol=1e-5)
        for onesided in (True, False):
            w.case("_fft_r2c", f"scale{scale}_{'half' if onesided else 'all'}",
                   lambda x: aten._fft_r2c(x, [0, 2], scale, onesided), [r(3, 2, 5)],
                   [("dims", [0, 2]), ("int", scale), ("bool", onesided)], tol=1e-5)
        for n in (6, 7):
            w.case("_fft_c2r", f"scale{scale}_{n}", lambda x: aten._fft_c2r(x, [0, 2], scale, n), [c(3, 2, 4)],
                   [("dims", [0, 2]), ("int", scale), ("int", n)], tol=1e-5)
    w.case("_fft_c2c", "real", None, [r(4)], [("dims", [0]), ("int", 0), ("bool", True)], refused="yes")
    w.case("_fft_r2c", "complex", None, [c(4)], [("dims", [0]), ("int", 0), ("bool", True)], refused="yes")
    w.case("_fft_c2r", "real", None, [r(4)], [("dims", [0]), ("int", 0), ("int", 6)], refused="yes")
