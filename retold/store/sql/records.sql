-- name: by_seqs
-- Whole rows by integer key, with the entity links as one JSON array of [entity id, role].
select
  r.seq, r.id, r.type, r.version, r.revision, r.content, r.subject, subject_entity.id,
  r.attribute, r.attribute_derived, r.scope_code, r.source_kind, r.source_ref,
  r.creator_agent_id, r.evidence, r.created_at, r.event_at, r.expires_at, r.valid_from,
  r.valid_until, r.review_at, r.review_flagged_at, r.closed_at, r.confidence, r.status,
  replaced.id, r.reinforcements, r.last_reinforced_at, r.temporary, r.activation, r.category,
  r.token_count, r.index_version, r.tags,
  (select json_group_array(linked.id)
   from (select e.id from record_entities as link
         join entities as e on e.seq = link.entity_seq
         where link.record_seq = r.seq
         order by link.role, e.seq) as linked)
from json_each(:seqs) as wanted
join records as r on r.seq = wanted.value
left join entities as subject_entity on subject_entity.seq = r.subject_entity_seq
left join records as replaced on replaced.seq = r.supersedes_seq;

-- name: seqs_by_ids
-- Integer keys of public ids.
select r.id, r.seq
from json_each(:ids) as wanted
join records as r on r.id = wanted.value;

-- name: insert
-- A new row; its links and evidence follow in their own statements.
insert into records (
  id, type, version, content, subject, subject_entity_seq, attribute, attribute_derived,
  scope_code, source_kind, source_ref, creator_agent_id, evidence,
  created_at, created_us, event_at, event_us, expires_at, expires_us,
  valid_from, valid_from_us, valid_until, valid_until_us, review_at, closed_at, closed_us,
  confidence, status, supersedes_seq, superseded_by_seq, last_reinforced_at, temporary,
  token_count, index_version, tags
) values (
  :id, :type, :version, :content, :subject,
  (select seq from entities where id = :subject_entity_id), :attribute, :attribute_derived,
  :scope_code, :source_kind, :source_ref, :creator_agent_id, :evidence,
  :created_at, :created_us, :event_at, :event_us, :expires_at, :expires_us,
  :valid_from, :valid_from_us, :valid_until, :valid_until_us, :review_at, :closed_at, :closed_us,
  :confidence, :status, (select seq from records where id = :supersedes_id),
  (select seq from records where id = :superseded_by_id), null, :temporary,
  :token_count, :index_version, :tags
);

-- name: update
-- Replace what may change in a row's life; every update bumps the revision.
update records set
  revision = revision + 1,
  index_version = :index_version,
  status = :status,
  source_kind = :source_kind,
  source_ref = :source_ref,
  evidence = :evidence,
  confidence = :confidence,
  expires_at = :expires_at, expires_us = :expires_us,
  closed_at = :closed_at, closed_us = :closed_us,
  reinforcements = :reinforcements,
  last_reinforced_at = :last_reinforced_at,
  activation = :activation,
  category = :category,
  subject = :subject,
  subject_entity_seq = (select seq from entities where id = :subject_entity_id),
  attribute = :attribute,
  attribute_derived = :attribute_derived
where seq = :seq;

-- name: set_token_count
-- Remember how many index tokens a row has; no update of what the row says.
update records set token_count = :token_count where seq = :seq;

-- name: set_superseder
-- Remember which row stands in the place of some others; the first one that came stays.
update records set superseded_by_seq = :by_seq
where id in (select value from json_each(:ids)) and superseded_by_seq is null;

-- name: subject_own
-- Active, unexpired rows of one entity under one attribute.
select r.seq, r.attribute, r.content
from records as r
where r.subject_entity_seq = (select seq from entities where id = :entity_id)
  and r.scope_code = (select scope_code from entities where id = :entity_id)
  and r.type = :type
  and r.attribute = :attribute
  and r.status in ('provisional', 'confirmed')
  and (r.expires_us is null or r.expires_us > :now_us);

-- name: subject_others
-- Active, unexpired rows of one entity under other attributes, most recently reinforced first.
select r.seq, r.attribute, r.content
from records as r indexed by records_recent
where r.subject_entity_seq = (select seq from entities where id = :entity_id)
  and r.scope_code = (select scope_code from entities where id = :entity_id)
  and r.type = :type
  and r.attribute <> :attribute
  and r.status in ('provisional', 'confirmed')
  and (r.expires_us is null or r.expires_us > :now_us)
order by coalesce(r.last_reinforced_at, r.created_at) desc, r.seq desc
limit :limit;

-- name: nearby_version
-- The newest index version among rows of one type in some scopes; 0 when there are none.
select coalesce(max(newest), 0)
from (
  select (
    select max(r.index_version) from records as r
    where r.scope_code = wanted.value and r.type = :type
  ) as newest
  from json_each(:scope_codes) as wanted
);

-- name: live_by_source_ref
-- The live summary of a session, if there is one.
select seq from records
where source_ref = :source_ref and source_kind = :source_kind
  and status in ('provisional', 'confirmed');

-- name: has_forgotten_of_source
-- Whether a summary of a session was forgotten.
select exists (
  select 1 from records
  where source_ref = :source_ref and source_kind = :source_kind and status = 'deleted'
);

-- name: insert_conflict
-- One direction of a disagreement; noting it again changes nothing.
insert into record_conflicts(record_seq, other_seq, kind, rule, score, noted_at)
values (:record_seq, :other_seq, :kind, :rule, :score, :noted_at)
on conflict (record_seq, other_seq) do nothing;

-- name: conflicts_of
-- Disagreements of some rows, in the order they were noted.
select c.record_seq, r.id, o.id, c.kind, c.rule, c.score, c.noted_at, o.seq, o.scope_code
from json_each(:seqs) as wanted
join record_conflicts as c on c.record_seq = wanted.value
join records as r on r.seq = c.record_seq
join records as o on o.seq = c.other_seq
order by c.record_seq, c.noted_at, o.seq;

-- name: page
-- One page of rows in some scopes, newest first.
select r.seq
from records as r
where r.scope_code in (select value from json_each(:scope_codes))
  and case when r.status in ('provisional', 'confirmed') and r.expires_us <= :now_us
    then 'expired' else r.status end in (select value from json_each(:statuses))
  and (:types is null or r.type in (select value from json_each(:types)))
  and (:after_seq is null or r.seq < :after_seq)
order by r.seq desc
limit :limit;

-- name: count_by_status
-- Rows per status in some scopes; an active one whose expiry has come counts as expired.
select
  case when r.status in ('provisional', 'confirmed') and r.expires_us <= :now_us
    then 'expired' else r.status end as standing,
  count(*)
from records as r
where r.scope_code in (select value from json_each(:scope_codes))
group by standing;

-- name: linked_to
-- Rows linked to or about an entity, for rewriting their derived columns.
select record_seq from record_entities where entity_seq = (select seq from entities where id = :entity_id)
union
select seq from records where subject_entity_seq = (select seq from entities where id = :entity_id)
order by 1;

-- name: known_at
-- Rows of some scopes that the store believed at a moment, never deleted ones.
select r.seq
from records as r
where r.scope_code in (select value from json_each(:scope_codes))
  and r.status <> 'deleted'
  and r.created_us <= :at_us
  and (r.closed_us is null or r.closed_us > :at_us)
  and (r.expires_us is null or r.expires_us > :at_us)
  and (:types is null or r.type in (select value from json_each(:types)))
  and (:since_us is null or r.event_us >= :since_us)
  and (:until_us is null or r.event_us < :until_us);

-- name: as_of
-- Rows of some scopes whose validity covers a moment, superseded ones included, deleted ones never.
-- An expired one was valid until it expired, also when nobody has swept it yet.
select r.seq
from records as r
left join records as winner on winner.seq = r.superseded_by_seq
where r.scope_code in (select value from json_each(:scope_codes))
  and r.status <> 'deleted'
  and coalesce(r.valid_from_us, r.event_us) <= :at_us
  and coalesce(
    r.valid_until_us,
    winner.event_us,
    case when r.status = 'superseded' then r.closed_us end,
    9223372036854775807
  ) > :at_us
  and (r.expires_us is null or r.expires_us > :at_us)
  and (r.status <> 'expired' or r.closed_us > :at_us)
  and (:types is null or r.type in (select value from json_each(:types)))
  and (:since_us is null or r.event_us >= :since_us)
  and (:until_us is null or r.event_us < :until_us);
