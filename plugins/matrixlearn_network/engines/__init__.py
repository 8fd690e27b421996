"""Engines for tasks on a graph: one step is one round of messages."""

from matrixlearn_network.engines.base import NetworkEngine, Walk
from matrixlearn_network.engines.blocks import BlockCoordinateDescent
from matrixlearn_network.engines.first_order import BOL, BSR, DMTL, GradientDescent
from matrixlearn_network.engines.joint import JointADMM, Reweighting
from matrixlearn_network.engines.krylov import Krylov
from matrixlearn_network.engines.moments import MomentsAtHub
from matrixlearn_network.engines.streams import SOL, SSR

__all__ = [
    "BOL",
    "BSR",
    "DMTL",
    "SOL",
    "SSR",
    "BlockCoordinateDescent",
    "GradientDescent",
    "JointADMM",
    "Krylov",
    "MomentsAtHub",
    "NetworkEngine",
    "Reweighting",
    "Walk",
]
