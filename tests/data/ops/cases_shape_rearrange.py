# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn.functional as F

F64 = torch.float64


def cases(w):
    r = w.randn
    dims = lambda *v: ("dims", list(v))
    ints = lambda *v: [("int", i) for i in v]
    none = ("none", None)

    w.case("roll", "dims", lambda x: torch.roll(x, (1, -2), (0, 1)), [r(3, 4)], [dims(1, -2), dims(0, 1)])
    w.case("roll", "far", lambda x: torch.roll(x, -7, 1), [r(2, 3)], [dims(-7), dims(1)])
    w.case("roll", "flat", lambda x: torch.roll(x, 2), [r(2, 3)], [dims(2), dims()])
    w.case("roll", "none", lambda x: torch.roll(x, 3, 1), [r(2, 3)], [dims(3), dims(1)])
    w.case("roll", "int", lambda x: torch.roll(x, 1, 0), [torch.arange(5)], [dims(1), dims(0)])
    w.case("roll", "empty", lambda x: torch.roll(x, 1, 0), [torch.zeros(0, 2)], [dims(1), dims(0)])
    for k in (0, 1, 2, 3, -1, 6):
        w.case("rot90", f"k{k}", lambda x, k=k: torch.rot90(x, k), [r(2, 3)], ints(k) + [dims(0, 1)])
    w.case("rot90", "dims", lambda x: torch.rot90(x, 1, (2, 0)), [r(2, 3, 2)], ints(1) + [dims(2, 0)])
    w.case("repeat", "grows", lambda x: x.repeat(2, 1, 3), [r(2, 3)], [dims(2, 1, 3)])
    w.case("repeat", "ones", lambda x: x.repeat(1, 1), [r(2, 3)], [dims(1, 1)])
    w.case("repeat", "nothing", lambda x: x.repeat(0, 2), [r(2, 3)], [dims(0, 2)], gradcheck="no")
    w.case("repeat", "zero_dim", lambda x: x.repeat(3), [torch.tensor(1.5)], [dims(3)])
    w.case("repeat", "int", lambda x: x.repeat(2), [torch.arange(3)], [dims(2)])
    w.case("tile", "fewer", lambda x: torch.tile(x, (2,)), [r(2, 3)], [dims(2)])
    w.case("tile", "more", lambda x: torch.tile(x, (2, 1, 2)), [r(2, 3)], [dims(2, 1, 2)])
    w.case("tile", "float64", lambda x: torch.tile(x, (2, 2)), [r(2, dtype=F64)], [dims(2, 2)])
    w.case("repeat_interleave", "flat", lambda x, n: torch.repeat_interleave(x, 2), [r(2, 2), None], ints(2) + [none])
    w.case("repeat_interleave", "dim", lambda x, n: torch.repeat_interleave(x, 3, 1), [r(2, 2), None], ints(3, 1))
    w.case("repeat_interleave", "each", lambda x, n: torch.repeat_interleave(x, n, 0), [r(3, 2), torch.tensor([2, 0, 3])], ints(1, 0))
    w.case("repeat_interleave", "each_flat", lambda x, n: torch.repeat_interleave(x, n), [r(3), torch.tensor([1, 0, 2])], ints(1) + [none])
    w.case("repeat_interleave", "one_number", lambda x, n: torch.repeat_interleave(x, n, -1), [r(2, 2), torch.tensor([2])], ints(1, -1))
    w.case("movedim", "one", lambda x: torch.movedim(x, 0, 2), [r(2, 3, 4)], [dims(0), dims(2)])
    w.case("movedim", "two", lambda x: torch.movedim(x, (2, 0), (0, -1)), [r(2, 3, 4)], [dims(2, 0), dims(0, -1)])
    w.case("movedim", "zero_dim", lambda x: torch.movedim(x, 0, -1), [torch.tensor(1.5)], [dims(0), dims(-1)])
    w.case("swapaxes", "two", lambda x: torch.swapaxes(x, 0, -1), [r(2, 3, 4)], ints(0, -1))
    w.case("swapdims", "two", lambda x: torch.swapdims(x, 0, 1), [r(2, 3)], ints(0, 1))
    w.case("unflatten", "inferred", lambda x: x.unflatten(1, (2, -1)), [r(2, 6)], ints(1) + [dims(2, -1)])
    w.case("unflatten", "negative", lambda x: x.unflatten(-2, (2, 2)), [r(4, 3)], ints(-2) + [dims(2, 2)])
    w.case("ravel", "matrix", torch.ravel, [r(2, 3)])
    w.case("ravel", "zero_dim", torch.ravel, [torch.tensor(1.5)])
    for n, fn in ((1, torch.atleast_1d), (2, torch.atleast_2d), (3, torch.atleast_3d)):
        for rank, x in enumerate((torch.tensor(1.5), r(2), r(2, 3), r(2, 1, 2), r(1, 2, 1, 2))):
            w.case(f"atleast_{n}d", f"from_{rank}", fn, [x])
    w.case("broadcast_to", "grow", lambda x: torch.broadcast_to(x, (2, 3, 4)), [r(3, 1)], [dims(2, 3, 4)])
    w.case("expand_as", "grow", lambda x, y: x.expand_as(y), [r(3, 1), r(2, 3, 4)], constant="1")
    w.case("view_as", "same", lambda x, y: x.view_as(y), [r(2, 6), r(3, 4)], layouts="contiguous", constant="1")
    w.case("pixel_shuffle", "images", lambda x: F.pixel_shuffle(x, 2), [r(2, 4, 2, 3)], ints(2))
    w.case("pixel_shuffle", "one_image", lambda x: F.pixel_shuffle(x, 3), [r(9, 1, 2)], ints(3))
    w.case("pixel_shuffle", "leading", lambda x: F.pixel_shuffle(x, 2), [r(1, 2, 4, 1, 2)], ints(2))
    w.case("pixel_unshuffle", "images", lambda x: F.pixel_unshuffle(x, 2), [r(2, 1, 4, 2)], ints(2))
    w.case("pixel_unshuffle", "one_image", lambda x: F.pixel_unshuffle(x, 2), [r(1, 2, 4)], ints(2))
    w.case("channel_shuffle", "images", lambda x: F.channel_shuffle(x, 2), [r(2, 4, 2, 1)], ints(2))
    w.case("channel_shuffle", "lines", lambda x: F.channel_shuffle(x, 3), [r(1, 6, 2)], ints(3))

    stacks = lambda f: lambda *x: f(x)
    w.case("hstack", "vectors", stacks(torch.hstack), [r(2), r(3)])
    w.case("hstack", "matrices", stacks(torch.hstack), [r(2, 1), r(2, 2)])
    w.case("hstack", "scalars", stacks(torch.hstack), [torch.tensor(1.5), torch.tensor(2.5)])
    w.case("vstack", "vectors", stacks(torch.vstack), [r(2), r(2)])
    w.case("vstack", "matrices", stacks(torch.vstack), [r(1, 2), r(2, 2)])
    w.case("vstack", "promotes", stacks(torch.vstack), [torch.tensor([1, 2]), r(2)])
    w.case("dstack", "vectors", stacks(torch.dstack), [r(2), r(2)])
    w.case("dstack", "matrices", stacks(torch.dstack), [r(2, 3), r(2, 3)])
    w.case("block_diag", "several", lambda *x: torch.block_diag(*x), [r(2, 3), torch.tensor(1.5), r(2), r(1, 1)])
    w.case("block_diag", "promotes", lambda *x: torch.block_diag(*x), [torch.tensor([[1, 2]]), r(1, 1)])
    w.case("cartesian_prod", "three", lambda *x: torch.cartesian_prod(*x), [r(2), r(1), r(3)])
    w.case("cartesian_prod", "one", lambda *x: torch.cartesian_prod(*x), [r(3)])
    for n in (1, 2, 3):
        for again in (False, True):
            w.case("combinations", f"r{n}_{again}", lambda x, n=n, a=again: torch.combinations(x, n, a), [r(4)],
                   ints(n) + [("bool", again)])
    w.case("combinations", "too_few", lambda x: torch.combinations(x, 3), [r(2)], ints(3) + [("bool", False)], gradcheck="no")
    w.case("combinations", "int", torch.combinations, [torch.tensor([5, 7, 9])], ints(2) + [("bool", False)])
