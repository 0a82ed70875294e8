"""The ledger: whatever is done to it afterwards is seen, and no event that was reported is lost."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults import failing_disk, in_killed_child
from steelyard.errors import SessionError
from steelyard.session.ledger import FIRST, append, extended, latest, parse, verify

TIME = "2026-09-03T08:15:00Z"
ACTOR = "steelyard 0.1.0"
A, B = "a" * 64, "b" * 64


def chain(count: int) -> bytes:
    ledger = b""
    for k in range(count):
        payloads = {"result.json": f"{k:064x}", "raw/肘.csv": A}
        ledger = extended(ledger, f"event {k}", time=TIME, actor=ACTOR, payloads=payloads, where="ledger")
    return ledger


def write(path, data):
    path.write_bytes(data)
    return path


def test_events_are_numbered_and_linked(tmp_path):
    path = tmp_path / "ledger.jsonl"
    one = append(path, "created", time=TIME, actor=ACTOR, payloads={"z": A, "raw.csv": B})
    two = append(path, "reviewed", time=TIME, actor=ACTOR, payloads={})
    assert verify(path) == (one, two)
    assert (one.sequence, one.previous, two.sequence) == (0, FIRST, 1)
    assert list(one.payloads) == ["raw.csv", "z"]
    assert two.previous not in (FIRST, one.digest)  # of the whole line, its digest included


def test_the_same_events_give_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        append(tmp_path / name, "created", time=TIME, actor=ACTOR, payloads={"raw.csv": A})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_earlier_lines_are_never_touched(tmp_path):
    path = write(tmp_path / "ledger.jsonl", chain(3))
    append(path, "more", time=TIME, actor=ACTOR, payloads={})
    assert path.read_bytes().startswith(chain(3))


def test_the_state_is_what_the_last_events_say():
    ledger = extended(b"", "a", time=TIME, actor=ACTOR, payloads={"x": A, "y": A}, where="")
    ledger = extended(ledger, "b", time=TIME, actor=ACTOR, payloads={"x": None, "z": B}, where="")
    assert latest(parse(ledger, where="")) == {"y": A, "z": B}


def test_every_flipped_bit_is_seen():
    ledger = chain(2)
    for bit in range(8 * len(ledger)):
        flipped = bytearray(ledger)
        flipped[bit // 8] ^= 1 << (bit % 8)
        with pytest.raises(SessionError):
            parse(bytes(flipped), where="ledger")


def test_deletion_and_order_are_seen():
    lines = chain(4).splitlines(keepends=True)
    for k in range(3):
        with pytest.raises(SessionError, match=f"line {k + 1}"):
            parse(b"".join(lines[:k] + lines[k + 1 :]), where="ledger")
    for i in range(4):
        for j in range(i):
            swapped = list(lines)
            swapped[i], swapped[j] = lines[j], lines[i]
            with pytest.raises(SessionError, match=f"line {j + 1}.*does not follow"):
                parse(b"".join(swapped), where="ledger")
    with pytest.raises(SessionError, match="line 2"):
        parse(lines[0] * 2, where="ledger")


def test_a_line_from_another_ledger_is_seen():
    other = extended(b"", "event 0", time=TIME, actor="someone else", payloads={}, where="")
    forged = other + chain(2).splitlines(keepends=True)[1]
    with pytest.raises(SessionError, match="line 2"):
        parse(forged, where="ledger")


def test_every_cut_inside_a_line_is_seen():
    ledger = chain(2)
    ends = {k + 1 for k, byte in enumerate(ledger) if byte == 10}
    for size in range(len(ledger)):
        if size not in ends:
            with pytest.raises(SessionError):
                parse(ledger[:size], where="ledger")


def test_lines_off_the_end_are_seen_by_who_kept_the_head(tmp_path):
    path = write(tmp_path / "ledger.jsonl", chain(3))
    head = verify(path)[-1].digest
    assert len(verify(path, head=head)) == 3
    append(path, "more", time=TIME, actor=ACTOR, payloads={})
    assert len(verify(path, head=head)) == 4
    write(path, chain(2))
    assert len(verify(path)) == 2
    with pytest.raises(SessionError, match="missing at the end"):
        verify(path, head=head)


@pytest.mark.parametrize("key", ["time", "event", "actor", "payloads", "sequence", "previous", "digest"])
def test_a_line_edited_with_care_is_seen(key):
    """The editor keeps the form; what he cannot keep without writing all later lines anew is the chain."""
    first, second = chain(2).splitlines()
    fields = json.loads(first)
    fields[key] = {"time": "2027-01-01T00:00:00Z", "payloads": {}, "sequence": 7}.get(key, B)
    edited = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
    with pytest.raises(SessionError, match="line 1"):
        parse(edited + b"\n" + second + b"\n", where="ledger")


@pytest.mark.parametrize("data", [b"", b"\n", b"{}\n", b"[]\n", b"null\n", b"\xff\n", b"{" * 9999 + b"\n", b"x"])
def test_what_is_no_ledger_is_refused(tmp_path, data):
    with pytest.raises(SessionError) as caught:
        verify(write(tmp_path / "ledger.jsonl", data))
    assert "ledger.jsonl" in caught.value.where


def test_a_broken_ledger_gets_no_further_event(tmp_path):
    path = write(tmp_path / "ledger.jsonl", chain(2)[:-1])
    with pytest.raises(SessionError):
        append(path, "more", time=TIME, actor=ACTOR, payloads={})
    assert path.read_bytes() == chain(2)[:-1]


@pytest.mark.parametrize(
    "wrong",
    [
        {"time": "yesterday"}, {"actor": ""}, {"payloads": {"raw.csv": "short"}}, {"payloads": {"/etc/x": A}},
        {"payloads": {"a/../../x": A}},
    ],
)  # fmt: skip
def test_an_event_that_breaks_the_schema_is_refused(tmp_path, wrong):
    with pytest.raises(SessionError):
        append(tmp_path / "ledger.jsonl", "e", **{"time": TIME, "actor": ACTOR, "payloads": {}, **wrong})
    assert os.listdir(tmp_path) == []


@given(st.text(min_size=1, max_size=50, alphabet=st.characters(exclude_categories=["Cs"])))
def test_any_text_comes_back(text):
    (event,) = parse(extended(b"", text, time=TIME, actor=text, payloads={}, where=""), where="")
    assert (event.event, event.actor) == (text, text)


def test_several_writers_lose_nothing(tmp_path):
    """Unlocked, most of the updates of eight writers are lost."""
    path = tmp_path / "ledger.jsonl"
    children = []
    for writer in range(8):
        child = os.fork()
        if child == 0:
            try:
                for k in range(8):
                    append(path, f"{writer} {k}", time=TIME, actor=ACTOR, payloads={})
            finally:
                os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    assert {event.event for event in verify(path)} == {f"{w} {k}" for w in range(8) for k in range(8)}


def test_a_full_disk_or_a_kill_leaves_the_ledger_without_the_event_or_with_it(tmp_path):
    path = tmp_path / "ledger.jsonl"
    seen = set()
    for at in range(1, 100):
        write(path, chain(2))
        with failing_disk(lambda step, at=at: step == at) as disk:
            try:
                append(path, "more", time=TIME, actor=ACTOR, payloads={})
            except SessionError:
                assert [name for name in os.listdir(tmp_path) if name.endswith(".tmp")] == []
        if not disk.failed:
            break
        seen.add(len(verify(path)))
        write(path, chain(2))
        assert in_killed_child(lambda: append(path, "more", time=TIME, actor=ACTOR, payloads={}), at)
        seen.add(len(verify(path)))
        for name in os.listdir(tmp_path):
            if name.endswith(".tmp"):
                os.unlink(tmp_path / name)
    assert 4 < at < 99
    assert seen == {2, 3}
