#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes promotion.txt and conversion.txt: what PyTorch (CPU) makes of every pair of dtypes.

promotion.txt, one record per line:
    types A B RESULT      torch.promote_types(A, B)
    zerodim A B RESULT    a tensor with dimensions of A and a 0-d tensor of B
    number A KIND RESULT  a tensor with dimensions of A and a Python bool, int or float
    numbers A KIND RESULT the same with a 0-d tensor of A
conversion.txt:
    FROM TO VALUE RESULT  torch.tensor(VALUE, dtype=FROM).to(TO); VALUE as it is in FROM
"""
import math
import pathlib

import torch

HERE = pathlib.Path(__file__).resolve().parent
NAMES = {
    "bool": torch.bool, "i64": torch.int64, "f32": torch.float32, "f64": torch.float64, "f16": torch.float16,
    "bf16": torch.bfloat16, "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8,
}
SHORT = {v: k for k, v in NAMES.items()}
NOTE = "# PyTorch %s; made by make_dtypes.py, see there for the format.\n" % torch.__version__


def number(value):
    if isinstance(value, bool) or isinstance(value, int):
        return str(int(value))
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return repr(value)


def promotion():
    lines = []
    for a, ta in NAMES.items():
        for b, tb in NAMES.items():
            lines.append(f"types {a} {b} {SHORT[torch.promote_types(ta, tb)]}")
            zero = torch.result_type(torch.ones(2, dtype=ta), torch.ones((), dtype=tb))
            lines.append(f"zerodim {a} {b} {SHORT[zero]}")
        for kind, value in (("bool", True), ("int", 1), ("float", 1.0)):
            lines.append(f"number {a} {kind} {SHORT[torch.result_type(torch.ones(2, dtype=ta), value)]}")
            lines.append(f"numbers {a} {kind} {SHORT[torch.result_type(torch.ones((), dtype=ta), value)]}")
    (HERE / "promotion.txt").write_text(NOTE + "\n".join(lines) + "\n")


VALUES = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 0.1, 127.0, 128.0, -129.7, 255.9, 256.0, 300.0, 2049.0, 32768.0, -40000.0,
          65504.0, 65519.0, 65520.0, 70000.0, 16777217.0, 3e9, -3e9, 1e10, 1e20, 3.4e38, 1e39, 6e-8, 3e-8, 2.9e-8, 1e-40,
          2**53 + 1.0, math.inf, -math.inf, math.nan]
INTEGERS = [0, 1, -1, 127, 128, -128, 255, 256, 300, -300, 32767, 32768, 65535, 65536, 2**24 + 1, 2**31 - 1, 2**31, -2**31,
            2**53 + 1, 2**63 - 1, -2**63]


def conversion():
    lines = []
    for a, ta in NAMES.items():
        values = VALUES if ta.is_floating_point else INTEGERS
        for v in values:
            if not ta.is_floating_point:
                low, high = (0, 1) if ta == torch.bool else (torch.iinfo(ta).min, torch.iinfo(ta).max)
                if not low <= v <= high:
                    continue
            x = torch.tensor(v, dtype=torch.float64).to(ta) if ta.is_floating_point else torch.tensor(v, dtype=ta)
            for b, tb in NAMES.items():
                if a != b:
                    lines.append(f"{a} {b} {number(x.item())} {number(x.to(tb).item())}")
    (HERE / "conversion.txt").write_text(NOTE + "\n".join(lines) + "\n")


if __name__ == "__main__":
    promotion()
    conversion()
