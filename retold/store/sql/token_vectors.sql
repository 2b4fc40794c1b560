-- name: put
-- Store or replace the token vectors of a record beside the vector that it has now.
insert into token_vectors(seq, vector_version, codes)
select seq, index_version, :codes from embeddings where seq = :seq
on conflict (seq) do update set
  vector_version = excluded.vector_version,
  codes = excluded.codes;

-- name: fill
-- The same for a record that has still the vector of a version and was not forgotten meanwhile.
insert into token_vectors(seq, vector_version, codes)
select e.seq, e.index_version, :codes
from embeddings as e
join records as r on r.seq = e.seq
where e.seq = :seq and e.index_version = :vector_version and r.status <> 'deleted'
on conflict (seq) do update set
  vector_version = excluded.vector_version,
  codes = excluded.codes;

-- name: delete
-- Remove the token vectors of a record.
delete from token_vectors where seq = :seq;

-- name: delete_some
-- Remove the token vectors of some records, whichever come first.
delete from token_vectors where seq in (select seq from token_vectors order by seq limit :most);

-- name: versions
-- Which of some records have token vectors of the vector that they have now, by one model.
select t.seq, t.vector_version
from json_each(:seqs) as wanted
join token_vectors as t on t.seq = wanted.value
join embeddings as e on e.seq = t.seq and e.index_version = t.vector_version
where e.model = :model and e.version = :version and e.dims = :dims;

-- name: codes
-- The same rows with what they hold.
select t.seq, t.vector_version, t.codes
from json_each(:seqs) as wanted
join token_vectors as t on t.seq = wanted.value
join embeddings as e on e.seq = t.seq and e.index_version = t.vector_version
where e.model = :model and e.version = :version and e.dims = :dims;

-- name: sizes
-- How many records have token vectors, and the bytes these take.
select count(*), coalesce(sum(length(codes)), 0) from token_vectors;

-- name: count_missing
-- How many records have a vector of one model and no token vectors of it; forgotten ones need none.
select count(*)
from embeddings as e
join records as r on r.seq = e.seq
left join token_vectors as t on t.seq = e.seq
where e.model = :model and e.version = :version and e.dims = :dims
  and r.status <> 'deleted'
  and (t.seq is null or t.vector_version <> e.index_version);

-- name: missing
-- Those records after a key, in key order.
select e.seq, e.index_version
from embeddings as e
join records as r on r.seq = e.seq
left join token_vectors as t on t.seq = e.seq
where e.seq > :after
  and e.model = :model and e.version = :version and e.dims = :dims
  and r.status <> 'deleted'
  and (t.seq is null or t.vector_version <> e.index_version)
order by e.seq
limit :limit;
