"""What a robot may ask for, one request at a time, and how it is answered."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from memory_palace.cli.faults import FAULTS, describe
from memory_palace.cli.printing import to_json
from memory_palace.cli.search_answers import reading_record, session_record, step_record
from memory_palace.errors import PalaceError, UsageError
from memory_palace.navigation.loci import DEFAULT_ROOM
from memory_palace.navigation.node_list import check_node_list
from memory_palace.navigation.nodes import Pose2D
from memory_palace.navigation.reading import READ_BYTES
from memory_palace.navigation.schema import check_schema
from memory_palace.navigation.search_session import SearchSession
from memory_palace.navigation.searches import SearchPlan
from memory_palace.palace import Palace

_LINE = "a request is one JSON object on one line of at most 8 MiB"
_FIELDS: Mapping[str, frozenset[str]] = {
    "start": frozenset({"goal", "loci", "k", "constraints", "within", "half_life"}),
    "step": frozenset(),
    "observe": frozenset({"node", "seen", "metres", "found", "reject", "budget"}),
    "at": frozenset(),
    "status": frozenset(),
    "list": frozenset(),
    "goal": frozenset({"goal"}),
    "nodes": frozenset({"nodes", "room"}),
    "stop": frozenset(),
}
"""What each verb takes besides ``id``, ``do``, ``search`` and ``at``."""
_EVERYWHERE = frozenset({"id", "do", "search", "at"})
_NEEDED = {"start": "goal", "goal": "goal", "nodes": "nodes", "at": "at"}


class Requests:
    """Answers requests about the searches of one palace."""

    def __init__(self, palace: Palace) -> None:
        self._palace = palace
        self._search: str | None = None
        """The search that was named last; ``None`` for the one that was changed last."""
        self._position: Pose2D | None = None
        self.is_over = False
        self._verbs: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
            "start": self._start,
            "step": self._step,
            "observe": self._observe,
            "at": self._at,
            "status": self._status,
            "list": self._list,
            "goal": self._goal,
            "nodes": self._nodes,
            "stop": self._stop,
        }

    def answer(self, line: bytes) -> str:
        """Return the answer to a line, whatever it is: one line of JSON without its end."""
        identity = None
        try:
            value = _parse(line)
            identity = _identity_of(value)
            record = self._do(value)
        except PalaceError as error:
            return _refuse(identity, error, error.exit_code, str(error))
        except FAULTS as error:
            return _refuse(identity, error, PalaceError.exit_code, describe(error))
        return to_json({"id": identity, "ok": True, **record})

    def _do(self, value: dict[str, Any]) -> dict[str, Any]:
        if "do" not in value:
            raise UsageError(f'a request says what to "do": {", ".join(_FIELDS)}')
        check_schema(value, "request", where="request")
        verb = value["do"]
        unknown = sorted(value.keys() - _FIELDS[verb] - _EVERYWHERE)
        if unknown:
            raise UsageError(f"{verb!r} takes no {', '.join(unknown)}")
        needed = _NEEDED.get(verb)
        if needed is not None and needed not in value:
            raise UsageError(f"{verb!r} needs {needed}")
        if "at" in value:
            self._position = Pose2D(**{name: float(at) for name, at in value["at"].items()})
        return self._verbs[verb](value)

    def _start(self, value: Mapping[str, Any]) -> dict[str, Any]:
        plan = SearchPlan(
            on_loci=value.get("loci", False),
            k=value.get("k", 5),
            constraints=tuple(value.get("constraints", ())),
            position=self._position,
            within_metres=value.get("within"),
            half_life_days=value.get("half_life"),
        )
        return self._state(self._palace.searches.start(value["goal"], plan))

    def _step(self, value: Mapping[str, Any]) -> dict[str, Any]:
        searches = self._palace.searches
        session, record = searches.step(self._named(value), position=self._position)
        self._search = session.id
        return {"search": session.id, "step": step_record(record, session)}

    def _observe(self, value: Mapping[str, Any]) -> dict[str, Any]:
        searches, name, node = self._palace.searches, self._named(value), value.get("node")
        if len(value.keys() & {"seen", "found", "reject"}) > 1:
            raise UsageError("give only one of seen, found and reject")
        if "metres" in value and "seen" not in value:
            raise UsageError("metres go with seen")
        if "seen" in value:
            is_hit, metres = value["seen"], value.get("metres")
            at = self._position
            return self._state(
                searches.sight(name, node, is_hit=is_hit, distance_metres=metres, position=at)
            )
        if "found" in value:
            return self._state(searches.confirm(name, node, value["found"]))
        if "reject" in value:
            return self._state(searches.reject(name, node, " ".join(value["reject"].split())))
        budget = value.get("budget", READ_BYTES)
        session, reading = searches.read(name, node, budget_bytes=budget)
        return {**self._state(session), "reading": reading_record(reading)}

    def _at(self, value: Mapping[str, Any]) -> dict[str, Any]:
        return {"at": self._position.to_json() if self._position else None}

    def _status(self, value: Mapping[str, Any]) -> dict[str, Any]:
        session = self._palace.searches.show(self._named(value))
        self._search = session.id
        return {"search": session.id, "session": session_record(session)}

    def _list(self, value: Mapping[str, Any]) -> dict[str, Any]:
        current = self._search
        found = [self._state(session) for session in self._palace.searches.list()]
        self._search = current
        return {"searches": found}

    def _goal(self, value: Mapping[str, Any]) -> dict[str, Any]:
        return self._state(self._palace.searches.change_goal(self._named(value), value["goal"]))

    def _nodes(self, value: Mapping[str, Any]) -> dict[str, Any]:
        records = check_node_list(value["nodes"], where="nodes")
        room = value.get("room", DEFAULT_ROOM)
        done = self._palace.loci.load(records, room=room, apply=True)
        return {"changed": list(done.paths), "remark": done.remark}

    def _stop(self, value: Mapping[str, Any]) -> dict[str, Any]:
        self.is_over = True
        return {}

    def _named(self, value: Mapping[str, Any]) -> str | None:
        name: str | None = value.get("search", self._search)
        return name

    def _state(self, session: SearchSession) -> dict[str, Any]:
        """Return what has come of a search in few bytes; it is the one that is meant from now."""
        self._search = session.id
        belief, at = session.belief, session.position
        return {
            "search": session.id,
            "goal": belief["goal_text"],
            "target_status": belief["target_status"],
            "simulated": session.simulated,
            "position": at.to_json() if at else None,
        }


def _parse(line: bytes) -> dict[str, Any]:
    """Read a request; numbers are finite, and text can be written as UTF-8."""
    try:
        value = json.loads(line, parse_constant=_number, parse_float=_number)
        json.dumps(value, ensure_ascii=False).encode()
    except ValueError as error:
        raise UsageError(f"{_LINE}: {error}"[:300]) from error
    if not isinstance(value, dict):
        raise UsageError(_LINE)
    return value


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text:.20} is no JSON number")
    return value


def _identity_of(value: Mapping[str, Any]) -> str | int | float | None:
    identity = value.get("id")
    is_one = isinstance(identity, str | int | float) and not isinstance(identity, bool)
    return identity if is_one else None


def _refuse(identity: object, error: BaseException, code: int, message: str) -> str:
    """Return an error as references/schemas/error.json has it."""
    what = {"code": code, "kind": type(error).__name__, "message": message}
    return to_json({"id": identity, "ok": False, "error": what})
