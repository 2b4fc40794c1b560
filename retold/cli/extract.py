"""``retold extract``: ask for extractions, do them here, and look after those that wait."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import click

from retold.cli.document import echo_document, plain
from retold.cli.exits import DONE, PENDING
from retold.cli.opening import opened_for_extraction, opened_store
from retold.cli.options import GlobalOptions, global_options
from retold.cli.text import count
from retold.models import Principal

if TYPE_CHECKING:
    from retold.cli.opening import Settings
    from retold.operations.direct_runs import DirectRun
    from retold.operations.waiting_sessions import Selection
    from retold.runtime import MemoryRuntime
    from retold.store import Store

Action = Literal["list", "show", "retry", "drop"]
ACTIONS: Final[tuple[Action, ...]] = get_args(Action)


@dataclass(frozen=True, slots=True)
class Order:
    """What the command line asks for: a conversation, or an action on a selection."""

    selection: Selection | None
    action: Action
    sessions: tuple[str, ...]
    now: bool


@click.command(short_help="Extract a conversation, or look after those that wait.")
@click.argument("arguments", nargs=-1, metavar="[SESSION | ACTION [SESSION]...]")
@click.option("--pending", "selected", flag_value="pending", help="Act on what waits.")
@click.option("--stale", "selected", flag_value="stale", help="Act on what lost its worker.")
@click.option("--failed", "selected", flag_value="failed", help="Act on what was set aside.")
@click.option("--now", is_flag=True, help="Extract here, and wait for it.")
@click.option("--force", is_flag=True, help="Extract SESSION once more, from its transcript.")
@click.option("--user", metavar="ID", help="Whose SESSION, when several users have the id.")
@click.option("--agent", metavar="ID", help="With which agent, when several have the id.")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True)
@click.option("--after", metavar="ID", help="Go on after this session of the page before.")
@global_options
@click.pass_obj
def extract(
    options: GlobalOptions,
    *,
    arguments: tuple[str, ...],
    selected: Selection | None,
    now: bool,
    force: bool,
    user: str | None,
    agent: str | None,
    limit: int,
    after: str | None,
) -> int:
    """Ask for the extraction of SESSION, a segment's id or the host's own id of a conversation.

    Workers take it from the list, or this command with --now; one that was extracted is taken
    again with --force. With --pending, --stale or --failed, ACTION is list (unless given), show
    SESSION, retry [SESSION]... or drop SESSION..., and --now retries here. Exits with 5 when --now
    left a session unextracted.
    """
    order = _order(arguments, selected, now=now)
    if selected is not None and (force or user is not None or agent is not None):
        raise click.UsageError("--force, --user and --agent go with a SESSION, not with a list")
    if after is not None and (selected not in ("pending", "failed") or order.action != "list"):
        raise click.UsageError("--after goes on with a list; pass --pending or --failed")
    if selected is None:
        return _ask(options, order, user=user, agent=agent, force=force)
    if order.action == "list":
        return _list(options, selected, after=after, limit=limit)
    if order.action == "show":
        return _show(options, selected, order.sessions[0])
    return _change(options, order, selected)


def _order(arguments: Sequence[str], selected: Selection | None, *, now: bool) -> Order:
    """Return what is asked for. Raises UsageError for what does not fit together."""
    if selected is None:
        if len(arguments) == 1:
            return Order(None, "list", tuple(arguments), now)
        if not arguments or arguments[0] not in ACTIONS:
            raise click.UsageError("name one SESSION, or pass --pending, --stale or --failed")
        raise click.UsageError(f"`{arguments[0]}` of what? pass --pending, --stale or --failed")
    action, sessions = _action(arguments, now=now)
    if now and action != "retry":
        raise click.UsageError(f"--now extracts; it does not go with `{action}`")
    if action == "list" and sessions:
        raise click.UsageError("`list` takes no SESSION; `show SESSION` shows one")
    if action == "show" and len(sessions) != 1:
        raise click.UsageError("`show` takes one SESSION")
    if action == "drop" and not sessions:
        raise click.UsageError("`drop` takes the SESSIONs to drop")
    return Order(selected, action, sessions, now)


def _action(arguments: Sequence[str], *, now: bool) -> tuple[Action, tuple[str, ...]]:
    if not arguments:
        return ("retry" if now else "list"), ()
    for action in ACTIONS:
        if arguments[0] == action:
            return action, tuple(arguments[1:])
    raise click.UsageError(f"{arguments[0]!r} is no action; choose one of {', '.join(ACTIONS)}")


def _ask(
    options: GlobalOptions, order: Order, *, user: str | None, agent: str | None, force: bool
) -> int:
    from retold.cli.extract_text import asked_lines
    from retold.operations.requests import request_extraction

    (session,) = order.sessions
    with _opened(options, order) as site:
        if site.runtime is not None:
            _require_allowed(site.runtime, session, user=user, agent=agent)
        asked = request_extraction(
            site.store, session, actor=options.actor, user_id=user, agent_id=agent, force=force
        )
        done = site.attend([one.session_id for one in asked if one.is_on_list and one.ended])
    return _finish(options, {"asked": asked}, asked_lines(asked), done)


def _require_allowed(
    runtime: MemoryRuntime, session: str, *, user: str | None, agent: str | None
) -> None:
    """Raise HostedNotAllowed for words that the settings keep from the models."""
    from retold.operations.transcripts import find_segments

    with runtime.store.read() as tx:
        segments = find_segments(tx, session, user_id=user, agent_id=agent)
    owner = segments[0].session
    runtime.steps.require_allowed(Principal(owner.agent_id, owner.user_id))


def _change(options: GlobalOptions, order: Order, selection: Selection) -> int:
    from retold.cli.extract_text import changed_lines
    from retold.operations.waiting_sessions import drop_selected, retry_selected

    is_retry = order.action == "retry"
    change = retry_selected if is_retry else drop_selected
    with _opened(options, order) as site:
        config = site.settings.config
        changed = change(site.store, config, selection, order.sessions, actor=options.actor)
        due = [one.session_id for one in changed if is_retry and one.standing in ("due", "lost")]
        done = site.attend(due)
    lines = changed_lines(order.action, selection, changed)
    return _finish(options, {"sessions": changed}, lines, done)


@dataclass(frozen=True, slots=True)
class Attended:
    """What was done about sessions that are due: ``runs`` here, or else whom the bell told."""

    announced: int
    told: str | None
    runs: tuple[DirectRun, ...] | None = None


@dataclass(frozen=True, slots=True)
class Site:
    """An open store; with ``runtime`` what is due is done here."""

    store: Store
    settings: Settings
    runtime: MemoryRuntime | None

    def attend(self, session_ids: Sequence[str]) -> Attended:
        """Do what is due here, or tell the workers, if there are any."""
        if self.runtime is not None:
            return Attended(0, None, tuple(_extracted(self.runtime, session_ids)))
        rung = _ring(self.store, self.settings, session_ids)
        return Attended(rung, _told(self.settings, session_ids, rung))


@contextmanager
def _opened(options: GlobalOptions, order: Order) -> Iterator[Site]:
    if not order.now:
        with opened_store(options) as (store, settings):
            yield Site(store, settings, None)
        return
    with opened_for_extraction(options) as (runtime, settings):
        runtime.steps.require_ready()  # before anything is asked for
        yield Site(runtime.store, settings, runtime)


def _extracted(runtime: MemoryRuntime, session_ids: Sequence[str]) -> Iterator[DirectRun]:
    from retold.cli.progress import Progress
    from retold.operations.direct_runs import run_here

    shown, total = Progress("extracted"), len(session_ids)
    try:
        shown.show(f"0 of {count(total, 'session')}", 0)
        for number, run in enumerate(run_here(runtime.store, runtime.steps, session_ids), start=1):
            shown.show(f"{number:,} of {count(total, 'session')}", number / total)
            yield run
    finally:
        shown.end()


def _finish(
    options: GlobalOptions, document: dict[str, Any], lines: Iterable[str], done: Attended
) -> int:
    """Print what was asked for and what became of it, and return the exit code."""
    from retold.cli.extract_text import left_line, run_lines, told_lines

    document |= {"announced": done.announced, "runs": done.runs}
    _print(options, document, [*lines, *told_lines(done.told), *run_lines(done.runs or ())])
    left = [run for run in done.runs or () if not run.is_done]
    if left:
        click.echo(f"retold: {left_line(left)}", err=True)
    return PENDING if left else DONE


def _ring(store: Store, settings: Settings, session_ids: Sequence[str]) -> int:
    """Tell the workers, if there are any; return how many announcements their queue took."""
    from retold.queue import HueyQueue, queue_path

    cfg = settings.config.queue
    if cfg.backend != "huey" or not session_ids:
        return 0
    bell = HueyQueue(
        queue_path(store.path, cfg.directory, "extraction"),
        timeout_ms=cfg.enqueue_timeout_ms,
        max_pending=cfg.max_pending,
    )
    return bell.announce(session_ids)


def _told(settings: Settings, session_ids: Sequence[str], rung: int) -> str | None:
    """Return who knows of what is due now; None when nothing is."""
    if not session_ids:
        return None
    backend = settings.config.queue.backend
    if backend == "huey":
        return "the workers" if rung else "nobody yet: the workers find it when they sweep"
    later = " and an application finds it when it extracts its next one"
    return (
        f"nobody: queue.backend is {backend} ({settings.configured}), so there are no workers"
        f"{later if backend == 'thread' else ''}; `--now` extracts it here"
    )


def _print(options: GlobalOptions, document: object, lines: Iterable[str]) -> None:
    if options.as_json:
        echo_document(document)
    else:
        click.echo("\n".join(lines))


def _list(options: GlobalOptions, selection: Selection, *, after: str | None, limit: int) -> int:
    from retold.cli.extract_text import page_lines
    from retold.operations.waiting_sessions import list_selected

    with opened_store(options) as (store, settings):
        page = list_selected(store, settings.config, selection, after=after, limit=limit)
    _print(options, page, page_lines(selection, page))
    return DONE


def _show(options: GlobalOptions, selection: Selection, name: str) -> int:
    from retold.cli.extract_text import shown_lines
    from retold.operations.waiting_sessions import show_selected

    with opened_store(options) as (store, settings):
        session, events = show_selected(store, settings.config, selection, name)
    document = {**plain(session), "events": plain(events)}
    _print(options, document, shown_lines(session, document["events"]))
    return DONE
