"""One BLAS thread, hypothesis profiles, and array back ends for all tests."""

# ruff: noqa: E402  (the environment must be set before NumPy is imported)
import os
import time

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

from dataclasses import dataclass
from types import ModuleType

import array_api_strict
import numpy as np
import pytest
from hypothesis import HealthCheck, settings

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("dev", max_examples=6, **_COMMON)
settings.register_profile("ci", max_examples=20, derandomize=True, print_blob=True, **_COMMON)
settings.register_profile("nightly", max_examples=1000, print_blob=True, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


def repeats(item):
    """Whether a test draws many instances of what others show once, or is one of scikit-learn's checks."""
    asked = set(item.fixturenames)
    return (
        item.get_closest_marker("slow")
        or item.path.parent.name in ("pains", "properties")
        or "hold_the_law" in asked
        or {"estimator", "check"} <= asked
    )


def pytest_collection_modifyitems(items):
    """Coverage more than doubles the time of what it traces: tests that repeat what others show go without."""
    for item in items:
        if repeats(item):
            item.add_marker("no_cover")


@dataclass(frozen=True)
class Backend:
    """An array library, as tests see it."""

    name: str
    xp: ModuleType

    def array(self, values):
        """A fresh array of this library with the values of a NumPy array (or nested list)."""
        copied = np.array(values)
        if self.name == "numpy-readonly":
            copied.flags.writeable = False
        return self.xp.asarray(copied)

    @property
    def is_numpy(self):
        return self.xp is np


BACKENDS = (
    Backend("numpy", np),
    Backend("numpy-readonly", np),
    Backend("array-api-strict", array_api_strict),
)


# session scope: hypothesis refuses function-scoped fixtures under @given
@pytest.fixture(scope="session", params=BACKENDS, ids=lambda backend: backend.name)
def backend(request):
    """NumPy, NumPy that nobody may write to, and the strictest reading of the array API standard."""
    return request.param


@pytest.fixture(scope="session")
def xp(backend):
    """The namespace of `backend`."""
    return backend.xp


@pytest.fixture(scope="module")
def cpu_clock():
    """Time limits count the CPU time of this process: how busy the machine is changes no answer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "perf_counter", time.process_time)
        yield


@pytest.fixture(scope="module")
def client():
    """A client of two workers of one thread each, on this machine."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster, set_as_default=False, direct_to_workers=True) as client,
    ):
        yield client
