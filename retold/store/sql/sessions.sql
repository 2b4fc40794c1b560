-- name: get
-- One segment of a conversation by its internal id.
select id, external_id, segment, conversation_id, agent_id, user_id, project_id,
  started_at, last_turn_at, ended_at, ended_by, extraction_requested_at, extracted_at
from sessions
where id = :id;

-- name: keys
-- The integer key of a segment and whether its transcript is kept.
select seq, recorded, conversation_id from sessions where id = :id;

-- name: latest
-- The newest segment of a conversation, as its host knows it.
select id, external_id, segment, conversation_id, agent_id, user_id, project_id,
  started_at, last_turn_at, ended_at, ended_by, extraction_requested_at, extracted_at
from sessions
where agent_id = :agent_id and user_id = :user_id and external_id = :external_id
order by segment desc
limit 1;

-- name: latest_recording
-- The internal id of the newest segment of a conversation, and whether it keeps a transcript.
select id, recorded
from sessions
where agent_id = :agent_id and user_id = :user_id and external_id = :external_id
order by segment desc
limit 1;

-- name: appending
-- Where a turn goes: a segment, the newest of its conversation, and whether the host's key is known.
select s.recorded, s.conversation_id, latest.seq, latest.id, latest.recorded, latest.ended_at,
  (select coalesce(max(turn), 0) + 1 from session_turns where session_seq = latest.seq),
  :external_key is not null and exists (
    select 1
    from sessions as one
    join session_turns as t on t.session_seq = one.seq
    where one.conversation_id = s.conversation_id and t.external_key = :external_key
  )
from sessions as s
join sessions as latest on latest.conversation_id = s.conversation_id
where s.id = :id
order by latest.segment desc
limit 1;

-- name: segments
-- All segments of a conversation, in order.
select id, external_id, segment, conversation_id, agent_id, user_id, project_id,
  started_at, last_turn_at, ended_at, ended_by, extraction_requested_at, extracted_at
from sessions
where conversation_id = :conversation_id
order by segment;

-- name: list_for_user
-- One page of a user's segments, oldest first, with one agent or with any.
select id, external_id, segment, conversation_id, agent_id, user_id, project_id,
  started_at, last_turn_at, ended_at, ended_by, extraction_requested_at, extracted_at
from sessions
where user_id = :user_id
  and (:agent_id is null or agent_id = :agent_id)
  and seq > coalesce((select seq from sessions where id = :after_id), 0)
order by seq
limit :limit;

-- name: overview_page
-- One page of segments with what their turns span, newest first, of one user and agent or of any.
select s.id, s.external_id, s.segment, s.conversation_id, s.agent_id, s.user_id, s.project_id,
  s.started_at, s.last_turn_at, s.ended_at, s.ended_by, s.extraction_requested_at, s.extracted_at,
  s.recorded,
  (select count(*) from session_turns as t where t.session_seq = s.seq),
  (select min(t.at) from session_turns as t where t.session_seq = s.seq),
  (select max(t.at) from session_turns as t where t.session_seq = s.seq)
from sessions as s
where (:user_id is null or s.user_id = :user_id)
  and (:agent_id is null or s.agent_id = :agent_id)
  and (:after_id is null or s.seq < (select seq from sessions where id = :after_id))
order by s.seq desc
limit :limit;

-- name: overviews
-- The segments of one id, internal or the host's, with what their turns span.
select s.id, s.external_id, s.segment, s.conversation_id, s.agent_id, s.user_id, s.project_id,
  s.started_at, s.last_turn_at, s.ended_at, s.ended_by, s.extraction_requested_at, s.extracted_at,
  s.recorded,
  (select count(*) from session_turns as t where t.session_seq = s.seq),
  (select min(t.at) from session_turns as t where t.session_seq = s.seq),
  (select max(t.at) from session_turns as t where t.session_seq = s.seq)
from sessions as s
where (:id is null or s.id = :id)
  and (:external_id is null or s.external_id = :external_id)
  and (:user_id is null or s.user_id = :user_id)
  and (:agent_id is null or s.agent_id = :agent_id)
order by s.conversation_id, s.segment;

-- name: list_idle
-- Open segments that heard nothing since a moment, longest silent first.
select id, external_id, segment, conversation_id, agent_id, user_id, project_id,
  started_at, last_turn_at, ended_at, ended_by, extraction_requested_at, extracted_at
from sessions
where ended_at is null
  and (last_turn_at < :silent_since or (last_turn_at is null and started_at < :silent_since))
order by coalesce(last_turn_at, started_at), seq
limit :limit;

-- name: insert
-- A new segment.
insert into sessions (
  id, external_id, segment, conversation_id, agent_id, user_id, project_id, recorded, started_at
) values (
  :id, :external_id, :segment, :conversation_id, :agent_id, :user_id, :project_id, :recorded,
  :started_at
);

-- name: continue
-- The next segment of the conversation that another segment belongs to.
insert into sessions (
  id, external_id, segment, conversation_id, agent_id, user_id, project_id, recorded, started_at
)
select :id, external_id, segment + 1, conversation_id, agent_id, user_id, project_id, :recorded,
  :started_at
from sessions
where id = :previous_id;

-- name: end
-- End an open segment.
update sessions set ended_at = :ended_at, ended_by = :ended_by
where id = :id and ended_at is null;

-- name: request_extraction
-- Put a segment on the to-do list of the extractor; a later request keeps the first moment.
update sessions set extraction_requested_at = :at
where id = :id and extraction_requested_at is null;

-- name: touch
-- Remember when a segment last received a turn.
update sessions set last_turn_at = :at where seq = :seq;

-- name: next_turn
-- The number of a segment's next turn.
select coalesce(max(turn), 0) + 1 from session_turns where session_seq = :session_seq;

-- name: insert_turn
-- A new turn.
insert into session_turns (
  session_seq, turn, role, origin, name, tool_name, external_key, content, at
) values (
  :session_seq, :turn, :role, :origin, :name, :tool_name, :external_key, :content, :at
);

-- name: turn_by_key
-- The turn that carries a host's own key, in any segment of the conversation.
select s.id, t.turn, t.role, t.content, t.at, t.origin, t.name, t.tool_name, t.external_key,
  t.blanked_at
from sessions as s
join session_turns as t on t.session_seq = s.seq
where s.conversation_id = :conversation_id and t.external_key = :external_key
order by s.segment
limit 1;

-- name: turns
-- All turns of a conversation across its segments, in order.
select s.id, t.turn, t.role, t.content, t.at, t.origin, t.name, t.tool_name, t.external_key,
  t.blanked_at
from sessions as s
join session_turns as t on t.session_seq = s.seq
where s.conversation_id = :conversation_id
order by s.segment, t.turn;

-- name: turn_page
-- One page of the turns of a conversation or of one of its segments, in order.
select s.id, t.turn, t.role, t.content, t.at, t.origin, t.name, t.tool_name, t.external_key,
  t.blanked_at, s.segment
from sessions as s
join session_turns as t on t.session_seq = s.seq
where s.conversation_id = :conversation_id
  and (:segment is null or s.segment = :segment)
  and (s.segment, t.turn) > (:after_segment, :after_turn)
order by s.segment, t.turn
limit :limit;

-- name: turns_with
-- The turns of a conversation that hold a text to the letter and may be evidence, in order.
select s.id, t.turn, t.role, t.content, t.at, t.origin, t.name, t.tool_name, t.external_key,
  t.blanked_at
from sessions as s
join session_turns as t on t.session_seq = s.seq
where s.conversation_id = :conversation_id
  and t.origin in (select value from json_each(:origins))
  and instr(t.content, :text) > 0
order by s.segment, t.turn;

-- name: last_turn
-- Where the latest turn of a conversation stands.
select s.id, t.turn
from sessions as s
join session_turns as t on t.session_seq = s.seq
where s.conversation_id = :conversation_id
order by s.segment desc, t.turn desc
limit 1;

-- name: turns_of
-- The turns of one segment, in order.
select s.id, t.turn, t.role, t.content, t.at, t.origin, t.name, t.tool_name, t.external_key,
  t.blanked_at
from sessions as s
join session_turns as t on t.session_seq = s.seq
where s.id = :id
order by t.turn;
