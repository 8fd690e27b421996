"""Files of every format, each changed in one place: the same answer, the one that the changed file says, or an error.

A mutant goes through the reader and through the command line, in this process. It passes where

    same        the problem is that of the file before the change;
    honest      it is the one that the changed file says by the rules of its format, as the judge of the format reads
                it: a parser of its own, a few lines that allow nothing but the plain form;
    refused     a MatrixLearnError names the file, and the line where there are lines; the command line ends with 1 or
                2, says the same, and shows no traceback.

Anything else is a failure: another exception, an error that does not say where, another problem, or a command line
that disagrees with the reader.
    python benchmarks/files/mutated_files.py [mutants of each format] [format ...]
"""

import json
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner

import matrixlearn as ml
from benchmarks.files._changes import mutant
from benchmarks.files._formats import Format, formats
from matrixlearn._commands import cli
from matrixlearn._saved import digest
from matrixlearn.exceptions import MatrixLearnError
from matrixlearn.present import presenter_of


def quietly(judge: Callable[[bytes], Any], content: bytes) -> Any:
    """What the judge reads, None where it refuses."""
    try:
        return judge(content)
    except Exception:
        return None


def trial(form: Format, path: Path, content: bytes, target: Path) -> str:
    """The verdict on one content: "same", "honest", "refused", or what is wrong."""
    path.write_bytes(content)
    given: dict[str, Any] = {form.argument: path}
    if form.problem == "discrepancy":
        given["target"] = target
    if form.options:
        given["trace_bound"] = 9.0
    try:
        problem = presenter_of(ml.registered_problems()[form.problem]).read(given, lambda line: None)
        said = form.said(problem)
        refusal = ""
    except MatrixLearnError as error:
        refusal = str(error)
    except Exception as error:
        return f"reader: {type(error).__name__}: {error}"
    if refusal:
        if path.name not in refusal:
            return f"reader: the file is not named: {refusal}"
        if (
            form.text
            and not re.search(r"\bline \d+", refusal)
            and not re.search("gzip|zip archive|NumPy array|must have the same", refusal)
        ):
            return f"reader: the line is not named: {refusal}"
    shown = command(form, path, target)
    if isinstance(shown, str):
        return shown
    status, output, data = shown
    if (status in (1, 2)) != bool(refusal):
        return f"command: status {status} where the reader {'refuses' if refusal else 'reads'}: {output[-200:]}"
    if refusal:
        return "refused" if path.name in output else f"command: the file is not named: {output[-200:]}"
    if data != digest(problem):
        return "command: another problem than the reader's"
    if said == quietly(form.judge, form.content):
        return "same"
    return "honest" if said == quietly(form.judge, content) else "reader: another problem"


def command(form: Format, path: Path, target: Path) -> str | tuple[int, str, Any]:
    """(status, output, digest of the problem solved) of the command line; what went wrong."""
    out = path.with_name("out.json")
    files = [str(path)] if form.problem != "discrepancy" else ["--source", str(path), "--target", str(target)]
    arguments = ["solve", form.problem, *files, *form.options, "--time-limit", "0", "--overwrite", "-o", str(out)]
    done = CliRunner().invoke(cli, arguments)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return f"command: {type(done.exception).__name__}: {done.exception}"
    data = json.loads(out.read_text())["data"] if done.exit_code in (0, 3) else None
    return done.exit_code, done.output, data


def trials(form: Format, count: int, seed: int = 0) -> tuple[Counter, list[tuple[bytes, str]]]:
    """Verdicts on ``count`` mutants, and the failures among them."""
    rng, verdicts, failures = random.Random(seed), Counter[str](), list[tuple[bytes, str]]()
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "target.npy")
        np.save(target, np.random.default_rng(1).normal(size=(4, 3)))
        path = Path(folder, form.file)
        if trial(form, path, form.content, target) != "same":
            failures.append((form.content, f"before any change: {trial(form, path, form.content, target)}"))
        for _ in range(count):
            content = mutant(rng, form.content, form.text)
            verdict = trial(form, path, content, target)
            verdicts[verdict if verdict in ("same", "honest", "refused") else "failed"] += 1
            if verdict not in ("same", "honest", "refused"):
                failures.append((content, verdict))
    return verdicts, failures


# -- saved answers ----------------------------------------------------------------------------------------


def answers(count: int, seed: int = 0) -> tuple[Counter, list[tuple[bytes, str]]]:
    """Saved answers with one byte flipped, or cut: the same answer, or one MatrixLearnError; ``verify`` agrees."""
    rng, verdicts, failures = random.Random(seed), Counter[str](), list[tuple[bytes, str]]()
    W = np.triu(np.random.default_rng(0).integers(0, 3, (6, 6)), 1).astype(float)
    solution = ml.solve(ml.registered_problems()["maxcut"](W + W.T), tol=1e-4)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "answer.npz")
        solution.save(path)
        whole = path.read_bytes()
        for _ in range(count):
            at = rng.randrange(len(whole))
            flipped = whole[:at] + bytes([whole[at] ^ rng.randrange(1, 256)]) + whole[at + 1 :]
            path.write_bytes(content := flipped if rng.random() < 0.9 else whole[:at])
            try:
                loaded = ml.Solution.load(path)
                verdict = "same" if loaded.summary() == solution.summary() else "another answer"
            except MatrixLearnError as error:
                verdict = "refused" if "answer.npz" in str(error) else f"the file is not named: {error}"
            except Exception as error:
                verdict = f"{type(error).__name__}: {error}"
            done = CliRunner().invoke(cli, ["verify", str(path)])
            if done.exception is not None and not isinstance(done.exception, SystemExit):
                verdict = f"verify: {type(done.exception).__name__}: {done.exception}"
            elif (done.exit_code == 0) != (verdict == "same"):
                verdict = f"verify ends with {done.exit_code}: {verdict}"
            verdicts[verdict if verdict in ("same", "refused") else "failed"] += 1
            if verdict not in ("same", "refused"):
                failures.append((content, verdict))
    return verdicts, failures


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    wanted = sys.argv[2:]
    total = Counter[str]()
    print(f"{count} mutants of each format, load {os.getloadavg()[0]:.1f}")
    print(f"{'format':<24}{'same':>7}{'honest':>8}{'refused':>9}{'failed':>8}{'seconds':>9}")
    cases = {name: lambda form=form: trials(form, count) for name, form in formats().items()}
    cases["saved answers"] = lambda: answers(count)
    for name, of in cases.items():
        if wanted and name not in wanted:
            continue
        began = time.perf_counter()
        verdicts, failures = of()
        total.update(verdicts)
        counts = "".join(
            f"{verdicts[key]:>{width}}"
            for key, width in zip(("same", "honest", "refused", "failed"), (7, 8, 9, 8), strict=True)
        )
        print(f"{name:<24}{counts}{time.perf_counter() - began:>9.0f}", flush=True)
        for content, verdict in failures[:5]:
            print(f"    {verdict[:300]}\n    {content[:300]!r}")
    print(f"{sum(total.values())} in all: {dict(total)}")


if __name__ == "__main__":
    main()
