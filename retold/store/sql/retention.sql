-- name: due_turns
-- Turns with words of extracted segments that ended long ago, in order, with their bytes.
select t.session_seq, t.turn, octet_length(t.content)
from sessions as s
join session_turns as t on t.session_seq = s.seq
where s.seq >= :after_session
  and (s.seq, t.turn) > (:after_session, :after_turn)
  and s.extracted_at is not null and s.ended_at < :before and s.extraction_mode is not 'rerun'
  and t.blanked_at is null
order by s.seq, t.turn
limit :limit;

-- name: count_turns
-- How many turns of how many segments have words that nothing needs any more.
select count(*), count(distinct t.session_seq)
from sessions as s
join session_turns as t on t.session_seq = s.seq
where s.extracted_at is not null and s.ended_at < :before and s.extraction_mode is not 'rerun'
  and t.blanked_at is null;

-- name: blank_turns
-- Take the words of some turns away; the rows stay, so that what points to them finds them.
update session_turns set content = '', blanked_at = :now
where (session_seq, turn) in (
    select value ->> 0, value ->> 1 from json_each(:keys)
  )
  and blanked_at is null
  and exists (
    select 1 from sessions as s
    where s.seq = session_turns.session_seq
      and s.extracted_at is not null and s.ended_at < :before and s.extraction_mode is not 'rerun'
  );

-- name: count_waiting
-- How many segments are old enough but were never extracted, and keep their words for that.
select count(*) from sessions as s
where s.ended_at < :before and s.extracted_at is null
  and exists (select 1 from session_turns as t where t.session_seq = s.seq and t.blanked_at is null);

-- name: due_rejections
-- Rejected candidates of extracted segments that ended long ago, in order, with their bytes.
select r.seq, octet_length(r.candidate)
from extraction_rejections as r
join sessions as s on s.seq = r.session_seq
where r.seq > :after_seq
  and s.extracted_at is not null and s.ended_at < :before and s.extraction_mode is not 'rerun'
order by r.seq
limit :limit;

-- name: count_rejections
-- How many rejected candidates such segments have.
select count(*)
from extraction_rejections as r
join sessions as s on s.seq = r.session_seq
where s.extracted_at is not null and s.ended_at < :before and s.extraction_mode is not 'rerun';

-- name: delete_rejections
-- Remove some rejected candidates, unless their segment is being extracted again.
delete from extraction_rejections
where seq in (select value from json_each(:seqs))
  and exists (
    select 1 from sessions as s
    where s.seq = extraction_rejections.session_seq
      and s.extracted_at is not null and s.ended_at < :before and s.extraction_mode is not 'rerun'
  );

-- name: due_searches
-- Old rows of the search log, in order, with the bytes of their great columns.
select seq, octet_length(candidates) + octet_length(gate_inputs) + octet_length(explanations)
  + octet_length(lexical) + octet_length(fused)
from search_log
where seq > :after_seq and at < :before
order by seq
limit :limit;

-- name: count_searches
-- How many rows of the search log are old.
select count(*) from search_log where at < :before;

-- name: delete_searches
-- Remove some rows of the search log.
delete from search_log where seq in (select value from json_each(:seqs)) and at < :before;

-- name: due_decisions
-- Old decisions about turns, in order, with the bytes of their great columns.
select seq, octet_length(gaps) + octet_length(config) + octet_length(verdicts)
from turn_decisions
where seq > :after_seq and at < :before
order by seq
limit :limit;

-- name: count_decisions
-- How many decisions about turns are old.
select count(*) from turn_decisions where at < :before;

-- name: delete_decisions
-- Remove some decisions about turns.
delete from turn_decisions where seq in (select value from json_each(:seqs)) and at < :before;

-- name: due_payloads
-- Old events that still say more than their kind, in order, with the bytes of their payloads.
select seq, octet_length(payload)
from events
where seq > :after_seq and at < :before and payload is not null
order by seq
limit :limit;

-- name: count_payloads
-- How many old events still have a payload.
select count(*) from events where at < :before and payload is not null;

-- name: blank_payloads
-- Take the payload of some events away, and its salt, without which the digest tells nothing.
update events set payload = null, payload_salt = zeroblob(0)
where seq in (select value from json_each(:seqs)) and at < :before and payload is not null;
