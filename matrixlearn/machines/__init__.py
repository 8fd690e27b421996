"""Where data are, and what travels: machines that keep their rows, and the ledger of what they send.

    shards (rows by machine)  ->  machines.hold(shards)  ->  rounds: map, exchange, gather, scatter

A round is a pure function of the rows that a machine keeps and of the numbers that reach it; no row travels.
"""

from matrixlearn.machines.base import Held, Machines
from matrixlearn.machines.block import Block
from matrixlearn.machines.dask import ARGUMENTS, Dask, DaskMachines, machines_of
from matrixlearn.machines.ledger import Ledger
from matrixlearn.machines.local import Local, LocalMachines
from matrixlearn.machines.mail import Links, Mail
from matrixlearn.machines.shards import Shards
from matrixlearn.machines.spread import SpreadMap

__all__ = [
    "ARGUMENTS",
    "Block",
    "Dask",
    "DaskMachines",
    "Held",
    "Ledger",
    "Links",
    "Local",
    "LocalMachines",
    "Machines",
    "Mail",
    "Shards",
    "SpreadMap",
    "machines_of",
]
