"""The commands, in click.  No problem is known by name: its presenter says what it reads (`Presenter.arguments`)."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from matrixlearn import Solution, Status, __version__, problems, solve
from matrixlearn.exceptions import MatrixLearnError, PluginError
from matrixlearn.present import Presenter, presenter_of
from matrixlearn.problems.base import Problem

UNDECIDED = 3
"""Exit status of a solve that ended at a limit, its bounds still apart."""


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Errors that are made on purpose end as one message, not as a traceback."""
    try:
        yield
    except MatrixLearnError as error:
        raise click.ClickException(str(error)) from error


def _writable(ctx: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
    """The path of an output; its folder must exist before anything is computed for it."""
    if path is not None and not path.absolute().parent.is_dir():
        msg = f"there is no folder {str(path.absolute().parent)!r}"
        raise click.BadParameter(msg, ctx, parameter)
    return path


def _first_line(cls: type[Problem]) -> str:
    """The first line of a docstring: the formula."""
    return (cls.__doc__ or "").strip().partition("\n")[0]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli() -> None:
    """Optimize over positive semidefinite matrices, with certified answers."""


@cli.command("list")
def list_problems() -> None:
    """List the problems: name, class, origin and formula."""
    registry = problems()
    for name in registry:
        try:
            cls = registry[name]
        except PluginError as error:
            click.echo(f"{name:<16}broken: {error}")
            continue
        click.echo(f"{name:<16}{cls.__module__.partition('.')[0]}.{cls.__name__}  (from {registry.origin(name)})")
        click.echo(f"{'':<16}{_first_line(cls)}")


# -- solve ----------------------------------------------------------------------------------------


class _Solvers(click.Group):
    """One subcommand for each problem that says what it reads; plugins are imported when asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in problems() if _arguments(name)]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        with _told():
            if name not in problems():
                return None
            cls = problems()[name]
            presenter = presenter_of(cls)
        if not presenter.arguments:
            msg = f"{name!r} has no command line: solve it from Python, matrixlearn.solve({cls.__name__}(...))"
            raise click.ClickException(msg)
        return _solver(name, presenter)


def _arguments(name: str) -> bool:
    try:
        return bool(presenter_of(problems()[name]).arguments)
    except PluginError:  # `list` tells
        return False


@cli.group("solve", cls=_Solvers)
def solve_group() -> None:
    """Solve a problem from files: print the certificate, write the solution.

    Ends with status 0 where the answer is optimal (or infeasible, with proof) and 3 where a limit came first.
    """


_COMMON: tuple[Callable[[Any], Any], ...] = (
    click.option("--method", default="auto", show_default=True, help="The engine."),
    click.option("--tol", type=float, default=1e-3, show_default=True, help="Certified relative gap."),
    click.option("--time-limit", type=float, help="Seconds."),
    click.option("--progress/--no-progress", default=None, help="A live line  [default: on a terminal]"),
    click.option(
        "-o",
        "--output",
        type=click.Path(dir_okay=False, path_type=Path),
        default=Path("solution.npz"),
        callback=_writable,
        show_default=True,
        help="The file for the solution.",
    ),
)


def _parameter(argument: Any) -> click.Parameter:
    kind: Any = argument.type
    if kind is Path:
        kind = click.Path(exists=True, dir_okay=False, path_type=Path)
    if argument.positional:
        return click.Argument([argument.name], type=kind, required=argument.required)
    option = "--" + argument.name.replace("_", "-")
    return click.Option([option, argument.name], type=kind, required=argument.required, help=argument.help)


def _solver(name: str, presenter: Presenter) -> click.Command:
    """The subcommand of a problem."""

    def run(
        method: str, tol: float, time_limit: float | None, progress: bool | None, output: Path, **given: Any
    ) -> None:
        if progress is None:
            progress = sys.stderr.isatty() and importlib.util.find_spec("rich") is not None
        with _told():
            problem = presenter.from_arguments(
                {key: value for key, value in given.items() if value is not None}, click.echo
            )
            solution = solve(problem, method=method, tol=tol, time_limit=time_limit, progress=progress)
        click.echo(solution.summary())
        solution.save(output)
        click.echo(f"written to {output}; matrixlearn verify {output} computes the bounds again")
        if solution.status is Status.STOPPED:
            raise SystemExit(UNDECIDED)

    files = "\n\n".join(f"{a.name.upper()}: {a.help}" for a in presenter.arguments if a.positional)
    formula = _first_line(presenter.problem_class)
    command = click.Command(name, callback=run, help=f"{formula}\n\n{files}", short_help=formula)
    for decorate in _COMMON:
        decorate(command)
    command.params = [_parameter(argument) for argument in presenter.arguments] + command.params
    return command


# -- verify, check, demo --------------------------------------------------------------------------


@cli.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def verify(file: Path) -> None:
    """Compute a solution's bounds again, from the data in its FILE."""
    with _told():
        solution = Solution.load(file)
        fresh = solution.verify()
    click.echo(f"{type(solution.problem).__name__}: the data prove {fresh}")


@cli.command()
@click.argument("name")
@click.option("--max-examples", type=click.IntRange(min=1), default=25, show_default=True, help="Random instances.")
def check(name: str, max_examples: int) -> None:
    """Run the conformance kit on a problem.

    Ends with status 1 where a law does not hold for the problem NAME.
    """
    with _told():
        cls = problems()[name]
        try:
            from matrixlearn.testing import run_checks  # says itself which package it lacks
        except ModuleNotFoundError as error:
            msg = f"the conformance kit needs {error.name}: pip install 'matrixlearn[test]'"
            raise click.ClickException(msg) from error
    failed = 0
    for law, error_of_law in run_checks(cls, max_examples):
        click.echo(f"{'ok    ' if error_of_law is None else 'FAILED'}  {law}")
        if error_of_law is not None:
            failed += 1
            click.echo("".join(f"        {line}\n" for line in str(error_of_law).splitlines()[:12]), nl=False)
    if failed:
        explained = "" if failed == 1 else "; the first explains most of those after it"
        raise click.ClickException(f"{failed} check(s) of {name} failed{explained}")  # noqa: EM102


@cli.command()
@click.argument("name", required=False)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=_writable,
    help="Save the picture here, e.g. picture.png.",
)
def demo(name: str | None, output: Path | None) -> None:
    """Show the problem NAME at work on real data; without a name, the first that can be shown."""
    with _told():
        run = _first_demo() if name is None else presenter_of(problems()[name]).demo()
        if run is None:
            msg = "no registered problem has a demonstration" if name is None else f"{name!r} has no demonstration"
            raise click.ClickException(msg)
        figure = run(click.echo)
    if output is None:
        return
    if figure is None:
        msg = "there is no picture without matplotlib: pip install 'matrixlearn[plot]'"
        raise click.ClickException(msg)
    try:
        figure.savefig(output, dpi=130)
    except ValueError as error:  # an unknown kind of picture
        raise click.ClickException(str(error)) from error
    click.echo(f"picture in {output}")


def _first_demo() -> Callable[[Callable[[str], None]], Any] | None:
    registry = problems()
    for name in registry:
        with contextlib.suppress(PluginError):
            run = presenter_of(registry[name]).demo()
            if run is not None:
                return run
    return None
