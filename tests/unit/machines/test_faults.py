"""Machines that fail: no answer is lost, none is waited for without end, no process is left."""

import contextlib
import functools
import gc
import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from matrixlearn_network import GraphMultitask

import matrixlearn as ml
from matrixlearn.exceptions import MachinesError, ProblemError
from matrixlearn.machines import Dask, Local, Machines, Shards, cluster, dask

distributed = pytest.importorskip("distributed")
psutil = pytest.importorskip("psutil")
# coroutines of Dask itself end with the processes that are killed here; they are collected here, not in another test
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def rows(i, n=30):
    rng = np.random.default_rng(i)
    X = rng.standard_normal((n, 4))
    return X, X @ np.arange(4.0) + rng.standard_normal(n)


SHARDS = Shards.loaded(rows, range(6))
SOON = 2 * cluster.START
"""Seconds: 1 on an idle machine; a fifth of the `timeout` of a round, which no test waits for."""


def slow_mean(block, W, seconds):
    """A round that takes a while."""
    time.sleep(seconds)
    return W + block.adjoint(block.shares * block.y)


def pids(client):
    found = client.run(os.getpid, on_error="ignore").values()
    return sorted(pid for pid in found if isinstance(pid, int) and psutil.pid_exists(pid))


def wait_for_workers(client, n=2):
    """Their process ids, as soon as there are so many."""
    end = time.monotonic() + 2 * cluster.START
    while len(found := pids(client)) != n:
        client.cluster.scale(n)  # one that is killed while it starts does not come again by itself
        assert time.monotonic() < end, "workers did not come again"
        time.sleep(0.1)
    return found


def kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def iterate(held, kill=None, rounds=8, seconds=0.05):
    W = np.zeros((6, 4))
    for t in range(rounds):
        if t == rounds // 2 and kill:
            kill()
        W = held.map(slow_mean, W, seconds=seconds)
    return W


def survives(client, delay, seed):
    """Iterates with a worker killed after a delay, and how long it took."""
    victim = wait_for_workers(client)[seed % 2]
    held = Dask(client).hold(SHARDS)
    killer = threading.Timer(delay, kill, (victim,))
    began = time.monotonic()
    W = iterate(held, killer.start)
    killer.join()
    return W, time.monotonic() - began


def test_a_killed_worker_costs_nothing_but_time(client):
    W, seconds = survives(client, delay=0.07, seed=1)
    np.testing.assert_array_equal(W, iterate(Local().hold(SHARDS), seconds=0))
    assert seconds < SOON


@pytest.mark.slow
def test_a_worker_killed_in_any_round(client):
    """At once, and at some moment of each of the eight rounds that follow, which take 0.05 seconds and more."""
    expected, rng = iterate(Local().hold(SHARDS), seconds=0), np.random.default_rng(0)
    for trial, delay in enumerate([0.0, *(0.05 * (np.arange(8) + rng.random(8)))]):
        W, seconds = survives(client, delay, trial)
        np.testing.assert_array_equal(W, expected)
        assert seconds < SOON


def killed(block):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_a_round_that_kills_each_worker_ends_with_advice(client):
    wait_for_workers(client)
    held = Dask(client, retries=1).hold(Shards.loaded(rows, [0]))
    with pytest.raises(MachinesError, match=r"lost 2 times in one round .*out of memory"):
        held.map(killed)
    wait_for_workers(client)
    held = Dask(client).hold(SHARDS)  # the cluster has recovered
    assert held.map(slow_mean, np.zeros((6, 4)), seconds=0).shape == (6, 4)


def test_a_worker_that_hangs_is_left(client):
    stuck = psutil.Process(wait_for_workers(client)[0])
    held = Dask(client, timeout=3.0).hold(SHARDS)
    stuck.suspend()
    try:
        began = time.monotonic()
        W = held.map(slow_mean, np.zeros((6, 4)), seconds=0)
        assert time.monotonic() - began < SOON
    finally:
        stuck.resume()
    np.testing.assert_array_equal(W, Local().hold(SHARDS).map(slow_mean, np.zeros((6, 4)), seconds=0))


# -- bad input ---------------------------------------------------------------------------------------


def test_arguments_that_cannot_be_right():
    wrong = ({"workers": 0}, {"workers": 1.5}, {"timeout": 0}, {"timeout": np.inf}, {"retries": -1}, {"address": 8786})
    for given in wrong:
        with pytest.raises(ProblemError, match=next(iter(given))):
            Dask(**given)
    assert isinstance(Dask(), Machines)
    with pytest.raises(ProblemError, match="no machines"):
        Dask().hold(Shards((), ()))


def test_an_address_that_does_not_answer(monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 1.0)
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        began = time.monotonic()
        with pytest.raises(MachinesError, match=rf"no Dask scheduler answers at '{address}' within 1 s"):
            Dask(address).hold(SHARDS)
        assert time.monotonic() - began < SOON
    with pytest.raises(MachinesError, match="no Dask scheduler answers at 'nonsense://'"):
        Dask("nonsense://").hold(SHARDS)


def test_a_scheduler_without_workers(monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    with (
        distributed.LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address="127.0.0.1:0") as empty,
        pytest.raises(MachinesError, match=r"has no worker, and none came within 0\.5 s"),
    ):
        Dask(empty.scheduler_address).hold(SHARDS)


def test_a_loader_that_raises_says_which_machine_on_dask_too(client):
    def load(name):
        if name == "east":
            msg = "the disk is gone"
            raise OSError(msg)
        return rows(0)

    shards = Shards.loaded(load, {"north": "north", "east": "east"})
    with pytest.raises(ProblemError, match="the loader of machine 'east' raised OSError: the disk is gone"):
        Dask(client).hold(shards)
    for widths in ([2, 2, 2, 3], [2, 2, 3, 3]):  # in one block, and in two
        ragged = Shards.loaded(lambda d: (np.ones((3, d)), np.ones(3)), widths)
        with pytest.raises(ProblemError, match=r"same features, but . has 2 and . has 3"):
            Dask(client).hold(ragged)


def test_errors_of_a_round_are_those_of_local(client):
    problem = functools.partial(GraphMultitask, eta=0.1, loss="logistic")
    for machines in (Local(), Dask(client)):
        with pytest.raises(ProblemError, match="labels"):
            problem(SHARDS, machines=machines)


def test_a_worker_of_other_versions(client, monkeypatch):
    monkeypatch.setattr(dask, "versions", lambda: {"matrixlearn": "0.0.1"})
    with pytest.raises(MachinesError, match=r"a worker has matrixlearn .*, this process has 0.0.1"):
        Dask(client).hold(SHARDS)


def test_a_shard_that_loads_differently_the_second_time(client, tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, rows(0)[0])

    def read(path):
        X = np.load(path)
        return X, X[:, 0]

    wait_for_workers(client)
    held = Dask(client).hold(Shards.from_files({"a": path}, read))
    np.save(path, rows(1)[0])
    with pytest.raises(ProblemError, match="machine 'a' has other rows than when they were first loaded"):
        held.map(killed_once, at=time.time())


def killed_once(block, at):
    if psutil.Process().create_time() < at:
        os.kill(os.getpid(), signal.SIGKILL)
    return block.sizes


def test_a_worker_without_memory(client):
    wait_for_workers(client)
    with pytest.raises(MachinesError, match="no memory left"):
        Dask(client).hold(SHARDS).map(greedy)


def greedy(block):
    return np.ones(1 << 48)


# -- schedulers in other processes ---------------------------------------------------------------------

SCHEDULER = """
import asyncio, sys
from distributed import Scheduler, Worker, Security
from distributed.core import Status

async def main(security):
    at = {"host": "127.0.0.1", "port": 0, "dashboard": False, "dashboard_address": "127.0.0.1:0"}
    async with Scheduler(**at, **security) as scheduler:
        async with Worker(scheduler.address, nthreads=1, host="127.0.0.1", **security):
            print(scheduler.address, flush=True)
            await scheduler.finished()

if __name__ == "__main__":
    files = sys.argv[1:]
    security = {}
    if files:
        ca, cert, key = files
        security = {"security": Security(tls_ca_file=ca, require_encryption=True, **{
            f"tls_{role}_{what}": file for role in ("scheduler", "worker", "client")
            for what, file in (("cert", cert), ("key", key))})}
        security["protocol"] = "tls://"
    asyncio.run(main(security))
"""


@pytest.fixture
def scheduler(tmp_path):
    """Start a scheduler with one worker in another process: its address, and the process."""
    started = []

    def start(*files):
        script = tmp_path / "scheduler.py"
        script.write_text(SCHEDULER)
        process = subprocess.Popen([sys.executable, script, *files], stdout=subprocess.PIPE, text=True)
        started.append(process)
        return process.stdout.readline().strip(), process

    yield start
    for process in started:
        process.kill()
        process.wait(10)
        process.stdout.close()
    gc.collect()


def test_a_scheduler_that_goes_away_ends_with_what_is_certified(scheduler, monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 2.0)
    address, process = scheduler()
    problem = GraphMultitask(SHARDS, eta=0.01, machines=Dask(address))
    assert ml.solve(problem, "bol", tol=1e-3).status == "optimal"

    def end(event):
        if event.iteration == 40:
            process.kill()
            process.wait(10)

    began = time.monotonic()
    solution = ml.solve(problem, "gd", tol=1e-12, callback=end)
    assert time.monotonic() - began < SOON
    assert solution.status == "stopped"
    assert "the data are out of reach: " in solution.explain()
    optimum = ml.solve(GraphMultitask(SHARDS, eta=0.01), tol=1e-9)
    assert 0 < solution.lower <= optimum.upper and optimum.lower <= solution.upper < np.inf
    assert "tasks      6" in solution.summary()


def test_machines_may_be_collected_in_a_thread_of_dask(scheduler, monkeypatch):
    """A finalizer that closed a client there would wait for a lock that the thread which started it holds."""
    address, _ = scheduler()
    lost = [Dask(address).hold(SHARDS)]
    client = lost[0]._cluster.client
    lost.append(lost)
    del lost
    begin = distributed.utils.asyncio_run

    def collecting(*args, **kwargs):
        gc.collect()
        return begin(*args, **kwargs)

    monkeypatch.setattr(distributed.utils, "asyncio_run", collecting)
    held = Dask(address).hold(SHARDS)
    assert len(held.ids) == 6
    end = time.monotonic() + SOON
    while client.status != "closed":
        assert time.monotonic() < end, "the client of machines that are garbage is still open"
        time.sleep(0.01)


def certificates(folder):
    """An authority, and a key and a certificate that it has signed, for 127.0.0.1; by the command openssl."""

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    new = ("-newkey", "rsa:2048", "-nodes", "-days", "2")
    openssl("req", "-x509", *new, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=authority")
    openssl("req", *new[:3], "-keyout", "own.key", "-out", "own.csr", "-subj", "/CN=127.0.0.1")
    signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2")
    openssl("x509", "-req", "-in", "own.csr", *signed, "-out", "own.pem")
    return [str(folder / name) for name in ("ca.pem", "own.pem", "own.key")]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes its certificates by openssl")
def test_a_remote_cluster_by_tls(scheduler, tmp_path, monkeypatch):
    ca, cert, key = certificates(tmp_path)
    address, _ = scheduler(ca, cert, key)
    assert address.startswith("tls://")
    security = distributed.Security(
        tls_ca_file=ca, tls_client_cert=cert, tls_client_key=key, require_encryption=True
    )  # fmt: skip
    problem = GraphMultitask(SHARDS, eta=0.1, machines=Dask(address, security=security))
    local = ml.solve(GraphMultitask(SHARDS, eta=0.1), "krylov")
    np.testing.assert_array_equal(ml.solve(problem, "krylov").matrix, local.matrix)
    monkeypatch.setattr(cluster, "PATIENCE", 1.0)
    (tmp_path / "strange").mkdir()
    strange = certificates(tmp_path / "strange")
    stranger = distributed.Security(
        tls_ca_file=strange[0], tls_client_cert=strange[1], tls_client_key=strange[2], require_encryption=True
    )
    for refused in (stranger, None):  # another authority's; none at all
        with pytest.raises(MachinesError, match="no Dask scheduler answers at 'tls://"):
            Dask(address, security=refused).hold(SHARDS)


INTERRUPTED = """
import numpy as np, time
import matrixlearn as ml
from matrixlearn.machines import Dask, Shards
from matrixlearn_network import GraphMultitask

def rows(i):
    X = np.random.default_rng(i).standard_normal((30, 4))
    return X, X[:, 0]

if __name__ == "__main__":
    problem = GraphMultitask(Shards.loaded(rows, range(6)), eta=0.01, machines=Dask())

    def told(event):
        if event.iteration == 1:
            print("ready", flush=True)
        time.sleep(0.02)

    solution = ml.solve(problem, "gd", tol=1e-15, callback=told)
    print(solution.status, "the data are out of reach" in solution.explain(), flush=True)
"""


def test_ctrl_c_leaves_no_process(tmp_path):
    script = tmp_path / "long.py"
    script.write_text(INTERRUPTED)
    process = subprocess.Popen(
        [sys.executable, script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # a test run in the background of a shell ignores SIGINT, and what it starts would too
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert process.stdout.readline().strip() == "ready"
        time.sleep(0.5)
        family = psutil.Process(process.pid).children(recursive=True)
        assert len(family) >= 2
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: all processes of the group get it
        out, err = process.communicate(timeout=120)
        assert out.split() == ["stopped", "False"]
        assert "Traceback" not in err and "KeyboardInterrupt" not in err
        _, alive = psutil.wait_procs(family, timeout=60)
        assert alive == []
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_a_script_without_a_guard_is_told(tmp_path):
    script = tmp_path / "bare.py"
    script.write_text(
        textwrap.dedent("""
        import numpy as np
        from matrixlearn.machines import Dask, Shards
        Dask(workers=1).hold(Shards.of(np.ones((2, 1)), np.ones(2), [0, 1]))
        """)
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "under `if __name__ == '__main__':`" in done.stderr.splitlines()[-1]
