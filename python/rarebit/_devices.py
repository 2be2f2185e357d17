"""Devices of OpenCL, on which fits of RFN can compute: librarebit-cl."""

from __future__ import annotations

from contextlib import contextmanager
from ctypes import byref, c_void_p, create_string_buffer, sizeof
from typing import Any, Iterator, Optional

from ._context import EXCEPTIONS, Context, python_names
from ._library import CDevice, core, devices_library, text

# RB_DEVICE_MESSAGE of rarebit/device.h.
MESSAGE = 512


def devices() -> list[dict[str, Any]]:
    """The devices that fits can run on: what `device` of RFN, LinCA, NMFET and MCA calls each, its name, platform and
    driver, its memory in bytes, and whether it is a GPU.

    Examples
    --------
    >>> rarebit.devices()
    """
    library, found = devices_library(), []
    for index in range(library.rb_cl_count()):
        info = CDevice(size=sizeof(CDevice))
        if not library.rb_cl_about(index, byref(info)):
            found.append({"device": f"cl:{index}", "name": text(info.name),
                          "platform": text(info.platform), "driver": text(info.driver),
                          "memory": info.memory, "gpu": info.gpu})
    return found


@contextmanager
def on_device(context: Context, name: Optional[str]) -> Iterator[None]:
    """Fits of a context compute on a device; None: on the processor."""
    if name is None:
        yield
        return
    library, device = devices_library(), c_void_p()
    message = create_string_buffer(MESSAGE)
    error = library.rb_cl_open(name.encode(), byref(device), message)
    if error:
        raise EXCEPTIONS.get(error, ValueError)(python_names(text(message.value) or ""))
    try:
        context.call(core.rb_context_set_device, device)
        yield
    finally:
        core.rb_context_set_device(context._pointer, None)
        library.rb_cl_close(device)
