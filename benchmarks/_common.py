"""One BLAS thread for ours and the peers alike, and where the numbers were taken."""

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import platform  # noqa: E402
import time  # noqa: E402

import numpy as np  # noqa: E402
import scipy.linalg  # noqa: E402
from threadpoolctl import threadpool_limits  # noqa: E402

threadpool_limits(1)  # NumPy may have been imported, and its threads started, before the variables were set


def header(title: str) -> None:
    """Say what runs, where, and how busy the machine is."""
    load = os.getloadavg()[0]
    print(f"# {title}")
    print(
        f"# Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}, "
        f"{os.cpu_count()} cores, one BLAS thread, load {load:.1f}, {time.strftime('%Y-%m-%d %H:%M')}"
    )
    if load > 0.7:
        print("# CAUTION: the machine is busy; wall times mean little")


def gaussian_shift(m: int, n: int, N: int, seed: int = 0):
    """Source and target samples of two Gaussians half a standard deviation apart."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, N)) + 0.5, rng.standard_normal((n, N))


def thesis_samples(m: int, n: int, N: int, seed: int = 0):
    """The thesis's artificial data (6.1): target N(mu_0, I), mu uniform on [-1, 1]^N; source a mixture of
    N such Gaussians and 20 % of the target's."""
    rng = np.random.default_rng(seed)
    mu = rng.uniform(-1, 1, (N + 1, N))
    component = rng.integers(1, N + 1, m)
    component[rng.random(m) < 0.2] = 0
    return rng.standard_normal((m, N)) + mu[component], rng.standard_normal((n, N)) + mu[0]
