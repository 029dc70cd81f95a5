# SPDX-License-Identifier: Apache-2.0
"""As much of PyTorch as the allocator hook meets; the allocator is a list that the test fills."""
__version__ = "9.9.9"


class _C:
    observers = []

    @staticmethod
    def _cuda_attach_out_of_memory_observer(observer):
        _C.observers.append(observer)


from . import cuda  # noqa: E402
