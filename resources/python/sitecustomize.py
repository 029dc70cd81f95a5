# SPDX-License-Identifier: Apache-2.0
"""Runs at the start of every Python process of a program recorded with `tapescope record --allocator-history`.

It prepares tapescope_allocator and then runs the sitecustomize that the program would have had. Whatever goes wrong
here stays here: the program must not notice.
"""
import os
import sys


def _begin():
    here = os.path.dirname(os.path.abspath(__file__))
    try:
        if os.environ.get("TAPESCOPE_ALLOCATOR_DIR"):
            import tapescope_allocator
            tapescope_allocator.install(os.environ["TAPESCOPE_ALLOCATOR_DIR"])
    except Exception:
        pass
    # The program sees its own search path; PYTHONPATH stays, for the processes that it starts.
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or os.curdir) != here]
    return here


def _run_the_other():
    import importlib.machinery
    import importlib.util
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    # What it raises is the program's: Python reports it as it would without us.
    spec.loader.exec_module(module)


_begin()
_run_the_other()
