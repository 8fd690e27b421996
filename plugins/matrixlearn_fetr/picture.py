"""The paper's Figure 4: correlations of features or of tasks as a picture."""

from __future__ import annotations

from typing import Any

import numpy as np

NAMED = 40
"""The most rows whose names are written. More are not read one by one: they are put in an order that shows groups."""


def draw_relations(axes: Any, what: str, relations: np.ndarray, names: Any) -> Any:
    """Draw correlations on matplotlib axes and return the image.

    Up to `NAMED` rows in the order given, with their names; more in the order of `alike`, as is then written below.
    """
    n = len(relations)
    many = n > NAMED
    order = alike(relations) if many else np.arange(n)
    image = axes.imshow(relations[np.ix_(order, order)], cmap="RdBu_r", vmin=-1, vmax=1)
    axes.set_title(f"{n} {what}" if many else what)
    if many:
        axes.set_xlabel("sorted by likeness", fontsize=8)
    written = [str(name) for name in names] if names is not None and len(names) == n and not many else []
    size = min(8.0, 150 / n)
    axes.set_xticks(range(len(written)), written, rotation=90, fontsize=size)
    axes.set_yticks(range(len(written)), written, fontsize=size)
    return image


def alike(relations: np.ndarray) -> np.ndarray:
    """An order in which rows of like correlations are neighbours: the leaves of a tree of average linkage."""
    from scipy.cluster.hierarchy import leaves_list, linkage

    if len(relations) < 3:
        return np.arange(len(relations))
    return np.asarray(leaves_list(linkage(relations, "average", optimal_ordering=True)))
