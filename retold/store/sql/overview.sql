-- name: records
-- How many records there are of each type in each status; expired from their expiry on.
select type,
  case when status in ('provisional', 'confirmed') and expires_us <= :now_us
    then 'expired' else status end as standing,
  count(*)
from records
group by type, standing
order by type, standing;

-- name: scopes
-- The scopes that hold most active records, with their counts of active and of all records.
select s.kind, s.id,
  coalesce(sum(
    r.status in ('provisional', 'confirmed') and (r.expires_us is null or r.expires_us > :now_us)
  ), 0) as active,
  count(r.seq)
from scopes s left join records r on r.scope_code = s.code
group by s.code
order by active desc, s.kind, s.id
limit :limit;

-- name: sessions
-- How many sessions there are, still open, waiting for extraction, or for one more; when the last
-- turn came. What was set aside waits for nothing.
select count(*),
  coalesce(sum(ended_at is null), 0),
  coalesce(sum(extraction_requested_at is not null and extraction_failed_at is null
    and (extracted_at is null or extraction_mode = 'rerun')), 0),
  max(last_turn_at)
from sessions;

-- name: last_search
-- When the last search was logged.
select at from search_log order by seq desc limit 1;

-- name: last_events
-- The newest events without their payloads, newest first.
select e.seq, e.at, e.kind, r.actor, r.record_id, r.entity_id
from events e left join event_refs r on r.seq = e.seq
order by e.seq desc
limit :limit;
