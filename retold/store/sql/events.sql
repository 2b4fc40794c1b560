-- name: head
-- The seq that the next event gets, as AUTOINCREMENT counts, and the hash that it follows.
select
  max(
    coalesce((select max(seq) from events), 0),
    coalesce((select seq from sqlite_sequence where name = 'events'), 0)
  ) + 1,
  (select hash from events order by seq desc limit 1);

-- name: insert
-- A new event; its hash covers the seq, which `head` told under the same lock.
insert into events(seq, id, at, kind, payload, payload_salt, payload_digest, prev_hash, hash)
values (:seq, :id, :at, :kind, :payload, :payload_salt, :payload_digest, :prev_hash, :hash);

-- name: insert_refs
-- Who acted on what, outside the hash so that erasure never breaks the chain.
insert into event_refs(seq, actor, record_id, entity_id, session_id, user_id)
values (:seq, :actor, :record_id, :entity_id, :session_id, :user_id);

-- name: list_for_record
-- The events of one record, oldest first.
select e.seq, e.id, e.at, e.kind, e.payload, e.hash,
  r.actor, r.record_id, r.entity_id, r.session_id, r.user_id
from event_refs as r
join events as e on e.seq = r.seq
where r.record_id = :record_id
order by e.seq;

-- name: list_for_entity
-- The events of one entity, oldest first.
select e.seq, e.id, e.at, e.kind, e.payload, e.hash,
  r.actor, r.record_id, r.entity_id, r.session_id, r.user_id
from event_refs as r
join events as e on e.seq = r.seq
where r.entity_id = :entity_id
order by e.seq;

-- name: list_for_session
-- The events of one segment, oldest first.
select e.seq, e.id, e.at, e.kind, e.payload, e.hash,
  r.actor, r.record_id, r.entity_id, r.session_id, r.user_id
from event_refs as r
join events as e on e.seq = r.seq
where r.session_id = :session_id
order by e.seq;

-- name: list_by_kind
-- One page of the events of one kind, oldest first.
select e.seq, e.id, e.at, e.kind, e.payload, e.hash,
  r.actor, r.record_id, r.entity_id, r.session_id, r.user_id
from events as e
left join event_refs as r on r.seq = e.seq
where e.kind = :kind and e.seq > :after_seq
order by e.seq
limit :limit;

-- name: list_since
-- One page of all events, oldest first.
select e.seq, e.id, e.at, e.kind, e.payload, e.hash,
  r.actor, r.record_id, r.entity_id, r.session_id, r.user_id
from events as e
left join event_refs as r on r.seq = e.seq
where e.seq > :after_seq
order by e.seq
limit :limit;

-- name: chain
-- One batch of links to verify, in order.
select seq, id, at, kind, payload, payload_salt, payload_digest, prev_hash, hash
from events
where seq > :after_seq
order by seq
limit :limit;

-- name: last_allocated
-- The greatest seq ever given out; more than the last row's when the tail was cut off.
select seq from sqlite_sequence where name = 'events';
