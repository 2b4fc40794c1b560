-- name: due_records
-- Active rows whose review is due and was never asked for, the longest due first, after a place.
select review_at, seq
from records
where review_at <= :now and review_at >= :after_at
  and (review_at, seq) > (:after_at, :after_seq)
  and review_flagged_at is null
  and status in ('provisional', 'confirmed')
  and (expires_us is null or expires_us > :now_us)
order by review_at, seq
limit :limit;

-- name: count_due_records
-- How many active rows wait to be flagged.
select count(*) from records
where review_at <= :now and review_flagged_at is null
  and status in ('provisional', 'confirmed')
  and (expires_us is null or expires_us > :now_us);

-- name: flag
-- Flag a row for review, unless somebody did or it is no longer due.
update records set review_flagged_at = :flagged_at, revision = revision + 1
where seq = :seq
  and review_at <= :now and review_flagged_at is null
  and status in ('provisional', 'confirmed')
  and (expires_us is null or expires_us > :now_us)
returning id, review_at, valid_from, valid_until;

-- name: open
-- A question for a person; while one of its kind is open for a record there is no second.
insert into reviews (id, kind, record_seq, payload, status, reason, created_at)
values (:id, :kind, :record_seq, :payload, 'open', :reason, :created_at)
on conflict (kind, record_seq) where status = 'open' do nothing;

-- name: obsolete
-- Open questions about records that are no longer active, after a place in their order.
select v.seq
from reviews as v
join records as r on r.seq = v.record_seq
where v.status = 'open' and v.kind = :kind and v.seq > :after_seq
  and (r.status not in ('provisional', 'confirmed') or r.expires_us <= :now_us)
order by v.seq
limit :limit;

-- name: count_obsolete
-- How many open questions are about records that are no longer active.
select count(*)
from reviews as v
join records as r on r.seq = v.record_seq
where v.status = 'open' and v.kind = :kind
  and (r.status not in ('provisional', 'confirmed') or r.expires_us <= :now_us);

-- name: close_obsolete
-- Answer an open question by what became of its record meanwhile.
update reviews
set status = 'resolved', resolved_at = :now, resolver = :resolver,
  resolution = (
    select case when r.status in ('provisional', 'confirmed') then 'expired' else r.status end
    from records as r where r.seq = reviews.record_seq
  )
where seq = :seq and status = 'open'
  and exists (
    select 1 from records as r
    where r.seq = reviews.record_seq
      and (r.status not in ('provisional', 'confirmed') or r.expires_us <= :now_us)
  )
returning id, record_seq, resolution;

-- name: backlog
-- How many questions of a kind are open, and since when the oldest is.
select count(*), min(created_at) from reviews where status = 'open' and kind = :kind;

-- name: page
-- One page of open questions of a kind, oldest first.
select v.seq, v.id, v.kind, r.id, v.payload, v.created_at
from reviews as v
join records as r on r.seq = v.record_seq
where v.status = 'open' and v.kind = :kind
  and v.seq > coalesce((select seq from reviews where id = :after_id), 0)
order by v.seq
limit :limit;
