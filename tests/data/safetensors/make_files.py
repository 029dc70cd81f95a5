# SPDX-License-Identifier: Apache-2.0
"""Writes small.safetensors beside itself with Python's safetensors package (0.x, with numpy): python3 make_files.py
python3 make_files.py check FILE: reads what the engine's test wrote and prints it."""
import pathlib
import sys

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

HERE = pathlib.Path(__file__).parent
TENSORS = {
    "weight": np.arange(6, dtype=np.float32).reshape(2, 3) / 4 - 0.5,
    "deep.bias": np.array([1e300, -0.0, 2.5], dtype=np.float64),
    "index": np.array([[-1], [2**62]], dtype=np.int64),
    "mask": np.array([True, False, True]),
    "scalar": np.array(7.25, dtype=np.float32),
    "empty": np.zeros((0, 4), dtype=np.float32),
    "näme \"quoted\"": np.array([3], dtype=np.int64),
}

if len(sys.argv) == 3:
    with safe_open(sys.argv[2], framework="np") as f:
        print(sorted((f.metadata() or {}).items()))
        for name in sorted(f.keys()):
            t = f.get_tensor(name)
            print(name, t.dtype, t.shape, t.tolist())
else:
    save_file(TENSORS, HERE / "small.safetensors", metadata={"format": "np", "note": "line\nbreak"})
