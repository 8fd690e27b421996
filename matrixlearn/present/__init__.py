"""How a problem is shown to people: kept beside the problem, looked up when someone looks."""

from matrixlearn.present.base import Argument, Presenter, Say, presented_by, presenter_of

__all__ = ["Argument", "Presenter", "Say", "presented_by", "presenter_of"]
