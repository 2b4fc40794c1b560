-- name: create
-- One vector of float32 per key; a key is a digest, so no text is kept.
create table if not exists vectors(key blob primary key, vector blob not null) without rowid;

-- name: read
-- The vector of one key.
select vector from vectors where key = :key;

-- name: keep
-- Keep the vector of one key, in place of what was there.
insert or replace into vectors values (:key, :vector);
