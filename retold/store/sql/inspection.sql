-- name: scope_codes
-- Every scope there is.
select code from scopes order by code;

-- name: walk
-- The next rows of some scopes in the order they were stored; the whole table is walked once.
select r.seq
from records as r
where r.seq > :after_seq
  and +r.scope_code in (select value from json_each(:scope_codes))
  and case when r.status in ('provisional', 'confirmed') and r.expires_us <= :now_us
    then 'expired' else r.status end in (select value from json_each(:statuses))
  and (:types is null or r.type in (select value from json_each(:types)))
order by r.seq
limit :limit;

-- name: count_by_status
-- How many rows of some scopes have each status; expired from their expiry on.
select case when r.status in ('provisional', 'confirmed') and r.expires_us <= :now_us
    then 'expired' else r.status end as standing,
  count(*)
from records as r
where r.scope_code in (select value from json_each(:scope_codes))
  and (:types is null or r.type in (select value from json_each(:types)))
group by standing;

-- name: count_by_scope
-- How many active rows, and how many rows at all, each of some scopes holds, in scope order.
select s.kind, s.id,
  coalesce(sum(
    r.status in ('provisional', 'confirmed') and (r.expires_us is null or r.expires_us > :now_us)
  ), 0) as active,
  count(r.seq)
from json_each(:scope_codes) as wanted
join scopes as s on s.code = wanted.value
left join records as r on r.scope_code = s.code
group by s.code
order by s.kind, s.id;
