-- name: due
-- Active rows past their expiry, the longest expired first, after a place in that order.
select expires_us, seq
from records
where expires_us <= :before_us and expires_us >= :after_us
  and (expires_us, seq) > (:after_us, :after_seq)
  and status in ('provisional', 'confirmed')
order by expires_us, seq
limit :limit;

-- name: count_due
-- How many active rows are past their expiry.
select count(*) from records
where expires_us <= :before_us and status in ('provisional', 'confirmed');

-- name: still_due
-- Those of some rows that are active and past their expiry now, under the write lock.
select seq, id, status, expires_at from records
where seq in (select value from json_each(:seqs))
  and expires_us <= :before_us
  and status in ('provisional', 'confirmed')
order by seq;

-- name: expire
-- Close a row at the moment it expired, which is when searches stopped showing it.
update records
set status = 'expired', closed_at = expires_at, closed_us = expires_us,
  revision = revision + 1, index_version = :index_version
where seq = :seq;
