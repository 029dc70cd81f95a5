# SPDX-License-Identifier: Apache-2.0
from . import memory  # noqa: F401

_queued = []
_initialised = False


def is_initialized():
    return _initialised


def _lazy_call(call):
    if _initialised:
        call()
    else:
        _queued.append(call)


def init():
    global _initialised
    _initialised = True
    for call in _queued:
        call()
