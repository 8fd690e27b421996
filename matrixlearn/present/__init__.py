"""Presenters: texts, pictures and command-line arguments of a problem, looked up beside its class."""

from matrixlearn.present.base import Argument, Presenter, Say, presented_by, presenter_of

__all__ = ["Argument", "Presenter", "Say", "presented_by", "presenter_of"]
