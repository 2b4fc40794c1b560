"""``retold sessions``: take transcripts in, list conversations, show what was said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retold.cli.document import echo_document, plain
from retold.cli.opening import opened_store
from retold.cli.options import GlobalOptions, global_options
from retold.cli.text import clean, count, labelled

if TYPE_CHECKING:
    from retold.operations.transcript_formats import TranscriptFormat
    from retold.operations.transcript_import import ImportProgress, ImportResult
    from retold.operations.transcripts import NumberedTurn, SessionPage, Transcript
    from retold.store.sessions import SegmentOverview


@click.group(invoke_without_command=True)
@global_options
@click.pass_context
def sessions(context: click.Context) -> None:
    """Take transcripts in, list conversations and show what was said."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@sessions.command("import", short_help="Take the conversations of a file in as history.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "format_",
    type=click.Choice(["cases", "jsonl"]),
    required=True,
    help="What the file holds: cases of an evaluation, or one turn a line.",
)
@click.option("--user", required=True, metavar="NAME", help="The user whose conversations it has.")
@click.option("--agent", default="assistant", metavar="ID", show_default=True, help="The agent.")
@click.option(
    "--speaker",
    "speakers",
    multiple=True,
    metavar="NAME",
    help="Another name under which the user speaks in cases.",
)
@global_options
@click.pass_obj
def import_(
    options: GlobalOptions,
    *,
    file: Path,
    format_: TranscriptFormat,
    user: str,
    agent: str,
    speakers: tuple[str, ...],
) -> None:
    """Take the conversations of FILE in as history: ended, and extracted only on request.

    Interrupted or not, the same command goes on where the store stands and imports no turn twice.
    """
    from retold.cli.progress import Progress
    from retold.operations.transcript_import import import_transcripts

    shown = Progress("read")

    def progress(state: ImportProgress) -> None:
        total = state.bytes_total
        share = state.bytes_read / total if total else None
        shown.show(count(state.turns, "turn"), share)

    with opened_store(options) as (store, _):
        try:
            result = import_transcripts(
                store,
                file,
                format=format_,
                user_id=user,
                agent_id=agent,
                speakers=speakers,
                actor=options.actor,
                progress=progress,
            )
        finally:
            shown.end()
    if options.as_json:
        echo_document(result)
    else:
        click.echo("\n".join(import_lines(result)))


def import_lines(result: ImportResult) -> Iterator[str]:
    """Yield the lines for people."""
    yield from labelled("file", f"{clean(result.file)}, {count(result.turns, 'turn')}")
    yield from labelled("of", f"{clean(result.user_id)} with {clean(result.agent_id)}")
    yield from labelled("imported", f"{result.imported:,}")
    yield from labelled("known", f"{result.known:,}")
    if result.skipped:
        yield from labelled("skipped", f"{count(result.skipped, 'instruction')} to the model")
    yield from labelled("sessions", f"{result.sessions:,} new")


@sessions.command("list")
@click.option("--user", metavar="ID", help="Only of this user.")
@click.option("--agent", metavar="ID", help="Only of this agent.")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True)
@click.option("--after", metavar="ID", help="Go on after this session of the page before.")
@global_options
@click.pass_obj
def list_(
    options: GlobalOptions, *, user: str | None, agent: str | None, limit: int, after: str | None
) -> None:
    """List sessions, newest first."""
    from retold.operations.transcripts import list_sessions

    with opened_store(options) as (store, _):
        page = list_sessions(store, user_id=user, agent_id=agent, after=after, limit=limit)
    if options.as_json:
        echo_document({"sessions": [session_row(one) for one in page.sessions], "next": page.next})
    else:
        click.echo("\n".join(list_lines(page)))


def session_row(one: SegmentOverview) -> dict[str, Any]:
    """Return a segment and what its turns span as one flat JSON object."""
    return {
        **plain(one.session),
        "recorded": one.recorded,
        "turns": one.turns,
        "first_at": plain(one.first_at),
        "last_at": plain(one.last_at),
    }


def list_lines(page: SessionPage) -> Iterator[str]:
    """Yield the lines for people."""
    if not page.sessions:
        yield "no session"
    for number, one in enumerate(page.sessions, start=1):
        yield from segment_lines(str(number), one)
    yield from _more(page.next)


def _more(following: str | None) -> Iterator[str]:
    """Yield how to go on after a page; nothing after the last one."""
    if following is not None:
        yield ""
        yield from labelled("more", f"the same with --after {following}")


def segment_lines(label: str, one: SegmentOverview) -> Iterator[str]:
    """Yield the lines of one segment."""
    session = one.session
    name = clean(session.external_id)
    segment = f", segment {session.segment}" if session.segment > 1 else ""
    yield from labelled(label, f"{name}{segment}", indent=4)
    facts = [
        f"{clean(session.user_id)} with {clean(session.agent_id)}",
        _span(one) if one.recorded else "keeps no transcript",
        "open" if session.ended_at is None else f"ended by {session.ended_by}",
    ]
    if session.extracted_at is not None:
        facts.append("extracted")
    elif session.extraction_requested_at is not None:
        facts.append("waits for extraction")
    yield from labelled("", " · ".join(facts), indent=4)
    yield from labelled("", session.id, indent=4)


def _span(one: SegmentOverview) -> str:
    turns = count(one.turns, "turn")
    if one.first_at is None or one.last_at is None:
        return turns
    first, last = f"{one.first_at:%Y-%m-%d %H:%M}", f"{one.last_at:%Y-%m-%d %H:%M}"
    return f"{turns} at {first} UTC" if first == last else f"{turns} from {first} to {last} UTC"


@sessions.command("show")
@click.argument("session")
@click.option("--user", metavar="ID", help="Whose, when several users have the id.")
@click.option("--agent", metavar="ID", help="With which agent, when several have the id.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True)
@click.option("--after", metavar="SEGMENT.TURN", help="Go on after this turn.")
@global_options
@click.pass_obj
def show(
    options: GlobalOptions,
    *,
    session: str,
    user: str | None,
    agent: str | None,
    limit: int,
    after: str | None,
) -> None:
    """Show what was said in SESSION.

    SESSION is an id that `retold sessions list` prints, or the host's own id of a conversation
    with all of its segments.
    """
    from retold.operations.transcripts import read_transcript

    with opened_store(options) as (store, _):
        found = read_transcript(
            store, session, user_id=user, agent_id=agent, after=after, limit=limit
        )
    if options.as_json:
        echo_document(
            {
                "segments": [session_row(one) for one in found.segments],
                "turns": [{**plain(one.turn), "segment": one.segment} for one in found.turns],
                "next": found.next,
            }
        )
    else:
        click.echo("\n".join(show_lines(found)))


def show_lines(found: Transcript) -> Iterator[str]:
    """Yield the lines for people: the segments, then every turn in full."""
    for one in found.segments:
        yield from segment_lines("", one)
    for turn in found.turns:
        yield ""
        yield from _turn_lines(turn)
    yield from _more(found.next)


def _turn_lines(one: NumberedTurn) -> Iterator[str]:
    turn = one.turn
    who = turn.role if turn.name is None else f"{turn.role} {clean(turn.name)}"
    facts = [who, f"{turn.at:%Y-%m-%d %H:%M} UTC"]
    if turn.tool_name is not None:
        facts.append(f"of {clean(turn.tool_name)}")
    if turn.origin not in ("dialogue", "tool"):
        facts.append(f"from {turn.origin}")
    if turn.external_key is not None:
        facts.append(f"key {clean(turn.external_key)}")
    yield from labelled(f"{one.segment}.{turn.turn}", " · ".join(facts), indent=8)
    for line in turn.content.splitlines() or ["(no words)"]:
        yield from labelled("", clean(line), indent=8)
