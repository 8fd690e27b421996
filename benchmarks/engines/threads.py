"""Where a second BLAS thread begins to pay: numpy.linalg.eigh by size, alone and beside a busy process.
python benchmarks/engines/threads.py
"""

import multiprocessing
import time

import numpy as np
from threadpoolctl import threadpool_limits


def busy(stop) -> None:
    while not stop.is_set():
        pass


def seconds(n: int, threads: int) -> float:
    A = np.random.default_rng(0).standard_normal((n, n))
    A = A + A.T
    with threadpool_limits(threads, user_api="blas"):
        np.linalg.eigh(A)
        times = []
        for _ in range(3):
            start = time.perf_counter()
            np.linalg.eigh(A)
            times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    print("# wall seconds of eigh; ratio = two threads / one thread (below 1: the second thread pays)")
    for label in ("alone", "beside a busy process"):
        stop = multiprocessing.Event()
        other = multiprocessing.Process(target=busy, args=(stop,))
        if label != "alone":
            other.start()
        for n in (50, 100, 200, 500, 1000, 1500):
            one, two = seconds(n, 1), seconds(n, 2)
            print(f"{label:22s} n = {n:5d}: {one:8.4f} {two:8.4f}  ratio {two / one:.2f}", flush=True)
        if label != "alone":
            stop.set()
            other.join()


if __name__ == "__main__":
    main()
