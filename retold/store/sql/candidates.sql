-- name: rows
-- What the search pipeline needs about some rows; their texts stay where they are.
select
  r.seq, r.id, r.type, r.source_kind,
  case when r.status in ('provisional', 'confirmed') and r.expires_us <= :now_us
    then 'expired' else r.status end,
  r.scope_code, r.event_us, r.expires_us,
  length(r.content), subject_entity.id,
  (select s.id from record_evidence as e
   left join sessions as s on s.seq = e.session_seq
   where e.record_seq = r.seq
   order by e.seq
   limit 1)
from carray(:seqs) as wanted
join records as r on r.seq = wanted.value
left join entities as subject_entity on subject_entity.seq = r.subject_entity_seq;

-- name: contents
-- The texts of some rows.
select r.seq, r.content
from carray(:seqs) as wanted
join records as r on r.seq = wanted.value;

-- name: linked
-- The records linked to some entities: one text of keys per entity and role.
select e.id, link.role, group_concat(link.record_seq, ' ')
from json_each(:ids) as wanted
join entities as e on e.id = wanted.value
join record_entities as link on link.entity_seq = e.seq
group by e.seq, link.role
order by e.seq;

-- name: families
-- Every version of the claims that some rows belong to, with the row that each replaced.
with recursive family(seq) as (
  select value from carray(:seqs)
  union
  select newer.seq from family join records as newer on newer.supersedes_seq = family.seq
  union
  select r.supersedes_seq from family join records as r on r.seq = family.seq
  where r.supersedes_seq is not null
)
select r.seq, r.id, r.scope_code, r.created_us, r.supersedes_seq
from family
join records as r on r.seq = family.seq
order by r.seq;

-- name: backed
-- Those of some rows whose quote was checked and holds: it was counted, came from a host, or was
-- scored and left the row more than an inference. One that could not be scored backs nothing.
select r.seq
from carray(:seqs) as wanted
join records as r on r.seq = wanted.value
where r.evidence is not null
  and exists (
    select 1 from record_evidence as e
    where e.record_seq = r.seq
      and e.quote = r.evidence
      and (
        e.counted
        or e.source_type <> 'session'
        or (e.score is not null and r.source_kind <> 'agent_inference')
      )
  );

-- name: readable_records
-- Those of some public ids that belong to readable scopes; unknown and foreign ids are alike.
select r.id, r.seq
from json_each(:ids) as wanted
join records as r on r.id = wanted.value
where r.scope_code in (select value from json_each(:scope_codes));

-- name: readable_entities
-- Those of some entity ids that belong to readable scopes.
select e.id
from json_each(:ids) as wanted
join entities as e on e.id = wanted.value
where e.scope_code in (select value from json_each(:scope_codes));
