"""How requests for extraction, the list of what waits, and runs read on a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from retold.cli.record_text import event_lines, minute
from retold.cli.text import clean, count, labelled
from retold.operations.direct_runs import DirectRun
from retold.operations.requests import Answer, Asked
from retold.operations.waiting_sessions import Selection, WaitingPage, WaitingSession

_ANSWERS: Final[Mapping[Answer, tuple[str, str]]] = {
    "requested": ("asked", "waits for extraction from now on"),
    "put_back": ("put back", "was set aside and has all its attempts again"),
    "again": ("again", "is extracted once more, from its transcript"),
    "waits_already": ("waits", "had been asked for before"),
    "extracted": ("left", "was extracted already"),
    "no_transcript": ("left", "keeps no transcript"),
    "words_gone": ("left", "has lost its words"),
}
_EMPTY: Final[Mapping[Selection, str]] = {
    "pending": "no session waits for extraction",
    "stale": "no session lost its worker",
    "failed": "no session was set aside",
}
_COUNTS: Final = {
    "proposed": "proposed",
    "written": "written",
    "reinforced": "said again",
    "already_reinforced": "known already",
    "superseded": "replaced",
    "conflicting": "in conflict",
    "rejected": "rejected",
}


def asked_lines(asked: Sequence[Asked]) -> Iterator[str]:
    """Yield what became of a wish, segment by segment."""
    for one in asked:
        label, text = _ANSWERS[one.answer]
        yield from labelled(label, f"{_name(one.external_id, one.segment)} {text}")
        yield from labelled("", one.session_id)
        if one.is_on_list and not one.ended:
            yield from labelled("", "not before its conversation has ended")


def told_lines(told: str | None) -> Iterator[str]:
    """Yield who knows of what is due now; nothing for None."""
    if told is not None:
        yield from labelled("told", told)


def page_lines(selection: Selection, page: WaitingPage) -> Iterator[str]:
    """Yield a page of a selection, and how to go on."""
    if not page.sessions:
        yield _EMPTY[selection]
    for number, one in enumerate(page.sessions, start=1):
        yield from session_lines(str(number), one)
    if page.next is not None:
        yield ""
        yield from labelled("more", f"the same with --after {page.next}")


def session_lines(label: str, one: WaitingSession) -> Iterator[str]:
    """Yield one session of the list."""
    yield from labelled(label, clean(one.external_id), indent=4)
    facts = [f"{clean(one.user_id)} with {clean(one.agent_id)}", _standing(one)]
    if one.mode == "rerun":
        facts.append("once more")
    if one.stage == "review":
        facts.append("the review is left")
    if one.attempts:
        facts.append(count(one.attempts, "attempt"))
    if one.error is not None:
        facts.append(f"last failure {one.error}")
    yield from labelled("", " · ".join(facts), indent=4)
    yield from labelled("", one.session_id, indent=4)


def shown_lines(one: WaitingSession, events: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield one session of the list with everything that happened to it."""
    yield from session_lines("", one)
    yield from event_lines(events)


def changed_lines(
    action: str, selection: Selection, changed: Sequence[WaitingSession]
) -> Iterator[str]:
    """Yield what was made due or dropped."""
    if not changed:
        yield _EMPTY[selection]
        return
    for number, one in enumerate(changed, start=1):
        if action == "drop":
            yield from labelled("dropped", clean(one.external_id))
            yield from labelled("", one.session_id)
        else:
            yield from session_lines(str(number), one)


def run_lines(runs: Sequence[DirectRun]) -> Iterator[str]:
    """Yield what each run found, or what kept it from its end."""
    for run in runs:
        name = clean(run.external_id)
        if not run.is_done:
            yield from labelled("left", f"{name}: {_left(run)}")
            if run.says is not None:
                yield from labelled("", clean(run.says))
            continue
        told = _counts(run.found, _COUNTS) or "nothing to keep"
        yield from labelled("extracted", f"{name}: {told}")
        if reasons := _counts(run.found.get("rejections"), None):
            yield from labelled("", f"rejected: {reasons}")
        if calls := _number(run.found.get("calls")):
            tokens = sum(_number(run.found.get(f"{side}_tokens")) for side in ("input", "output"))
            yield from labelled("", f"{count(calls, 'call')}, {count(tokens, 'token')}")


def _counts(found: object, words: Mapping[str, str] | None) -> str:
    """Return the numbers above 0 with their words; ``words`` None takes the names themselves."""
    if not isinstance(found, Mapping):
        return ""
    names = words or {str(name): str(name) for name in sorted(found)}
    return ", ".join(
        f"{number:,} {word}" for name, word in names.items() if (number := _number(found.get(name)))
    )


def left_line(left: Sequence[DirectRun]) -> str:
    """Return one line about the sessions that were not extracted, and what to do."""
    reasons = Counter(run.reason for run in left)
    told = ", ".join(f"{reason}" for reason, _ in reasons.most_common())
    aside = sum(run.done == "set_aside" for run in left)
    advice = (
        "`retold extract --failed` lists them"
        if aside == len(left)
        else "the list keeps what is left: `retold extract --pending`"
    )
    return f"{count(len(left), 'session')} not extracted ({told}); {advice}"


def _left(run: DirectRun) -> str:
    if run.done == "set_aside":
        return f"set aside ({run.reason}); `retold extract --failed retry` tries again"
    if run.next_at is not None:
        return f"{run.reason}; due again at {_at(run.next_at)}"
    return str(run.reason)


def _standing(one: WaitingSession) -> str:
    since = "" if one.requested_at is None else f" since {_at(one.requested_at)}"
    if one.standing == "due":
        return f"waits{since}"
    if one.standing == "open":
        return "waits for its end"
    if one.standing == "later" and one.next_at is not None:
        return f"waits until {_at(one.next_at)}"
    if one.standing == "set_aside" and one.failed_at is not None:
        return f"set aside {_at(one.failed_at)}"
    heard = "" if one.claimed_at is None else f", last heard of {_at(one.claimed_at)}"
    return f"worked on{heard}" if one.standing == "worked_on" else f"lost its worker{heard}"


def _name(external_id: str, segment: int) -> str:
    return clean(external_id) + (f", segment {segment}," if segment > 1 else "")


def _at(moment: datetime) -> str:
    return minute(moment.isoformat())


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
