#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pack_test.py TAPESCOPE SOURCE BUILD CMAKE COMPILER [SANITIZERS]: a user's model pack, built and loaded; and packs that are none."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SOURCE, BUILD, CMAKE, COMPILER = sys.argv[1:6]
FLAGS = [f"-fsanitize={sys.argv[6]}"] if len(sys.argv) > 6 and sys.argv[6] else []
HERE = pathlib.Path(__file__).resolve().parent


def run(*words, env=None):
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "TAPESCOPE_PACK_PATH": "", **(env or {})})
    return done.returncode, done.stdout, done.stderr


class Packs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory(prefix="tapescope-pack-")
        cls.root = pathlib.Path(cls.dir.name)
        prefix = cls.root / "prefix"
        cls.include = prefix / "include" / "tapescope"
        cls.check(CMAKE, "--install", BUILD, "--component", "dev", "--prefix", str(prefix))
        work = cls.root / "build"
        cls.check(CMAKE, "-G", "Ninja", "-S", f"{SOURCE}/docs/examples/model-pack", "-B", str(work), f"-DCMAKE_PREFIX_PATH={prefix}",
                  f"-DCMAKE_CXX_COMPILER={COMPILER}", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS=" + " ".join(FLAGS))
        cls.check(CMAKE, "--build", str(work))
        cls.pack = str(work / "my_pack.so")

    @classmethod
    def tearDownClass(cls):
        cls.dir.cleanup()

    @classmethod
    def check(cls, *words):
        code, out, err = run(*words)
        if code != 0:
            raise AssertionError(f"{' '.join(words)}\n{out}\n{err}")

    def library(self, name, text):
        source = self.root / f"{name}.cpp"
        source.write_text(text)
        made = self.root / f"{name}.so"
        self.check(COMPILER, "-std=c++20", "-shared", "-fPIC", *FLAGS, f"-I{self.include}", str(source), "-o", str(made))
        return str(made)

    def refused(self, path):
        code, out, err = run(PROGRAM, "models", "--pack", path)
        self.assertEqual(code, 2, out + err)
        self.assertIn(path, err)
        return err

    def test_trains_and_records(self):
        tape = self.root / "moons.tape"
        code, out, err = run(PROGRAM, "run", "--pack", self.pack, "two-moons", "--steps", "200", "--quiet", "--tape", str(tape))
        self.assertEqual(code, 0, err)
        scalars = dict(line.split() for line in out.splitlines() if len(line.split()) == 2 and "/" in line)
        self.assertGreater(float(scalars["val/accuracy"]), 0.9)
        self.assertTrue(tape.exists())

    def test_same_seed_same_run(self):
        command = [PROGRAM, "run", "--pack", self.pack, "two-moons", "--steps", "20", "--quiet", "--seed", "3"]
        first, second = run(*command), run(*command)
        self.assertEqual(first[0], 0, first[2])
        pick = lambda result: [line for line in result[1].splitlines() if "/" in line]
        self.assertEqual(pick(first), pick(second))

    def test_errors_reach_the_user_across_the_border(self):
        code, _, err = run(PROGRAM, "run", "--pack", self.pack, "two-moons", "--set", "widht=3")
        self.assertEqual(code, 2)
        self.assertIn("width", err)
        code, _, err = run(PROGRAM, "run", "--pack", self.pack, "two-moon")
        self.assertEqual(code, 2)
        self.assertIn("did you mean two-moons", err)

    def test_is_listed_by_name_and_from_the_search_path(self):
        code, out, err = run(PROGRAM, "models", "--pack", self.pack)
        self.assertEqual(code, 0, err)
        self.assertIn("two-moons", out)
        self.assertIn("--set noise", out)
        folder = self.root / "path"
        folder.mkdir()
        (folder / "mine.so").write_bytes(pathlib.Path(self.pack).read_bytes())
        (folder / "broken.so").write_text("not a library")
        code, out, err = run(PROGRAM, "models", env={"TAPESCOPE_PACK_PATH": f"/no/such/folder:{folder}"})
        self.assertEqual(code, 0, err)
        self.assertIn("two-moons", out)
        self.assertIn("model pack left out", err)
        self.assertIn("broken.so", err)
        code, out, _ = run(PROGRAM, "models")
        self.assertNotIn("two-moons", out)

    def test_what_is_no_pack_is_refused_with_the_reason(self):
        self.assertIn("no such file", self.refused(str(self.root / "none.so")))
        text = self.root / "text.so"
        text.write_text("hello")
        self.assertIn("no shared library", self.refused(str(text)))
        self.assertIn("no tapescope_pack_abi", self.refused(self.library("plain", "int f() { return 1; }")))
        old = 'extern "C" const unsigned tapescope_pack_abi[3] = {99, 1, 1}; extern "C" void tapescope_register_pack() {}'
        self.assertIn("version 99", self.refused(self.library("old", old)))
        other = ('#include "plugins/api/pack.h"\nusing namespace tapescope::plugins;\n'
                 'extern "C" const PackAbi tapescope_pack_abi = {kPackAbiVersion, packAbi().compiler, packAbi().layout + 1};\n'
                 'extern "C" void tapescope_register_pack() {}')
        self.assertIn("headers of another tapescope", self.refused(self.library("other", other)))
        half = '#include "plugins/api/pack.h"\nextern "C" const auto tapescope_pack_abi = tapescope::plugins::packAbi();'
        self.assertIn("no tapescope_register_pack", self.refused(self.library("half", half)))
        lacking = 'void missing(); extern "C" void tapescope_register_pack() { missing(); }'
        self.assertIn("lacks", self.refused(self.library("lacking", lacking)))

    def test_models_that_clash_are_not_registered(self):
        clash = ('#include "plugins/api/pack.h"\n'
                 'TAPESCOPE_MODEL_PACK(registry) { registry.add({.name = "fresh"}); registry.add({.name = "digits-mlp"}); }')
        self.assertIn("digits-mlp is taken", self.refused(self.library("clash", clash)))
        twice = '#include "plugins/api/pack.h"\nTAPESCOPE_MODEL_PACK(registry) { registry.add({.name = "a"}); registry.add({.name = "a"}); }'
        self.assertIn("could not be registered", self.refused(self.library("twice", twice)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
