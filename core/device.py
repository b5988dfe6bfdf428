"""Choice of the device and its memory budget."""

from __future__ import annotations

import os
from dataclasses import dataclass

from core.errors import InputError

MIB = 1024 * 1024
FREE_SHARE = 0.25


@dataclass(frozen=True)
class Device:
    """`torch_name` is what torch takes ("cpu", "cuda:0"); `title` is shown to the user."""

    torch_name: str
    title: str

    @property
    def is_gpu(self) -> bool:
        return self.torch_name.startswith("cuda")


def find_device() -> Device:
    """CUDA if available, else the CPU; `AUDIT_DEVICE=cpu` forces the CPU."""
    if os.environ.get("AUDIT_DEVICE", "").lower() != "cpu":
        import torch

        if torch.cuda.is_available():
            return Device("cuda:0", torch.cuda.get_device_name(0))
    return cpu_device()


def cpu_device() -> Device:
    """The processor, with its number of cores."""
    return Device("cpu", f"CPU ({os.cpu_count()} cores)")


def compute_memory_budget(device: Device) -> int:
    """Bytes for tiles and batches: a quarter of the free memory, or `AUDIT_MEMORY_MB`."""
    if "AUDIT_MEMORY_MB" in os.environ:
        given = os.environ["AUDIT_MEMORY_MB"]
        try:
            size = int(float(given) * MIB)
        except (ValueError, OverflowError):
            size = 0
        if size <= 0:
            raise InputError("AUDIT_MEMORY_MB", "must be a number of megabytes above 0", given)
        return size
    if device.is_gpu:
        import torch

        free, _total = torch.cuda.mem_get_info(device.torch_name)
        return int(free * FREE_SHARE)
    import psutil

    return int(psutil.virtual_memory().available * FREE_SHARE)
