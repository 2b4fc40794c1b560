-- name: insert
-- One observation behind a record.
insert into record_evidence (
  record_seq, source_type, source_id, session_seq, locator, span_start, span_end, quote,
  source_kind, score, judge, noted_at, counted, user_id
) values (
  :record_seq, :source_type, :source_id,
  (select seq from sessions where id = :session_id), :locator, :span_start, :span_end, :quote,
  :source_kind, :score, :judge, :noted_at, :counted, :user_id
);

-- name: list_for
-- Observations of a record, oldest first.
select source_type, source_id, locator, span_start, span_end, quote, source_kind, score, judge,
  noted_at, counted, user_id
from record_evidence
where record_seq = :record_seq
order by seq;

-- name: count_counted_sources
-- Independent sources that count towards confirmation.
select count(*) from (
  select distinct source_type, source_id
  from record_evidence
  where record_seq = :record_seq and counted = 1
);

-- name: has_counted_source
-- Whether a source already counts towards a record.
select exists (
  select 1 from record_evidence
  where record_seq = :record_seq and source_type = :source_type and source_id = :source_id
    and counted = 1
);

-- name: suppress
-- Remember spans of a forgotten record, so that a replay of the same words stays out.
insert into suppressed_evidence (
  session_seq, turn, span_start, span_end, record_seq, user_id, noted_at
)
select session_seq, locator, span_start, span_end, record_seq, user_id, :noted_at
from record_evidence
where record_seq = :record_seq and session_seq is not null and locator is not null
  and span_start is not null;

-- name: is_suppressed
-- Whether a span of a turn overlaps one that backed a forgotten record.
select exists (
  select 1 from suppressed_evidence as s
  join sessions on sessions.seq = s.session_seq
  where sessions.id = :session_id and s.turn = :turn
    and s.span_start < :span_end and s.span_end > :span_start
);

-- name: list_suppressed
-- Spans of a conversation, all its segments included, that backed forgotten records.
select sessions.id, s.turn, s.span_start, s.span_end
from sessions
join suppressed_evidence as s on s.session_seq = sessions.seq
where sessions.conversation_id = :conversation_id
order by s.seq;

-- name: seqs_told_by
-- Records that an overlapping span of a turn has backed, in the order they were stored.
select distinct r.seq
from sessions as s
join record_evidence as e on e.session_seq = s.seq
join records as r on r.seq = e.record_seq
where s.id = :session_id and e.locator = :turn
  and e.span_start < :span_end and e.span_end > :span_start
  and r.status <> 'deleted'
order by r.seq;
