-- name: complete_records
-- A file that lacks one of the tables had nothing to put into it.
create table if not exists record_conflicts (
  record_id text not null, other_id text not null, noted_at text not null,
  primary key (record_id, other_id)
);

-- name: complete_entity_aliases
-- As above.
create table if not exists entity_aliases (
  entity_id text not null, alias_norm text not null, primary key (entity_id, alias_norm)
);

-- name: complete_record_entities
-- As above.
create table if not exists record_entities (
  record_id text not null, entity_id text not null, role text not null default 'about',
  primary key (record_id, entity_id)
);

-- name: complete_grants
-- As above.
create table if not exists grants (
  agent_id text not null, scope_kind text not null, scope_id text not null,
  can_read integer not null default 1, can_write integer not null default 0,
  primary key (agent_id, scope_kind, scope_id)
);

-- name: complete_sessions
-- As above.
create table if not exists sessions (
  id text primary key, agent_id text not null, user_id text not null, project_id text,
  started_at text not null, ended_at text, extraction_started_at text, extracted_at text
);

-- name: complete_session_turns
-- As above.
create table if not exists session_turns (
  session_id text not null, turn integer not null, role text not null, content text not null,
  at text not null, primary key (session_id, turn)
);

-- name: complete_events
-- As above.
create table if not exists events (
  id text primary key, at text not null, kind text not null, actor text not null,
  record_id text, entity_id text, payload text not null
);

-- name: complete_search_log
-- As above.
create table if not exists search_log (
  id text primary key, at text not null, agent_id text not null, user_id text not null,
  session_id text, request text not null, context text, rewrite_status text not null,
  rewritten_queries text, readable_scopes text not null, dense text not null,
  lexical text not null, entity text not null, fused text not null, freshness text not null,
  gated_out text not null, deduped_out text not null, reranked text, budget_out text not null,
  returned text not null, explanations text not null, config_flags text not null,
  warm integer not null, timings_ms text not null
);

-- name: drop_fts
-- The old full-text index is built anew from prepared text.
drop table if exists records_fts;

-- name: drop_records_scope
-- Index names are unique in a file, so the old ones make room.
drop index if exists records_scope;

-- name: drop_records_subject
-- As above.
drop index if exists records_subject;

-- name: drop_records_event
-- As above.
drop index if exists records_event;

-- name: drop_entity_aliases_lookup
-- As above.
drop index if exists entity_aliases_lookup;

-- name: drop_record_entities_by_entity
-- As above.
drop index if exists record_entities_by_entity;

-- name: rename_records
-- The old tables make room for the new ones and keep their rows until those are copied.
alter table records rename to v1_records;

-- name: rename_record_conflicts
-- As above.
alter table record_conflicts rename to v1_record_conflicts;

-- name: rename_embeddings
-- As above.
alter table embeddings rename to v1_embeddings;

-- name: rename_entities
-- As above.
alter table entities rename to v1_entities;

-- name: rename_entity_aliases
-- As above.
alter table entity_aliases rename to v1_entity_aliases;

-- name: rename_record_entities
-- As above.
alter table record_entities rename to v1_record_entities;

-- name: rename_grants
-- As above.
alter table grants rename to v1_grants;

-- name: rename_sessions
-- As above.
alter table sessions rename to v1_sessions;

-- name: rename_session_turns
-- As above.
alter table session_turns rename to v1_session_turns;

-- name: rename_events
-- As above.
alter table events rename to v1_events;

-- name: rename_search_log
-- As above.
alter table search_log rename to v1_search_log;

-- name: add_reranked
-- Later files of version 1 have the column.
alter table v1_search_log add column reranked text;

-- name: add_session_keys
-- Room for the internal id of each session.
alter table v1_sessions add column new_id text;

-- name: add_new_refs
-- Room for what a source reference becomes.
alter table v1_records add column new_ref text;

-- name: copy_scopes
-- One code for each scope that any row names.
insert into scopes(kind, id)
select scope_kind, scope_id from v1_records
union select scope_kind, scope_id from v1_entities
union select scope_kind, scope_id from v1_grants
order by 1, 2;

-- name: copy_grants
-- Rights by scope code.
insert into grants(agent_id, scope_code, can_read, can_write)
select g.agent_id, s.code, coalesce(g.can_read, 0) <> 0, coalesce(g.can_write, 0) <> 0
from v1_grants as g
join scopes as s on s.kind = g.scope_kind and s.id = g.scope_id;

-- name: copy_entities
-- Entities with their ids.
insert into entities(id, kind, canonical, scope_code, status, created_at)
select e.id, e.kind, e.canonical, s.code, e.status, v1_moment(e.created_at, 'entities.created_at')
from v1_entities as e
join scopes as s on s.kind = e.scope_kind and s.id = e.scope_id
order by v1_us(e.created_at), e.id;

-- name: part_foreign_merges
-- What was merged into another scope's entity stands for itself again: no scope shows another's.
update entities set status = 'provisional'
where status = 'merged' and exists (
  select 1
  from v1_entities as old
  join entities as survivor on survivor.id = old.merged_into
  where old.id = entities.id and survivor.scope_code <> entities.scope_code
);

-- name: copy_merges
-- Which entity of its scope each merged one became.
update entities set merged_into = (
  select survivor.seq
  from v1_entities as old
  join entities as survivor on survivor.id = old.merged_into
  where old.id = entities.id and survivor.scope_code = entities.scope_code
);

-- name: copy_aliases
-- Aliases under the present normal form, so that an old one matches what a new write asks for.
insert into entity_aliases(entity_seq, alias_norm, scope_code)
select e.seq, v1_alias(a.alias_norm), e.scope_code
from v1_entity_aliases as a
join entities as e on e.id = a.entity_id
where v1_alias(a.alias_norm) <> ''
on conflict (entity_seq, alias_norm) do nothing;

-- name: mark_principals
-- The one person of a user's scope that carries the user's id stands for the user.
with named as (
  select e.seq, s.id as user_id, count(*) over (partition by e.scope_code) as persons
  from entities as e
  join scopes as s on s.code = e.scope_code and s.kind = 'user'
  join entity_aliases as a on a.entity_seq = e.seq and a.alias_norm = v1_alias(s.id)
  where e.kind = 'person' and e.status in ('provisional', 'confirmed')
)
update entities set principal_user_id = named.user_id
from named
where named.seq = entities.seq and named.persons = 1;

-- name: key_sessions
-- An internal id for each session.
update v1_sessions set new_id = v1_new_id();

-- name: copy_sessions
-- The old id becomes the host's id; a derived id becomes a segment of the same conversation.
insert into sessions (
  id, external_id, segment, conversation_id, agent_id, user_id, project_id, recorded,
  started_at, ended_at, ended_by, extracted_at
)
select new_id, v1_external_id(id), v1_segment(id), new_id, agent_id, user_id, project_id, 1,
  v1_moment(started_at, 'sessions.started_at'),
  v1_moment(ended_at, 'sessions.ended_at'),
  case when ended_at is not null then 'host' end,
  v1_moment(extracted_at, 'sessions.extracted_at')
from v1_sessions
order by v1_us(started_at), id;

-- name: join_segments
-- Every segment carries the id of the first one of its conversation.
update sessions set conversation_id = (
  select first.id
  from sessions as first
  where first.agent_id = sessions.agent_id and first.user_id = sessions.user_id
    and first.external_id = sessions.external_id
  order by first.segment
  limit 1
);

-- name: copy_turns
-- Turns; a role that no longer exists is kept as text that can never back a claim.
insert into session_turns(session_seq, turn, role, origin, content, at)
select s.seq, t.turn,
  case when t.role in ('user', 'assistant', 'tool') then t.role else 'assistant' end,
  case t.role when 'user' then 'dialogue' when 'assistant' then 'dialogue' when 'tool' then 'tool'
    else 'host' end,
  t.content, v1_moment(t.at, 'session_turns.at')
from v1_session_turns as t
join v1_sessions as old on old.id = t.session_id
join sessions as s on s.id = old.new_id;

-- name: set_last_turns
-- When each session last heard something.
update sessions set last_turn_at = (
  select max(t.at) from session_turns as t where t.session_seq = sessions.seq
);

-- name: key_refs
-- What each source reference becomes; those to unknown sessions stay as they are.
update v1_records set new_ref = coalesce(
  (select 'session:' || s.new_id || coalesce('#' || v1_ref_turn(v1_records.source_ref), '')
   from v1_sessions as s
   where s.id = v1_ref_session(v1_records.source_ref)),
  nullif(source_ref, '')
);

-- name: copy_records
-- Records with their ids; subjects, references and lineage follow.
insert into records (
  id, type, version, content, subject, scope_code, source_kind, creator_agent_id, evidence,
  created_at, created_us, event_at, event_us, expires_at, expires_us, confidence, status,
  reinforcements, last_reinforced_at, index_version, tags
)
select r.id, r.type, r.version, r.content, nullif(r.subject, ''), s.code, r.source_kind,
  r.creator_agent_id, r.evidence,
  v1_moment(r.created_at, 'records.created_at'), v1_us(r.created_at),
  v1_moment(r.event_at, 'records.event_at'), v1_us(r.event_at),
  v1_moment(r.expires_at, 'records.expires_at'), v1_us(r.expires_at),
  max(0.0, min(1.0, r.confidence)), r.status, r.reinforcements,
  v1_moment(r.last_reinforced_at, 'records.last_reinforced_at'), :version,
  v1_tags(r.tags)
from v1_records as r
join scopes as s on s.kind = r.scope_kind and s.id = r.scope_id
order by v1_us(r.created_at), r.id;

-- name: copy_lineage
-- Which record each one replaced.
update records set supersedes_seq = (
  select replaced.seq
  from v1_records as old
  join records as replaced on replaced.id = old.supersedes_id
  where old.id = records.id
);

-- name: list_surplus_summaries
-- Live summaries of one session besides the newest: one may live.
select r.seq, r.id
from (
  select records.seq, records.id,
    row_number() over (partition by old.new_ref order by records.seq desc) as place
  from records
  join v1_records as old on old.id = records.id
  where records.source_kind = 'session_summary' and old.new_ref is not null
    and records.status in ('provisional', 'confirmed')
) as r
where r.place > 1
order by r.seq;

-- name: retire
-- A newer record of the same source stands in its place.
update records set status = 'superseded' where seq = :seq;

-- name: copy_refs
-- Source references with internal session ids.
update records set source_ref = (select new_ref from v1_records as old where old.id = records.id);

-- name: copy_links
-- Links of records to entities, those to merged ones moved to the survivor.
with recursive chain(start_seq, seq) as (
  select seq, seq from entities
  union
  select chain.start_seq, e.merged_into
  from chain join entities as e on e.seq = chain.seq
  where e.status = 'merged' and e.merged_into is not null
),
survivor as (
  select chain.start_seq, chain.seq
  from chain join entities as e on e.seq = chain.seq
  where e.status <> 'merged' or e.merged_into is null
)
insert into record_entities(record_seq, entity_seq, role)
select r.seq, coalesce(survivor.seq, e.seq),
  case link.role when 'about' then 'about' else 'mentions' end
from v1_record_entities as link
join records as r on r.id = link.record_id
join entities as e on e.id = link.entity_id
left join survivor on survivor.start_seq = e.seq
where true
on conflict (record_seq, entity_seq) do update set role = 'about' where excluded.role = 'about';

-- name: list_foreign_links
-- Active entities that records of another scope are linked to, with that scope.
select distinct e.id, r.scope_code, s.kind, s.id
from record_entities as link
join records as r on r.seq = link.record_seq
join entities as e on e.seq = link.entity_seq
join scopes as s on s.code = r.scope_code
where e.scope_code <> r.scope_code and e.status in ('provisional', 'confirmed')
order by e.seq, r.scope_code;

-- name: repoint_to_twin
-- Give the twin the links that records of its scope have to the original.
insert into record_entities(record_seq, entity_seq, role)
select link.record_seq, (select seq from entities where id = :twin_id), link.role
from record_entities as link
join records as r on r.seq = link.record_seq
where link.entity_seq = (select seq from entities where id = :entity_id)
  and r.scope_code = :scope_code
on conflict (record_seq, entity_seq) do update set role = 'about' where excluded.role = 'about';

-- name: drop_foreign_links
-- Remove those links from the original.
delete from record_entities
where entity_seq = (select seq from entities where id = :entity_id)
  and record_seq in (select seq from records where scope_code = :scope_code);

-- name: map_subjects
-- The one active entity of its own scope that a record is about, and its attribute.
with about as (
  select link.record_seq, min(link.entity_seq) as entity_seq, count(*) as entities
  from record_entities as link
  where link.role = 'about'
  group by link.record_seq
),
mapped as (
  select r.seq, e.seq as entity_seq, e.id as entity_id, r.type,
    v1_attribute(old.subject) as attribute
  from about
  join records as r on r.seq = about.record_seq
  join v1_records as old on old.id = r.id
  join entities as e on e.seq = about.entity_seq and e.scope_code = r.scope_code
  where about.entities = 1 and e.status in ('provisional', 'confirmed')
)
update records set
  subject_entity_seq = mapped.entity_seq,
  attribute = case when mapped.type = 'episodic' then null else mapped.attribute end,
  subject = mapped.entity_id || '/'
    || case when mapped.type = 'episodic' then '-' else mapped.attribute end
from mapped
where mapped.seq = records.seq and (mapped.type = 'episodic' or mapped.attribute <> '');

-- name: note_issues
-- Claims that no new write could supersede; episodes are never superseded by subject.
insert into migration_issues(migration_version, record_seq, issue)
select :migration_version, r.seq,
  case
    when (select count(*) from record_entities as link
          where link.record_seq = r.seq and link.role = 'about') = 0 then 'no_about_link'
    when (select count(*) from record_entities as link
          where link.record_seq = r.seq and link.role = 'about') > 1 then 'several_about_links'
    when v1_attribute(old.subject) = '' then 'no_attribute'
    when exists (
      select 1 from record_entities as link
      join entities as e on e.seq = link.entity_seq
      where link.record_seq = r.seq and link.role = 'about'
        and e.status not in ('provisional', 'confirmed')
    ) then 'about_entity_not_active'
    else 'ambiguous_about_entity'
  end
from records as r
join v1_records as old on old.id = r.id
where r.type <> 'episodic' and r.subject_entity_seq is null;

-- name: copy_conflicts
-- Disagreements that both records still know.
insert into record_conflicts(record_seq, other_seq, kind, rule, noted_at)
select r.seq, other.seq, 'contradicts', 'version_1', v1_moment(c.noted_at, 'record_conflicts.noted_at')
from v1_record_conflicts as c
join records as r on r.id = c.record_id
join records as other on other.id = c.other_id;

-- name: copy_evidence
-- One observation for each quote or reference; without its turn it cannot count.
insert into record_evidence (
  record_seq, source_type, source_id, session_seq, locator, span_start, span_end, quote,
  source_kind, noted_at, counted, user_id
)
select r.seq,
  case
    when v1_ref_session(old.source_ref) is not null then 'session'
    when r.source_kind = 'tool_result' then 'tool_call'
    when r.source_kind = 'system' or old.new_ref is null then 'host'
    else 'document'
  end,
  coalesce(s.conversation_id, v1_ref_session(old.source_ref), old.new_ref, 'version_1'),
  s.seq,
  v1_ref_turn(old.source_ref),
  v1_quote_start(r.evidence, t.content), v1_quote_end(r.evidence, t.content),
  r.evidence, r.source_kind, r.created_at,
  r.evidence is not null and coalesce(t.role, '') in ('user', 'tool'),
  s.user_id
from records as r
join v1_records as old on old.id = r.id
left join v1_sessions as old_session on old_session.id = v1_ref_session(old.source_ref)
left join sessions as s on s.id = old_session.new_id
left join session_turns as t on t.session_seq = s.seq and t.turn = v1_ref_turn(old.source_ref)
where r.evidence is not null or old.new_ref is not null
order by r.seq;

-- name: copy_embeddings
-- Vectors as they are.
insert into embeddings(seq, model, version, dims, vector, index_version)
select r.seq, e.model, e.version, e.dims, cast(e.vector as blob), :version
from v1_embeddings as e
join records as r on r.id = e.record_id;

-- name: embedding_identities
-- Whose vectors the file holds.
select distinct model, version, dims from embeddings;

-- name: copy_search_log
-- Logged searches; what version 1 did not log stays empty.
insert into search_log (
  id, at, agent_id, user_id, session_id, trigger, detail, request, context, rewrite_status,
  rewritten_queries, readable_scopes, candidates, dense, lexical, entity, fused, freshness,
  gate_inputs, gated_out, deduped_out, reranked, reranked_out, rerank_status, budget_out,
  returned, explanations, config_flags, pipeline, pipeline_version, warm, timings_ms
)
select l.id, v1_moment(l.at, 'search_log.at'), l.agent_id, l.user_id,
  coalesce(s.new_id, l.session_id), 'tool', 'full', v1_json(l.request), l.context,
  l.rewrite_status, v1_json(l.rewritten_queries), v1_json(l.readable_scopes), '[]',
  v1_json(l.dense), v1_json(l.lexical), v1_json(l.entity), v1_json(l.fused),
  v1_json(l.freshness), '{}', v1_json(l.gated_out), v1_json(l.deduped_out),
  v1_json(l.reranked), '[]', case when l.reranked is null then 'disabled' else 'applied' end,
  v1_json(l.budget_out), v1_json(l.returned), v1_json(l.explanations), v1_json(l.config_flags),
  '{}', 'version_1', coalesce(l.warm, 0) <> 0, v1_json(l.timings_ms)
from v1_search_log as l
left join v1_sessions as s on s.id = l.session_id
order by v1_us(l.at), l.id;

-- name: list_events
-- The audit trail in the order in which it is chained.
select e.id, v1_moment(e.at, 'events.at') as moment, e.kind, e.actor, e.record_id, e.entity_id,
  e.payload, s.new_id, s.user_id
from v1_events as e
left join v1_sessions as s
  on s.id = case when json_valid(e.payload) then e.payload ->> '$.session_id' end
order by moment, e.id;

-- name: link_superseders
-- Which record stands in the place of each superseded one: its replacement, the winner or the
-- replacement that an event names, or the summary that lives.
update records set superseded_by_seq = found.by_seq
from (
  select seq, min(by_seq) as by_seq
  from (
    select supersedes_seq as seq, seq as by_seq from records where supersedes_seq is not null
    union all
    select lost.seq, winner.seq
    from v1_events as e
    join records as lost on lost.id = e.record_id
    join records as winner
      on winner.id = case when json_valid(e.payload)
        then e.payload ->> '$.superseded_on_arrival_by' end
    union all
    select lost.seq, winner.seq
    from v1_events as e
    join json_each(
      case when json_valid(e.payload) then e.payload else '{}' end, '$.also_superseded'
    ) as sibling
    join records as lost on lost.id = sibling.value
    join records as winner on winner.id = e.record_id
    union all
    select lost.seq, live.seq
    from records as lost
    join records as live on live.source_ref = lost.source_ref
      and live.source_kind = 'session_summary' and live.status in ('provisional', 'confirmed')
    where lost.source_kind = 'session_summary'
  )
  group by seq
) as found
where found.seq = records.seq and records.seq <> found.by_seq and records.status = 'superseded';

-- name: close_records
-- When the store stopped believing: the replacement, else the last event, else the expiry.
update records set closed_at = coalesce(
  (select min(r.created_at) from records as r where r.supersedes_seq = records.seq),
  (select max(e.at) from event_refs as ref join events as e on e.seq = ref.seq
   where ref.record_id = records.id and e.kind in ('record.superseded', 'record.status')),
  case when status = 'expired' then expires_at end,
  created_at
)
where status in ('superseded', 'expired', 'deleted');

-- name: close_records_us
-- The same moment for the hot path.
update records set closed_us = v1_us(closed_at) where closed_at is not null;

-- name: drop_record_conflicts
-- Everything was copied.
drop table v1_record_conflicts;

-- name: drop_embeddings
-- As above.
drop table v1_embeddings;

-- name: drop_record_entities
-- As above.
drop table v1_record_entities;

-- name: drop_entity_aliases
-- As above.
drop table v1_entity_aliases;

-- name: drop_session_turns
-- As above.
drop table v1_session_turns;

-- name: drop_records
-- As above.
drop table v1_records;

-- name: drop_entities
-- As above.
drop table v1_entities;

-- name: drop_grants
-- As above.
drop table v1_grants;

-- name: drop_sessions
-- As above.
drop table v1_sessions;

-- name: drop_events
-- As above.
drop table v1_events;

-- name: drop_search_log
-- As above.
drop table v1_search_log;

-- name: search_log_columns
-- Which columns the old log has.
select name from pragma_table_info('v1_search_log');

-- name: count_carried
-- How many records were carried over, and for how many an operator must decide.
select (select count(*) from records), (select count(*) from migration_issues);
