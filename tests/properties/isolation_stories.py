"""Short chains of calls that lead to the places where scopes meet.

Random calls alone seldom make a claim that moves from one scope to another, a disagreement across
scopes, or a grant that goes away while a search runs. Each rule here makes one such world inside
the larger one and reads it with somebody who may see only a part.
"""

from __future__ import annotations

from contextlib import suppress

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from retold import EntityAmbiguous, EntityMention, NotFound, Principal, Scope
from retold.models import WriteRequest
from retold.testing import CountingIds

UNKNOWN = CountingIds.nth(999_999)
NAMES = ("Alex", "Robin", "Tower")


class MeanwhileReranker:
    """Keep the order, and do once what a test wants done between ranking and answering."""

    name = "meanwhile"

    def __init__(self) -> None:
        self.meanwhile = None

    def score(self, query: str, docs: list[str]) -> list[float]:
        action, self.meanwhile = self.meanwhile, None
        if action is not None:
            action()
        return [1.0] * len(docs)


class Stories:
    """Rules for the state machine that knows grants, scopes and markers."""

    def let(self, agent: str, scope: Scope, *, read: bool = False, write: bool = False) -> None:
        """Set a grant to exactly this, here and in the oracle."""
        if read or write:
            self.retold.host.grant(agent, scope, read=read, write=write)
            self.grants[agent, scope] = (read, write)
        elif self.grants.pop((agent, scope), None) is not None:
            self.retold.host.revoke(agent, scope)

    def claim(self, who: Principal, scope: Scope, words: str, **options: object) -> str:
        """Write as a principal and return the id; a refusal is a mistake of the story."""
        self.words += 1
        marker = f"mk{self.words}x"
        self.markers[marker] = scope
        self.session(who)
        request = WriteRequest(
            type="semantic", content=f"{words} {marker}", scope=scope, attribute="drink", **options
        )
        result = self.retold.runtime.ingestor.write(who, request)
        self.created[who].add(result.record_id)
        self.known_ids.append(result.record_id)
        return result.record_id

    def as_host(self, scope: Scope, content: str, **options: object) -> str | None:
        """Write as the application; None when a name stands for two entities there."""
        with suppress(EntityAmbiguous):
            result = self.retold.host.write(scope, content, **options)
            self.known_ids.append(result.record_id)
            return result.record_id
        return None

    def read_everything(self, who: Principal, *ids: str) -> None:
        """Read these records by every door; ``attempt`` holds the answers against the oracle."""
        session = self.session(who)
        for record_id in ids:
            self.attempt(who, lambda one=record_id: session.get(one), record_id)
            self.attempt(who, lambda one=record_id: session.history(one), record_id)
        self.attempt(who, lambda: session.list(limit=50))
        self.attempt(who, lambda: session.search("somebody drink tea", k=20))
        self.attempt(who, lambda: session.search("somebody drink tea", k=20, include_history=True))

    # -- claims and disagreements that cross scopes --------------------------------------------

    @rule(
        agent=st.sampled_from(("planner", "coder")),
        user=st.sampled_from(("ana", "bo")),
        as_user=st.booleans(),
    )
    def a_claim_moves_to_the_user_scope(self, agent, user, as_user) -> None:
        """The first claim is private; after a grant the second lands in the user scope.

        The second replaces the first, or disagrees with it when the first has more authority.
        Then one agent may see only the private side, another only the user's.
        """
        who, scope = Principal(agent, user, "chat"), Scope("user", user)
        self.retold.runtime.clock.advance(days=1)
        self.let(agent, scope)
        stronger = "user_statement" if as_user else "agent_inference"
        words = "Somebody likes tea"
        quote = {"source_kind": stronger}
        if as_user:
            self.session(who).turn("user", words)
            quote["evidence"] = words
        private = self.claim(who, who.private_scope, words, **quote)
        self.let(agent, scope, read=True, write=True)
        self.retold.runtime.clock.advance(days=1)
        shared = self.claim(who, scope, "Somebody hates tea", source_kind="agent_inference")
        self.read_everything(who, private, shared)
        self.let("critic", scope, read=True)
        self.read_everything(Principal("critic", user, "chat"), private, shared)
        self.let(agent, scope)
        self.created[who].discard(shared)
        self.read_everything(who, private, shared)

    @rule(agent=st.sampled_from(("planner", "coder")), user=st.sampled_from(("ana", "bo")))
    def a_search_loses_its_grant(self, agent, user) -> None:
        """What was found before the grant went away is not shown after it.

        While it lasts it is a grant to read, so the record cannot be changed either.
        """
        who, scope = Principal(agent, user, "chat"), Scope("project", "apollo")
        self.let(agent, scope, read=True)
        theirs = self.as_host(scope, self.sentence(scope, "likes", "tea"), dedup=False)
        self.must_not_change(who, theirs)
        self.reranker.meanwhile = lambda: self.let(agent, scope)
        self.attempt(who, lambda: self.session(who).search("somebody likes tea", k=20))
        self.reranker.meanwhile = None
        self.let(agent, scope)

    # -- scopes that may be written but not read -----------------------------------------------

    @rule(
        user=st.sampled_from(("ana", "bo")),
        scope=st.sampled_from((Scope("project", "apollo"), Scope("org", "acme"))),
        same_words=st.booleans(),
    )
    def a_write_through_a_door_without_a_window(self, user, scope, same_words) -> None:
        """Neither names nor claims of a scope that may only be written become known."""
        who = Principal("critic", user, "chat")
        self.let("critic", scope, write=True)
        content = self.sentence(scope, "likes", "tea")
        theirs = self.as_host(scope, content)
        # Two entities of one name, as files of version 1 hold them.
        name = f"Door {self.words}"
        with self.retold.store.write() as tx:
            for _ in "ab":
                tx.entities.insert("person", name, scope, [name.lower()])
        again = content if same_words else self.sentence(scope, "hates", "tea")
        self.attempt(who, lambda: self.write_as(who, scope, again, name))
        self.must_not_change(who, theirs)
        self.let("critic", scope)

    def write_as(self, who: Principal, scope: Scope, content: str, name: str) -> object:
        self.session(who)
        request = WriteRequest(
            type="semantic",
            content=content,
            scope=scope,
            attribute="drink",
            source_kind="agent_inference",
            mentions=(EntityMention("person", name, "about"),),
        )
        result = self.retold.runtime.ingestor.write(who, request)
        if result.record_id not in self.known_ids:
            self.created[who].add(result.record_id)
            self.known_ids.append(result.record_id)
        return result

    @rule(
        scope=st.sampled_from((Scope("project", "apollo"), Scope("user", "dee"))),
        name=st.sampled_from(NAMES),
    )
    def two_entities_share_a_name(self, scope, name) -> None:
        """Files of version 1 hold such pairs; the resolver itself never makes one."""
        with self.retold.store.write() as tx:
            tx.entities.insert("person", name, scope, [name.lower()])

    # -- entities by id ------------------------------------------------------------------------

    @precondition(lambda self: self.retold is not None)
    @rule(who_is=st.sampled_from(("ana", "bo", "chen")), data=st.data())
    def name_an_entity_by_its_id(self, who_is, data) -> None:
        """An entity that the writer cannot read is answered like one that does not exist."""
        who = Principal("coder", who_is, "chat")
        with self.retold.store.read() as tx:
            rows = list(
                tx.run(
                    "select e.id, e.canonical, s.kind, s.id from entities as e "
                    "join scopes as s on s.code = e.scope_code "
                    "where e.status in ('provisional', 'confirmed') and e.kind = 'person' "
                    "and e.principal_user_id is null order by e.seq desc limit 12"
                )
            )
        if not rows:
            return
        entity_id, canonical, kind, scope_id = data.draw(st.sampled_from(rows))
        answer = self.attempt(who, lambda: self.write_about(who, canonical, entity_id), entity_id)
        if Scope(kind, scope_id) not in self.readable(who):
            unknown = self.attempt(who, lambda: self.write_about(who, canonical, UNKNOWN), UNKNOWN)
            assert isinstance(answer, NotFound), "a foreign entity was taken"
            assert str(answer).replace(entity_id, UNKNOWN) == str(unknown)

    def write_about(self, who: Principal, name: str, entity_id: str) -> object:
        self.session(who)
        request = WriteRequest(
            type="semantic",
            content=self.sentence(who.private_scope, "needs", "a rest"),
            scope=who.private_scope,
            attribute="need",
            source_kind="agent_inference",
            mentions=(EntityMention("person", name, "about", entity_id),),
        )
        result = self.retold.runtime.ingestor.write(who, request)
        self.created[who].add(result.record_id)
        self.known_ids.append(result.record_id)
        return result

    @rule(data=st.data())
    def a_record_links_to_an_entity_of_another_scope(self, data) -> None:
        """Files of version 1 hold such links; nothing but reading must cope with them."""
        with self.retold.store.read() as tx:
            records = [
                row[0] for row in tx.run("select seq from records order by seq desc limit 9")
            ]
            entities = [
                row[0] for row in tx.run("select id from entities order by seq desc limit 9")
            ]
        if not records or not entities:
            return
        seq, entity_id = data.draw(st.sampled_from(records)), data.draw(st.sampled_from(entities))
        with self.retold.store.write() as tx:
            tx.entities.link(seq, entity_id, "mentions")

    @rule(user=st.sampled_from(("ana", "bo")))
    def a_merge_touches_a_record_of_another_scope(self, user) -> None:
        """Who merges two entities hears of the records they may read, not of all that moved."""
        who, scope = Principal("planner", user, "chat"), Scope("project", "apollo")
        stranger = Principal("critic", user, "chat")
        private = self.claim(
            stranger, stranger.private_scope, "Somebody owns tea", source_kind="agent_inference"
        )
        self.words += 1
        with self.retold.store.write() as tx:
            (seq,) = tx.one("select seq from records where id = :id", {"id": private})
            one, two = (
                tx.entities.insert("person", name, scope, [name]).id
                for name in (f"one {self.words}", f"two {self.words}")
            )
            tx.entities.link(seq, one, "mentions")
        self.let("planner", scope, read=True, write=True)
        self.attempt(who, lambda: self.session(who).merge(one, two, reason="same"), one, two)

    # -- changing what is not one's own --------------------------------------------------------

    def state_of(self, table: str, public_id: str) -> object:
        """Return the whole row of a record or an entity."""
        with self.retold.store.read() as tx:
            return tx.one(f"select * from {table} where id = :id", {"id": public_id})

    def may_change(self, who: Principal, scope: object) -> bool:
        """Return whether the principal may both read and write the scope."""
        own = scope == who.private_scope
        rights = self.grants.get((who.agent_id, scope), (False, False))
        return own or (scope in self.readable(who) and rights == (True, True))

    def must_not_change(self, who: Principal, record_id: str) -> None:
        """Try to change a record without the rights; it stays as it is, and as good as unknown."""
        before = self.state_of("records", record_id)
        session = self.session(who)
        for call in (
            lambda: session.revise(record_id, "expire", reason="why"),
            lambda: session.forget(record_id),
        ):
            self.must_be_unknown(self.attempt(who, call, record_id), record_id)
            assert self.state_of("records", record_id) == before

    def must_be_unknown(self, answer: object, record_id: str) -> None:
        """Fail unless the answer is exactly what a made-up id would get."""
        assert isinstance(answer, NotFound), f"answered with {type(answer).__name__}, not NotFound"
        assert str(answer).replace(record_id, UNKNOWN) == f"no record {UNKNOWN!r}"
