-- name: insert
-- The first vector of a record.
insert into embeddings(seq, model, version, dims, vector, index_version)
values (:seq, :model, :version, :dims, :vector, :index_version);

-- name: put
-- Store or replace the vector of a record.
insert into embeddings(seq, model, version, dims, vector, index_version)
values (:seq, :model, :version, :dims, :vector, :index_version)
on conflict (seq) do update set
  model = excluded.model,
  version = excluded.version,
  dims = excluded.dims,
  vector = excluded.vector,
  index_version = excluded.index_version;

-- name: delete
-- Remove the vector of a record.
delete from embeddings where seq = :seq;

-- name: touch_record
-- Losing its vector is a change of the record, which nothing else would show to other processes.
update records set index_version = :index_version where seq = :seq;

-- name: get
-- The vector of a record.
select vector, dims from embeddings where seq = :seq;

-- name: count
-- Stored vectors.
select count(*) from embeddings;

-- name: first_two
-- Whether there is more than one vector.
select seq from embeddings limit 2;
