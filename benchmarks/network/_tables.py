"""What the tables of the plugin network share: the command line, and a line of a table."""

import argparse
import sys
from pathlib import Path

import numpy as np

from benchmarks._common import header
from benchmarks._data import DATA


def report(title, draws):
    """A line: for each name the mean and the standard deviation of its test errors over the draws."""
    cells = []
    for name in draws[0]:
        errors = [draw[name][1] for draw in draws]
        cells.append(f"{name} {np.mean(errors):.3f} (+- {np.std(errors):.3f})")
    print(f"{title:24}" + "   ".join(cells), flush=True)


def run_named(runs, title, draws):
    """Run those of ``runs``, name -> f(folder, draws), that the command line names, all by default.

    --help shows the docstring of the script.
    """
    doc = sys.modules["__main__"].__doc__
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=list(runs))
    parser.add_argument("--draws", type=int, default=draws)
    parser.add_argument("--data", type=Path, default=DATA)
    given = parser.parse_args()
    header(title)
    for what in given.what:
        runs[what](given.data, given.draws)
