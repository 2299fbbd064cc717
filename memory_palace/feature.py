"""How a feature's functions become methods: what they take first, the palace, is filled in."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Concatenate, Generic, ParamSpec, TypeVar, overload

from memory_palace.palace import Palace

P = ParamSpec("P")
R = TypeVar("R")


class Feature:
    """What a palace can do in one matter. Get one from ``Palace``, not by hand."""

    def __init__(self, palace: Palace) -> None:
        self.palace = palace


class Verb(Generic[P, R]):
    """A function that takes the palace first, as a method of a feature.

    Signature, types and docstring stay those of the function, so there is one of each.
    """

    def __init__(self, function: Callable[Concatenate[Palace, P], R]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    @overload
    def __get__(
        self, feature: None, owner: type[Feature]
    ) -> Callable[Concatenate[Palace, P], R]: ...
    @overload
    def __get__(self, feature: Feature, owner: type[Feature]) -> Callable[P, R]: ...
    def __get__(
        self, feature: Feature | None, owner: type[Feature]
    ) -> Callable[Concatenate[Palace, P], R] | Callable[P, R]:
        """Return the function, bound to the feature's palace where there is one."""
        return self.function if feature is None else MethodType(self.function, feature.palace)
