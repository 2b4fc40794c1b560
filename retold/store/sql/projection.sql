-- name: load
-- Every row the in-process index holds, in key order; the signs keep the scan on the table itself.
select
  r.seq, r.scope_code, r.type, r.status, r.source_kind, r.expires_us, r.event_us,
  r.source_ref,
  case when e.model = :model and e.version = :version and e.dims = :dims then e.vector end,
  e.seq is not null and not (e.model = :model and e.version = :version and e.dims = :dims),
  max(r.index_version, coalesce(e.index_version, 0))
from records as r
left join embeddings as e on e.seq = r.seq
where +r.status <> 'deleted'
  and +r.type in (select value from json_each(:types))
order by r.seq;

-- name: rows
-- The same columns for some rows, in whatever state they are.
select
  r.seq, r.scope_code, r.type, r.status, r.source_kind, r.expires_us, r.event_us,
  r.source_ref,
  case when e.model = :model and e.version = :version and e.dims = :dims then e.vector end,
  e.seq is not null and not (e.model = :model and e.version = :version and e.dims = :dims),
  max(r.index_version, coalesce(e.index_version, 0))
from json_each(:seqs) as wanted
join records as r on r.seq = wanted.value
left join embeddings as e on e.seq = r.seq
order by r.seq;

-- name: changes_since
-- Keys whose row, vector or absence is newer than a version; a key can come twice.
select seq, index_version from records where index_version > :version
union all
select seq, index_version from embeddings where index_version > :version
union all
select seq, index_version from removed_rows where index_version > :version
limit :most;

-- name: count
-- Rows of every status, an upper bound for what a load returns.
select count(*) from records;
