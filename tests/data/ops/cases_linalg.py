# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn.functional as F

F64 = torch.float64


def cases(w):
    r = w.randn
    options = {"tol": "1e-5"}
    w.case("mm", "plain", torch.mm, [r(3, 4), r(4, 2)], **options)
    w.case("mm", "float64", torch.mm, [r(3, 4, dtype=F64), r(4, 2, dtype=F64)])
    w.case("mm", "inner_zero", torch.mm, [r(2, 0), r(0, 3)])
    w.case("mm", "int", torch.mm, [w.randint(-9, 9, (2, 3)), w.randint(-9, 9, (3, 4))])
    # Large enough for oneDNN, in sizes that fit no vector width.
    w.case("mm", "larger", torch.mm, [r(19, 37), r(37, 23)], gradcheck="no", tol="2e-5")
    w.case("bmm", "plain", torch.bmm, [r(2, 3, 4), r(2, 4, 2)], **options)
    w.case("bmm", "empty", torch.bmm, [r(0, 3, 4), r(0, 4, 2)])
    for label, a, b in [("dot", (4,), (4,)), ("vector_matrix", (3,), (3, 4)), ("matrix_vector", (3, 4), (4,)),
                        ("matrices", (3, 4), (4, 2)), ("batch_matrix", (2, 2, 3, 4), (4, 2)),
                        ("matrix_batch", (3, 4), (2, 4, 2)), ("batch_broadcast", (2, 1, 2, 3), (3, 3, 2)),
                        ("batch_vector", (2, 3, 4), (4,)), ("vector_batch", (3,), (2, 3, 4)),
                        ("empty_batch", (0, 3, 4), (4, 2)), ("batch_inner_zero", (2, 2, 0), (0, 3))]:
        w.case("matmul", label, torch.matmul, [r(*a), r(*b)], **options)
    w.case("matmul", "batches_larger", torch.matmul, [r(3, 17, 33), r(3, 33, 9)], gradcheck="no", tol="2e-5")
    w.case("linear", "bias", F.linear, [r(3, 4), r(2, 4), r(2)], **options)
    w.case("linear", "no_bias", lambda x, v, b: F.linear(x, v), [r(3, 4), r(2, 4), None], **options)
    w.case("linear", "batches", F.linear, [r(2, 3, 4), r(2, 4), r(2)], **options)
    w.case("linear", "vector", F.linear, [r(4), r(2, 4), r(2)], **options)
    w.case("linear", "empty_batch", F.linear, [r(0, 4), r(2, 4), r(2)])
    w.case("linear", "float64", F.linear, [r(3, 4, dtype=F64), r(2, 4, dtype=F64), r(2, dtype=F64)])
    w.case("linear", "larger", F.linear, [r(21, 43), r(17, 43), r(17)], gradcheck="no", tol="2e-5")
