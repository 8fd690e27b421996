"""Machines on Dask: a round, bytes, workers killed. One thread; on a busy machine only ratios count.

python benchmarks/network/machines.py
"""

import multiprocessing
import os
import signal
import threading
import time

import numpy as np
from distributed import Client, LocalCluster
from matrixlearn_network import GraphMultitask, of_edges

import matrixlearn as ml
from matrixlearn.machines import Dask, Local, Shards


def rows(i, n, d):
    rng = np.random.default_rng(i)
    X = rng.standard_normal((n, d))
    return X, X[:, 0] + rng.standard_normal(n)


def turned(block, W):
    """A round with next to no work."""
    return W + 1.0


def echo(pipe):
    while (W := pipe.recv()) is not None:
        pipe.send(W + 1.0)


def by_pipe(m, d, rounds):
    """Two processes, half of the machines each: the floor."""
    ends, workers = [], []
    for _ in range(2):
        here, there = multiprocessing.Pipe()
        workers.append(multiprocessing.Process(target=echo, args=(there,)))
        workers[-1].start()
        ends.append(here)
    W, times = np.zeros((m, d)), []
    for _ in range(rounds):
        began = time.perf_counter()
        for end, part in zip(ends, np.split(W, 2), strict=True):
            end.send(part)
        W = np.concatenate([end.recv() for end in ends])
        times.append(time.perf_counter() - began)
    for end, worker in zip(ends, workers, strict=True):
        end.send(None)
        worker.join()
    return times


def by_machines(held, m, d, rounds):
    W, times = np.zeros((m, d)), []
    for _ in range(rounds):
        began = time.perf_counter()
        W = held.map(turned, W)
        times.append(time.perf_counter() - began)
    return times


def shown(name, times):
    times = 1e3 * np.array(times)
    print(
        f"{name:<44} min {times.min():8.2f}   median {np.median(times):8.2f}   90 % {np.quantile(times, 0.9):8.2f} ms"
    )


def ring(m):
    return of_edges([(i, (i + 1) % m) for i in range(m)], range(m))


def solves(client):
    print("\nsolve to 1e-6, ring, square loss, eta 0.1, tau 1: rounds, seconds, bytes a round over 2 * 8 d m")
    for m, n, d in ((12, 40, 100), (120, 400, 20)):
        shards = Shards.loaded(rows, [(i, n, d) for i in range(m)])
        for method in ("krylov", "bol", "bsr", "moments"):
            seconds = []
            for machines in (Local(), Dask(client)):
                problem = GraphMultitask(shards, graph=ring(m), eta=0.1, tau=1.0, machines=machines)
                began = time.perf_counter()
                solution = ml.solve(problem, method, tol=1e-6)
                seconds.append(time.perf_counter() - began)
            ledger = problem.ledger(method)
            ratio = ledger.moved / max(ledger.rounds, 1) / (16 * d * m)
            print(
                f"{m:4} machines, d = {d:3}, {method:<8} {ledger.rounds:3} rounds, local {seconds[0]:6.3f}, "
                f"Dask {seconds[1]:6.3f} s, {ledger.moved / 1e6:6.2f} MB, {ratio:.2f}; {solution.status}"
            )


def slow(block, W):
    time.sleep(0.05)
    return W + block.adjoint(block.shares * block.y)


def faults(client, trials=20):
    rng = np.random.default_rng(0)
    shards = Shards.loaded(rows, [(i, 40, 10) for i in range(12)])
    expected, survived, seconds = np.zeros((12, 10)), 0, []
    local = Local().hold(shards)
    for _ in range(10):
        expected = local.map(slow, expected)
    for _ in range(trials):
        pids = []
        while len(pids) < 2:
            client.cluster.scale(2)
            pids = [pid for pid in client.run(os.getpid, on_error="ignore").values() if isinstance(pid, int)]
            time.sleep(0.2)
        held, W = Dask(client).hold(shards), np.zeros((12, 10))
        killer = threading.Timer(rng.uniform(0, 0.5), os.kill, (int(rng.choice(pids)), signal.SIGKILL))
        killer.start()
        began = time.perf_counter()
        for _ in range(10):
            W = held.map(slow, W)
        seconds.append(time.perf_counter() - began)
        survived += bool(np.array_equal(W, expected))
        killer.join()
    print(f"\n{survived} of {trials} killed workers survived, bit-equal; 10 rounds of 0.05 s took", end=" ")
    print(f"{min(seconds):.2f} / {np.median(seconds):.2f} / {max(seconds):.2f} s (min / median / max)")


def main():
    print(f"load {os.getloadavg()[0]:.1f}; a round, d numbers each way a machine, two workers")
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster, set_as_default=False, direct_to_workers=True) as client,
    ):
        for m, d in ((12, 100), (12, 1000), (120, 100)):
            held = Dask(client).hold(Shards.loaded(rows, [(i, 4, 2) for i in range(m)]))
            for kind in range(2):  # twice, in turn: the machine is shared
                shown(f"{m} machines, d = {d}, Dask, run {kind + 1}", by_machines(held, m, d, 200))
                shown(f"{m} machines, d = {d}, a pipe, run {kind + 1}", by_pipe(m, d, 200))
        solves(client)
        faults(client)
        print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
