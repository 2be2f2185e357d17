"""Several processes that work together, by a communicator of mpi4py."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from ctypes import (CFUNCTYPE, Structure, c_bool, c_char, c_int, c_size_t, c_void_p, sizeof)
from typing import Any, Iterator, Optional

ExchangeFn = CFUNCTYPE(c_bool, c_void_p, c_int, c_size_t, c_void_p, c_void_p)
BroadcastFn = CFUNCTYPE(c_bool, c_void_p, c_int, c_size_t, c_void_p)


class CComm(Structure):
    """rb_comm."""

    _fields_ = [("size", c_size_t), ("rank", c_int), ("ranks", c_int), ("on_machine", c_int),
                ("exchange", ExchangeFn), ("broadcast", BroadcastFn), ("user", c_void_p),
                ("failing", c_void_p)]


#: What contexts that are made now get.
current: ContextVar[Optional[CComm]] = ContextVar("rarebit.processes", default=None)


def _bytes(address: int, count: int) -> memoryview:
    return memoryview((c_char * count).from_address(address)).cast("B")


def _table(comm: Any, on_machine: int) -> CComm:
    def exchange(_: Any, partner: int, count: int, send: int, receive: int) -> bool:
        comm.Sendrecv(_bytes(send, count), partner, 0, _bytes(receive, count), partner, 0)
        return True

    def broadcast(_: Any, root: int, count: int, data: int) -> bool:
        comm.Bcast(_bytes(data, count), root)
        return True

    return CComm(sizeof(CComm), comm.Get_rank(), comm.Get_size(), on_machine,
                 ExchangeFn(exchange), BroadcastFn(broadcast))


@contextmanager
def processes(comm: Any) -> Iterator[None]:
    """What is done within is shared out among the processes of a communicator of mpi4py.

    All of them make the same calls with the same data, and get the same results: fit and evaluate
    share the samples out, select and consensus the fits. With 2, 4, 8 ... processes a fit has the
    bits of one; `random_state` must be the same in all.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm

    Examples
    --------
    >>> from mpi4py import MPI
    >>> with rarebit.processes(MPI.COMM_WORLD):  # mpirun -n 4 python3 fit.py
    ...     rfn = rarebit.RFN(10, random_state=1).fit("cells.h5ad")
    """
    from mpi4py import MPI
    own, machine = comm.Dup(), comm.Split_type(MPI.COMM_TYPE_SHARED)
    token = current.set(_table(own, machine.Get_size()))
    try:
        yield
    finally:
        current.reset(token)
        machine.Free()
        own.Free()
