-- name: get
-- Where one segment stands on its way from the request to the memories.
select id, agent_id, user_id, project_id, external_id, conversation_id, ended_at,
  extraction_requested_at, extraction_stage, extraction_mode, extraction_started_at,
  extraction_token, extraction_attempts, extraction_next_at, extraction_failed_at,
  extraction_error, extracted_at
from sessions
where id = :id;

-- name: take
-- Give a step of a segment to a worker; whoever held it before is fenced off.
update sessions
set extraction_token = :token, extraction_started_at = :now, extraction_stage = :stage,
  extraction_attempts = :attempts, extraction_next_at = null
where id = :id;

-- name: renew
-- Let the holder go on; nothing changes when the claim is somebody else's.
update sessions set extraction_started_at = :now
where id = :id and extraction_token = :token;

-- name: hold
-- Prove that the claim is still the holder's, and end it in the same statement.
update sessions set extraction_token = null, extraction_started_at = null
where id = :id and extraction_token = :token;

-- name: advance
-- The extract step is done: the review comes next, with attempts of its own.
update sessions
set extraction_stage = 'review', extraction_attempts = 0, extraction_next_at = null,
  extraction_error = null
where id = :id;

-- name: finish
-- The last step is done: the segment leaves the to-do list.
update sessions
set extracted_at = :now, extraction_stage = null, extraction_mode = 'run',
  extraction_attempts = 0, extraction_next_at = null, extraction_error = null
where id = :id;

-- name: postpone
-- The step did not happen; it is due again at a moment, or at once.
update sessions
set extraction_attempts = :attempts, extraction_next_at = :next_at, extraction_error = :error
where id = :id;

-- name: release
-- Take a claim away from a worker that was not heard of; its token is worth nothing from now on.
update sessions set extraction_token = null, extraction_started_at = null
where id = :id;

-- name: bury
-- Set a segment aside until a person looks at it.
update sessions
set extraction_failed_at = :now, extraction_error = :error, extraction_token = null,
  extraction_started_at = null, extraction_next_at = null
where id = :id;

-- name: revive
-- Put a segment that was set aside back on the list, with all its attempts; what was staged of it
-- and cannot be read would only fail again.
update sessions
set extraction_stage = case extraction_error when 'draft_lost' then 'extract'
    else extraction_stage end,
  extraction_failed_at = null, extraction_error = null, extraction_attempts = 0,
  extraction_next_at = null, extraction_token = null, extraction_started_at = null
where id = :id and extraction_failed_at is not null;

-- name: withdraw
-- Take a segment off the list; a worker that has it can no longer commit.
update sessions
set extraction_requested_at = null, extraction_failed_at = null, extraction_error = null,
  extraction_attempts = 0, extraction_next_at = null, extraction_token = null,
  extraction_started_at = null, extraction_stage = null, extraction_mode = 'run'
where id = :id and extraction_requested_at is not null;

-- name: rerun
-- Start over from the transcript, whatever was done or is being done.
update sessions
set extraction_requested_at = :now, extraction_mode = 'rerun', extraction_stage = 'extract',
  extraction_failed_at = null, extraction_error = null, extraction_attempts = 0,
  extraction_next_at = null, extraction_token = null, extraction_started_at = null
where id = :id;

-- name: list_due
-- Segments whose next step may be claimed now, longest waiting first.
select id
from sessions
where extraction_requested_at is not null and extracted_at is null
  and extraction_failed_at is null and ended_at is not null
  and (extraction_next_at is null or extraction_next_at <= :now
    or extraction_next_at > :waits_until)
  and (extraction_token is null or extraction_started_at < :live_from
    or extraction_started_at > :live_until)
order by extraction_requested_at, seq
limit :limit;

-- name: list_due_again
-- Extracted segments that are to be extracted once more and may be claimed now.
select id
from sessions
where extraction_mode = 'rerun' and extracted_at is not null
  and extraction_requested_at is not null
  and extraction_failed_at is null and ended_at is not null
  and (extraction_next_at is null or extraction_next_at <= :now
    or extraction_next_at > :waits_until)
  and (extraction_token is null or extraction_started_at < :live_from
    or extraction_started_at > :live_until)
order by extraction_requested_at, seq
limit :limit;

-- name: next_due_at
-- When the next of the segments that wait after a failure may be claimed, reruns too.
select min(next_at) from (
  select min(extraction_next_at) as next_at
  from sessions
  where extraction_requested_at is not null and extracted_at is null
    and extraction_failed_at is null and ended_at is not null and extraction_token is null
    and extraction_next_at > :now
  union all
  select min(extraction_next_at)
  from sessions
  where extraction_mode = 'rerun' and extracted_at is not null
    and extraction_requested_at is not null
    and extraction_failed_at is null and ended_at is not null and extraction_token is null
    and extraction_next_at > :now
);

-- name: list_stale
-- Claims that were not renewed for too long, or only by a clock that was set back since.
select id
from sessions
where extraction_token is not null
  and (extraction_started_at < :live_from or extraction_started_at > :live_until)
order by extraction_started_at, seq
limit :limit;

-- name: list_idle
-- Open segments with a transcript that heard nothing since a moment, longest silent first.
select id
from sessions
where ended_at is null and recorded = 1 and last_turn_at < :silent_since
order by last_turn_at, seq
limit :limit;

-- name: list_waiting
-- Segments that wait for an extraction or are being worked on, longest waiting first.
select id, agent_id, user_id, project_id, external_id, conversation_id, ended_at,
  extraction_requested_at, extraction_stage, extraction_mode, extraction_started_at,
  extraction_token, extraction_attempts, extraction_next_at, extraction_failed_at,
  extraction_error, extracted_at
from sessions
where extraction_requested_at is not null and extraction_failed_at is null
  and (extracted_at is null or extraction_mode = 'rerun')
  and (:after_id is null or (extraction_requested_at, seq)
    > (select extraction_requested_at, seq from sessions where id = :after_id))
order by extraction_requested_at, seq
limit :limit;

-- name: has_words
-- Whether a segment has a turn that was not blanked.
select exists(
  select 1 from session_turns as t join sessions as s on s.seq = t.session_seq
  where s.id = :id and t.blanked_at is null
);

-- name: list_failed
-- Segments that were set aside, oldest first.
select id, agent_id, user_id, project_id, external_id, conversation_id, ended_at,
  extraction_requested_at, extraction_stage, extraction_mode, extraction_started_at,
  extraction_token, extraction_attempts, extraction_next_at, extraction_failed_at,
  extraction_error, extracted_at
from sessions
where extraction_failed_at is not null
  and (:after_id is null or seq > (select seq from sessions where id = :after_id))
order by seq
limit :limit;

-- name: count_waiting
-- Requested segments of one agent and user that were neither extracted nor set aside.
select count(*)
from sessions
where extraction_requested_at is not null and extracted_at is null
  and extraction_failed_at is null
  and agent_id = :agent_id and user_id = :user_id;

-- name: list_blocked
-- By the code of the last failure, what waits after one: how many, and which of them failed last.
select extraction_error, count(*), id, max(extraction_next_at)
from sessions
where extraction_requested_at is not null and extraction_failed_at is null
  and (extracted_at is null or extraction_mode = 'rerun')
  and extraction_next_at is not null and extraction_token is null
group by extraction_error
order by extraction_error;

-- name: end_waits
-- Make due what waits after a failure of one of these codes, a JSON list.
update sessions set extraction_next_at = null
where extraction_next_at is not null and extraction_error in (select value from json_each(:codes));

-- name: backlog
-- What waits, reruns too, since when, what is being worked on, since when, what was set aside.
select
  (select count(*) from sessions
   where extraction_requested_at is not null and extracted_at is null
     and extraction_failed_at is null)
  + (select count(*) from sessions
     where extraction_mode = 'rerun' and extracted_at is not null
       and extraction_requested_at is not null and extraction_failed_at is null),
  (select min(extraction_requested_at) from (
     select min(extraction_requested_at) as extraction_requested_at from sessions
     where extraction_requested_at is not null and extracted_at is null
       and extraction_failed_at is null
     union all
     select min(extraction_requested_at) from sessions
     where extraction_mode = 'rerun' and extracted_at is not null
       and extraction_requested_at is not null and extraction_failed_at is null)),
  (select count(*) from sessions where extraction_token is not null),
  (select min(extraction_started_at) from sessions where extraction_token is not null),
  (select count(*) from sessions where extraction_failed_at is not null);
