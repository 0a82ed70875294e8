"""ledger.jsonl: what happened to a session, one event a line, each line bound to the one before it.

A line is canonical JSON; `previous` is the SHA-256 of the line before it, `digest` that of the line itself without its
`digest`.  So an edit, a line taken out, put in or moved, and a file cut inside a line are all seen.  Whole lines taken
off the end leave a shorter valid ledger: who must exclude that keeps the last digest elsewhere and gives it as `head`.
Nobody signs: the ledger shows accidents and careless edits, not a forger who writes all of it anew.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from steelyard.errors import DataError, SessionError
from steelyard.formats.atomic import write_atomically
from steelyard.session.disk import locked, spoken
from steelyard.session.schema import Count, Entry, InsidePath, Name, Sha256, Utc
from steelyard.session.strict_json import parse_json, read_bytes, validated

LEDGER = "ledger.jsonl"
FIRST = "0" * 64
"""What the first event names as the line before it."""
_CURE = "take the session from a backup: what happened to it cannot be told from this ledger"


class Event(Entry):
    """One line of the ledger."""

    sequence: Count
    time: Utc
    event: Name
    actor: Name
    """The program and its version."""
    previous: Sha256
    payloads: dict[InsidePath, Sha256 | None]
    """Path inside the session, and SHA-256 of the file after the event; null when it was removed."""
    digest: Sha256


def verify(path: str | os.PathLike[str], *, head: str | None = None) -> tuple[Event, ...]:
    """All events of the ledger at `path`, every link of the chain checked.

    Args:
        path: the file.
        head: the digest of an event that must be there, kept from an earlier look.

    Raises:
        SessionError: with the line at which the chain breaks.
    """
    where = os.fspath(path)
    events = parse(read_bytes(path), where=where)
    if head is not None and head not in {event.digest for event in events}:
        raise SessionError("events are missing at the end", where=where, value=f"no event {head}", cure=_CURE)
    return events


def append(
    path: str | os.PathLike[str], event: str, *, time: str, actor: str, payloads: Mapping[str, str | None]
) -> Event:
    """Add an event; a crash leaves the ledger without it or with it, and several writers lose none.

    Args:
        path: the file; made when it is not there.
        event: what happened, e.g. ``reviewed``.
        time: UTC, e.g. 2026-09-03T08:15:00Z.
        actor: program and version.
        payloads: path inside the session -> SHA-256 of the file (None: removed).

    Raises:
        SessionError: a broken chain, an event that breaks the schema, a disk that refuses.
    """
    target = Path(path)
    with spoken(target), locked(target.parent):
        before = read_bytes(target) if os.path.lexists(target) else b""
        after = extended(before, event, time=time, actor=actor, payloads=payloads, where=str(target))
        rewrite(target, after)
    return parse(after, where=str(target))[-1]


def rewrite(path: Path, ledger: bytes) -> None:
    """Put a longer ledger in the place of the old one, at once; raises SessionError when the disk refuses."""
    try:
        write_atomically(path, [ledger])
    except DataError as error:
        raise SessionError(error.what, where=error.where, value=error.value, cure=error.cure) from None


def extended(
    ledger: bytes, event: str, *, time: str, actor: str, payloads: Mapping[str, str | None], where: str
) -> bytes:
    """The bytes of a ledger (empty for none) with one event more; raises SessionError as `append`."""
    events = parse(ledger, where=where) if ledger else ()
    fields = {
        "sequence": len(events),
        "time": time,
        "event": event,
        "actor": actor,
        "previous": _sha256(_line(events[-1])) if events else FIRST,
        "payloads": dict(sorted(payloads.items())),
    }
    draft = validated(Event, {**fields, "digest": FIRST}, where=where)
    return ledger + _line(draft.model_copy(update={"digest": _own_digest(draft)})) + b"\n"


def parse(ledger: bytes, *, where: str) -> tuple[Event, ...]:
    """The events in the bytes of a ledger, every link checked; raises SessionError as `verify`."""
    *lines, rest = ledger.split(b"\n")
    if not lines or rest:
        raise SessionError("the last line is not whole", where=f"{where}, line {len(lines) + 1}", cure=_CURE)
    events: list[Event] = []
    previous = FIRST
    for number, line in enumerate(lines):
        place = f"{where}, line {number + 1}"
        event = parse_json(line, Event, where=place)
        if line != _line(event) or event.digest != _own_digest(event):
            raise SessionError("the event was edited", where=place, value=event.event, cure=_CURE)
        if event.sequence != number or event.previous != previous:
            raise SessionError(
                "this event does not follow the one before it: events were removed, added or moved",
                where=place,
                value=f"event {event.sequence} after {number} event(s)",
                cure=_CURE,
            )
        previous = _sha256(line)
        events.append(event)
    return tuple(events)


def latest(events: tuple[Event, ...]) -> dict[str, str]:
    """Path -> SHA-256 of every file as it should be after all events."""
    state: dict[str, str | None] = {}
    for event in events:
        state.update(event.payloads)
    return {path: digest for path, digest in sorted(state.items()) if digest is not None}


def _line(event: Event) -> bytes:
    return _canonical(event.model_dump(mode="json"))


def _own_digest(event: Event) -> str:
    return _sha256(_canonical(event.model_dump(mode="json", exclude={"digest"})))


def _canonical(fields: Mapping[str, object]) -> bytes:
    return json.dumps(fields, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
