"""The commands, in click.  No problem is known by name: its presenter says what it reads (`Presenter.arguments`)."""

from __future__ import annotations

import contextlib
import importlib.util
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from matrixlearn import Solution, Status, __version__, registered_problems, solve
from matrixlearn._outputs import draw, keep, place_for, require_answer_path, require_picture_path
from matrixlearn._saved import require_held
from matrixlearn.exceptions import MatrixLearnError, MissingExtraError, PluginError
from matrixlearn.files import is_pattern
from matrixlearn.present import Presenter, presenter_of
from matrixlearn.problems.base import Problem

UNDECIDED = 3
"""Exit status of a solve that ended at a limit, its bounds still apart."""


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Print an error of matrixlearn as one message, without a traceback."""
    try:
        yield
    except MatrixLearnError as error:
        raise click.ClickException(str(error)) from error


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM ends a solve as Ctrl-C does: what is certified is kept."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _checked_by(
    require: Callable[[Path], None],
) -> Callable[[click.Context, click.Parameter, Path | None], Path | None]:
    """A callback of an option that names an output."""

    def check(ctx: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
        if path is not None:
            try:
                require(path)
            except MissingExtraError as error:
                raise click.ClickException(str(error)) from error
            except MatrixLearnError as error:
                raise click.BadParameter(str(error), ctx, parameter) from error
        return path

    return check


def _formula(cls: type[Problem]) -> str:
    """The first paragraph of a docstring: the formula, on one line."""
    return " ".join((cls.__doc__ or "").strip().partition("\n\n")[0].split())


def _warn(name: str, error: BaseException) -> None:
    """One line on a plugin that cannot be used; the others can."""
    why = str(error) if isinstance(error, PluginError) else f"{name!r}: {type(error).__name__}: {error}"
    click.echo(f"warning: a plugin is left out: {' '.join(why.split())}", err=True)


def _of_each(make: Callable[[str, Presenter], Any]) -> dict[str, Any]:
    """``make(name, presenter)`` for each problem; a plugin that fails to load is skipped with a warning."""
    made = {}
    for name in registered_problems():
        try:
            made[name] = make(name, presenter_of(registered_problems()[name]))
        except (Exception, SystemExit) as error:  # whatever a stranger's class does
            _warn(name, error)
    return made


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli() -> None:
    """Optimize over positive semidefinite matrices, with certified answers."""


@cli.command("list")
def list_problems() -> None:
    """List the problems: name, class, origin, formula, and the routines of their rounds."""
    registry = registered_problems()
    wide = 2 + max((len(name) for name in registry), default=0)
    for name in registry:
        try:
            cls = registry[name]
        except PluginError as error:
            click.echo(f"{name:<{wide}}broken: {' '.join(str(error).split())}")
            continue
        click.echo(f"{name:<{wide}}{cls.__module__.partition('.')[0]}.{cls.__name__}  (from {registry.origin(name)})")
        click.echo(f"{'':<{wide}}{_formula(cls)}")
        if cls.routines:
            click.echo(f"{'':<{wide}}mmw: {', '.join(cls.routines)}")


# -- solve ----------------------------------------------------------------------------------------


class _Solvers(click.Group):
    """One subcommand for each problem; plugins are imported when asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        ctx.obj = _of_each(_solver)
        return list(ctx.obj)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if ctx.obj and name in ctx.obj:  # as made for the list
            return ctx.obj[name]
        with _told():
            return _solver(name, presenter_of(registered_problems()[name])) if name in registered_problems() else None


@cli.group("solve", cls=_Solvers)
def solve_group() -> None:
    """Solve a problem from files: print the certificate, write the solution.

    Ends with status 0 where the answer is optimal (or infeasible, with proof) and 3 where a limit came first.
    """


_COMMON: tuple[Callable[[Any], Any], ...] = (
    click.option("--method", default="auto", show_default=True, help="The engine."),
    click.option(
        "--tol",
        type=click.FloatRange(min=0, max=1, min_open=True, max_open=True),
        default=1e-3,
        show_default=True,
        help="Certified relative gap.",
    ),
    click.option("--time-limit", type=float, help="Seconds."),
    click.option("--progress/--no-progress", default=None, help="A live line  [default: on a terminal]"),
    click.option(
        "-o",
        "--output",
        type=click.Path(dir_okay=False, path_type=Path),
        default=Path("solution.npz"),
        callback=_checked_by(require_answer_path),
        show_default=True,
        help="The file for the solution: .npz (whole, for verify), .json or .csv. An answer that is better, or to "
        "other data, is not replaced: the new one gets a name beside it.",
    ),
    click.option("--overwrite", is_flag=True, help="Replace the output, whatever it holds."),
    click.option(
        "--plot",
        type=click.Path(dir_okay=False, path_type=Path),
        callback=_checked_by(require_picture_path),
        help="Draw bounds, gap and answer here, e.g. picture.png.",
    ),
)


class _Files(click.Path):
    """A file, or a pattern of names that files have."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        pattern = Path(value)
        if is_pattern(pattern) and any(pattern.parent.glob(pattern.name)):
            return pattern
        return super().convert(value, param, ctx)


def _parameter(argument: Any) -> click.Parameter:
    kind: Any = argument.type
    if kind is Path:
        kind = _Files(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
    if argument.positional:
        return click.Argument([argument.name], type=kind, required=argument.required)
    option = "--" + argument.name.replace("_", "-")
    return click.Option([option, argument.name], type=kind, required=argument.required, help=argument.help)


def _solver(name: str, presenter: Presenter) -> click.Command:
    """The subcommand of a problem."""
    cls = presenter.problem_class
    if not presenter.arguments:
        return _from_python(name, cls)

    def run(
        method: str,
        tol: float,
        time_limit: float | None,
        progress: bool | None,
        output: Path,
        overwrite: bool,
        plot: Path | None,
        **given: Any,
    ) -> None:
        if progress is None:
            progress = sys.stderr.isatty() and importlib.util.find_spec("rich") is not None
        with _told():
            problem = presenter.read({key: value for key, value in given.items() if value is not None}, click.echo)
            require_held(problem, output)
            with _terminable():
                solution = solve(problem, method=method, tol=tol, time_limit=time_limit, progress=progress)
        click.echo(solution.summary())
        _write(solution, output, overwrite)
        if plot is not None:
            draw(solution.plot(), plot)
            click.echo(f"picture in {plot}")
        if solution.status is Status.STOPPED:
            raise SystemExit(UNDECIDED)

    files = "\n\n".join(f"{a.name.upper()}: {a.help}" for a in presenter.arguments if a.positional)
    formula = _formula(cls)
    command = click.Command(name, callback=run, help=f"{formula}\n\n{files}", short_help=formula)
    for decorate in _COMMON:
        decorate(command)
    command.params = [_parameter(argument) for argument in presenter.arguments] + command.params
    return command


def _from_python(name: str, cls: type[Problem]) -> click.Command:
    """The subcommand of a problem that reads no files: it says what to do instead."""
    where = f"matrixlearn.solve({cls.__name__}(...)), from {cls.__module__}"

    def run() -> None:
        msg = f"{name!r} has no command line: solve it from Python, {where}"
        raise click.ClickException(msg)

    return click.Command(name, callback=run, short_help=f"from Python: {where}", help=_formula(cls))


def _write(solution: Solution, output: Path, overwrite: bool) -> None:
    """Keep the answer, and say where."""
    place = output if overwrite else place_for(solution, output)
    if place != output:
        click.echo(f"{output} is kept: it holds a better answer, or one to other data, or something else (--overwrite)")
    try:
        written = keep(solution, place)
    except (OSError, MatrixLearnError) as error:
        msg = f"the answer could not be written to {place}, nor to the folder of temporary files: {error}"
        raise click.ClickException(msg) from error
    again = f"; matrixlearn verify {written} computes the bounds again" if written.suffix.lower() == ".npz" else ""
    click.echo(f"written to {written}{again}")
    if written != place:
        msg = f"{place} could not be written: the answer is in {written}"
        raise click.ClickException(msg)


# -- verify, check, demo --------------------------------------------------------------------------


@cli.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def verify(file: Path) -> None:
    """Compute a solution's bounds again, from the data in its FILE, and compare all that it says with them."""
    with _told():
        solution = Solution.load(file)
        fresh = solution.verify()
    click.echo(f"{type(solution.problem).__name__}: the data prove {fresh}")
    click.echo(f"status {solution.status} at tol {solution.tol:g}, value {solution.value:.9g}: as proved")


@cli.command()
@click.argument("name")
@click.option("--max-examples", type=click.IntRange(min=1), default=25, show_default=True, help="Random instances.")
def check(name: str, max_examples: int) -> None:
    """Run the conformance kit on a problem.

    Ends with status 1 where a law does not hold for the problem NAME.
    """
    with _told():
        cls = registered_problems()[name]
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


def _problems_called(name: str) -> list[str]:
    """A problem's name, or those of the problems that the plugin of that name brings."""
    if name in registered_problems():
        return [name]
    packages = _of_each(lambda _, presenter: presenter.problem_class.__module__.partition(".")[0])
    return [key for key, package in packages.items() if package.partition("_")[::2] == ("matrixlearn", name)] or [name]


@cli.command()
@click.argument("name", required=False)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=_checked_by(require_picture_path),
    help="Save the picture here, e.g. picture.png.",
)
def demo(name: str | None, output: Path | None) -> None:
    """Show the problem, or the plugin, NAME at work on real data; without a name, the first that can be shown."""
    with _told():
        if name is not None:
            called = (presenter_of(registered_problems()[each]).demo() for each in _problems_called(name))
            run = next((shown for shown in called if shown), None)
        if name is None or run is None:
            shown = {key: found for key, found in _of_each(lambda _, presenter: presenter.demo()).items() if found}
            if name is not None:
                msg = f"{name!r} has no demonstration; those that have one: {', '.join(shown) or 'none'}"
                raise click.ClickException(msg)
            if not shown:
                msg = "no registered problem has a demonstration"
                raise click.ClickException(msg)
            run = next(iter(shown.values()))
        figure = run(click.echo)
    if output is None:
        return
    if figure is None:
        msg = "there is no picture: the demonstration draws none"
        raise click.ClickException(msg)
    draw(figure, output)
    click.echo(f"picture in {output}")
