#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Debugs real models through `tapescope dap` with a client that shares no code with the program.

dap_client_test.py TAPESCOPE   (the program's path)
"""
import base64
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dap_client import TIMEOUT_S, DapClient, DapError, Server  # noqa: E402

try:
    import numpy as np
except ImportError:
    sys.exit(f"{sys.executable} has no numpy, which this test recomputes a convolution with: "
             "apt-get install python3-numpy")

PROGRAM = ""
STEPS = 20
SEED = 5
DTYPES = {"f32": np.float32, "f64": np.float64, "i64": np.int64, "bool": np.bool_}


def read_tensor(client, variable):
    """All of a tensor's bytes, by readMemory in pieces, as a numpy array."""
    kind, _, shape = variable["type"].rstrip("]").partition("[")
    sizes = [int(size) for size in shape.split(",")] if shape else []
    total = int(np.prod(sizes)) * np.dtype(DTYPES[kind]).itemsize
    data = b""
    while len(data) < total:
        piece = client.request("readMemory", memoryReference=variable["memoryReference"], offset=len(data),
                               count=min(10_000, total - len(data)))
        data += base64.b64decode(piece["data"])
    beyond = client.request("readMemory", memoryReference=variable["memoryReference"], offset=total, count=1)
    assert beyond["unreadableBytes"] == 1 and "data" not in beyond, beyond
    return np.frombuffer(data, DTYPES[kind]).reshape(sizes)


def conv2d(x, weight, bias, padding):
    """Cross-correlation with stride 1, written out over the kernel's positions, in float64."""
    x = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    outputs, _, height, width = weight.shape
    rows, columns = x.shape[2] - height + 1, x.shape[3] - width + 1
    y = np.zeros((x.shape[0], outputs, rows, columns))
    for i in range(height):
        for j in range(width):
            y += np.einsum("nchw,oc->nohw", x[:, :, i:i + rows, j:j + columns], weight[:, :, i, j].astype(np.float64))
    return y + bias.astype(np.float64)[None, :, None, None]


def scalars(tape):
    with sqlite3.connect(f"file:{tape}?mode=ro", uri=True) as db:
        return db.execute("select tag, step, value from scalars order by tag, step").fetchall()


class DebugDigitsCnn(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.server = Server(PROGRAM)
        self.addCleanup(self.server.close)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def connect(self):
        client = self.server.connect()
        self.addCleanup(client.close)
        return client

    def stop_at_conv2(self, client, **launch):
        client.initialize()
        client.request("launch", model="digits-cnn", steps=STEPS, seed=SEED, **launch)
        breakpoints = client.break_on("conv2: conv2d")
        self.assertTrue(breakpoints[0]["verified"], breakpoints)
        client.request("configurationDone")
        stop = client.event("stopped")
        self.assertEqual(stop["hitBreakpointIds"], [breakpoints[0]["id"]])
        return stop

    def test_conv2d_is_what_numpy_computes_and_the_run_is_not_disturbed(self):
        client = self.connect()
        tape = self.path("debugged.tape")
        stop = self.stop_at_conv2(client, tape=tape)
        self.assertEqual(stop["reason"], "function breakpoint")
        self.assertEqual((stop["tapescope"]["module"], stop["tapescope"]["operator"]), ("conv2", "conv2d"))

        frames = client.frames()
        self.assertEqual([frame["name"] for frame in frames],
                         ["conv2: conv2d", "conv2 (Conv2d)", "(DigitsCnn)", "digits-cnn, step 0"])
        self.assertEqual(frames[0]["source"]["path"], "plugins/models/digits_cnn.cpp")
        source = client.request("source", source=frames[0]["source"],
                                sourceReference=frames[0]["source"]["sourceReference"])["content"]
        self.assertIn("conv2(x)", source.splitlines()[frames[0]["line"] - 1])

        scopes = client.scopes(frames[0]["id"])
        inputs = client.variables(scopes["Inputs"])
        self.assertIn("padding=[1, 1]", inputs["attributes"]["value"])
        parameters = client.variables(scopes["Parameters"])
        x, weight, bias = (read_tensor(client, inputs[name]) for name in ("input", "weight", "bias"))
        np.testing.assert_array_equal(weight, read_tensor(client, parameters["conv2.weight"]))
        self.assertIn(f"mean {x.mean():.3g}", inputs["input"]["value"])

        stop = client.go("stepOut")
        self.assertTrue(stop["tapescope"]["afterOp"])
        outputs = client.variables(client.scopes(client.frames()[0]["id"])["Outputs"])
        y = read_tensor(client, outputs["output"])
        expected = conv2d(x, weight, bias, 1)
        self.assertEqual(y.shape, expected.shape)
        np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)

        stats = client.request("tensorStats", memoryReference=outputs["output"]["memoryReference"], bins=16)
        counts, edges = np.histogram(y, 16)
        self.assertEqual(stats["counts"], counts.tolist())
        np.testing.assert_allclose(stats["edges"], edges)
        np.testing.assert_allclose([stats["mean"], stats["std"]], [y.mean(dtype=float), y.std(dtype=float)], rtol=1e-6)
        part = client.request("tensorSlice", memoryReference=outputs["output"]["memoryReference"],
                              slice="-1, ..., ::2", maxElements=1_000_000)
        np.testing.assert_array_equal(np.float32(part["values"]).reshape(part["shape"]), y[-1, ..., ::2])

        client.break_on()
        names = []
        while not names or not names[0].startswith("conv2: conv2d"):
            stop = client.go("stepBackward")
            self.assertEqual(stop["tapescope"]["phase"], "backward")
            names = [frame["name"] for frame in client.frames()]
        self.assertEqual(names, ["conv2: conv2d (backward)", "conv2 (Conv2d)", "(DigitsCnn)", "digits-cnn, step 0"])
        scopes = client.scopes(client.frames()[0]["id"])
        saved = client.variables(scopes["Saved"])
        np.testing.assert_array_equal(read_tensor(client, saved["input"]), x)
        grad = read_tensor(client, client.variables(scopes["Gradients"])["grad_output"])
        self.assertEqual(grad.shape, y.shape)

        # The bias gradient is the sum of what arrives: seen once the node has run and accumulated it.
        stop = client.go("stepBackward")
        bias_grad = client.request("evaluate", expression="conv2.bias.grad")
        np.testing.assert_allclose(read_tensor(client, bias_grad), grad.sum(axis=(0, 2, 3), dtype=float), rtol=1e-4,
                                   atol=1e-6)

        client.request("continue", threadId=1)
        self.assertEqual(client.event("exited")["exitCode"], 0)
        client.event("terminated")
        client.request("disconnect")

        plain = self.path("plain.tape")
        subprocess.run([PROGRAM, "run", "digits-cnn", "--steps", str(STEPS), "--seed", str(SEED), "--tape", plain],
                       check=True, capture_output=True, timeout=TIMEOUT_S)
        expected = scalars(plain)
        self.assertGreaterEqual(len([row for row in expected if row[0] == "train/loss"]), STEPS)
        self.assertEqual(scalars(tape), expected)

    def test_the_tape_holds_the_operator_it_stands_at(self):
        client = self.connect()
        tape = self.path("live.tape")
        stop = self.stop_at_conv2(client, tape=tape)
        with sqlite3.connect(f"file:{tape}?mode=ro", uri=True) as db:
            last = db.execute("select seq, op, module from graph_nodes order by seq desc limit 1").fetchone()
        self.assertEqual(last, (stop["tapescope"]["seq"], "conv2d", "conv2"))
        client.request("disconnect")
        with sqlite3.connect(f"file:{tape}?mode=ro", uri=True) as db:
            self.assertEqual(db.execute("select state, outcome from run").fetchone(), ("sealed", "stopped"))

    def test_sessions_follow_one_another_and_outlive_a_client_that_vanishes(self):
        first = self.connect()
        self.stop_at_conv2(first)
        first.close()
        second = self.connect()
        self.stop_at_conv2(second)
        second.request("terminate")
        self.assertEqual(second.event("exited")["exitCode"], 0)
        second.request("disconnect")

    def test_bad_messages_are_answered_and_the_session_lives(self):
        client = self.connect()
        for bad in (b"{", b"[]", b'{"seq": 3}', b'{"seq": 4, "type": "request", "command": "fly"}', b"\xff\xfe"):
            client.send_body(bad)
            response = client.response()
            self.assertFalse(response["success"], bad)
            self.assertTrue(response["message"], bad)
        client.send_raw(b"Content-Length: 99999999999\r\n\r\n{}GET / HTTP/1.1\r\n\r\n")
        self.assertEqual(client.response()["request_seq"], 0)
        self.stop_at_conv2(client)

    def test_launch_is_refused_in_the_command_lines_words(self):
        client = self.connect()
        client.initialize()
        said = subprocess.run([PROGRAM, "run", "digits-cn"], capture_output=True, timeout=TIMEOUT_S)
        self.assertEqual(said.returncode, 2)
        with self.assertRaises(DapError) as refused:
            client.request("launch", model="digits-cn")
        self.assertIn(str(refused.exception), said.stderr.decode())
        self.assertIn("digits-cnn", str(refused.exception))

    def test_progress_comes_at_most_ten_times_a_second(self):
        client = self.connect()
        client.initialize()
        client.request("launch", model="digits-mlp", steps=300)
        client.request("configurationDone")
        start = time.monotonic()
        client.event("terminated")
        allowed = 10 * (time.monotonic() - start) + 2  # the first and the last
        self.assertLessEqual(client.seen.count("tapescopeProgress"), allowed)
        self.assertGreaterEqual(client.seen.count("tapescopeProgress"), 1)


class DebugOverStdio(unittest.TestCase):
    def test_stdout_carries_nothing_but_the_protocol(self):
        child = subprocess.Popen([PROGRAM, "dap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.kill)
        client = DapClient(child.stdout, child.stdin)
        client.initialize()
        client.request("launch", model="digits-mlp", steps=30, stopOnEntry=True)
        client.request("configurationDone")
        self.assertEqual(client.event("stopped")["reason"], "entry")
        client.request("continue", threadId=1)
        self.assertEqual(client.event("exited")["exitCode"], 0)
        client.event("terminated")
        client.request("disconnect")
        child.stdin.close()
        self.assertEqual(child.stdout.read(), b"")
        self.assertEqual(child.wait(TIMEOUT_S), 0)


if __name__ == "__main__":
    if len(sys.argv) < 2 or not os.path.exists(sys.argv[1]):
        sys.exit(__doc__)
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
