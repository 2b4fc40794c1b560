-- name: insert_draft
-- One staged candidate or summary of a segment.
insert into extraction_drafts (session_seq, position, kind, draft, prompt_version, created_at)
select seq, :position, :kind, :draft, :prompt_version, :now from sessions where id = :id;

-- name: list_drafts
-- What is staged for a segment, by kind and position.
select d.kind, d.position, d.draft, d.prompt_version
from sessions as s
join extraction_drafts as d on d.session_seq = s.seq
where s.id = :id
order by d.kind, d.position;

-- name: delete_drafts
-- Nothing stays staged for a segment.
delete from extraction_drafts where session_seq = (select seq from sessions where id = :id);

-- name: insert_rejection
-- One proposal that was refused.
insert into extraction_rejections (session_seq, reason, candidate, noted_at)
select seq, :reason, :candidate, :now from sessions where id = :id;

-- name: list_rejections
-- What was refused of a segment, in order.
select r.reason, r.candidate
from sessions as s
join extraction_rejections as r on r.session_seq = s.seq
where s.id = :id
order by r.seq;

-- name: delete_rejections
-- A new run begins with none of the proposals that an earlier one refused.
delete from extraction_rejections where session_seq = (select seq from sessions where id = :id);

-- name: list_known
-- Active facts under a name of their own in some scopes, newest first, with whom they are about.
select r.id, r.type, r.scope_code, r.attribute, r.content,
  case when e.principal_user_id is :user_id then null else e.canonical end
from records as r
join entities as e on e.seq = r.subject_entity_seq
where r.scope_code in (select value from json_each(:scope_codes))
  and r.status in ('provisional', 'confirmed')
  and (r.expires_us is null or r.expires_us > :now_us)
  and r.type in ('semantic', 'procedural') and r.attribute_derived = 0
order by r.seq desc
limit :limit;
