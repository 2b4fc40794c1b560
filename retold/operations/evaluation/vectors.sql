-- name: create
-- One vector of float32 per key; a key is a digest, so no text is kept.
create table if not exists vectors(key blob primary key, vector blob not null) without rowid;

-- name: read
-- The vector of one key.
select vector from vectors where key = :key;

-- name: keep
-- Keep the vector of one key, in place of what was there.
insert or replace into vectors values (:key, :vector);

-- name: create_tokens
-- The token vectors of one key, 16 bits a number, one token after another.
create table if not exists tokens(key blob primary key, tokens blob not null) without rowid;

-- name: read_tokens
-- The token vectors of one key.
select tokens from tokens where key = :key;

-- name: keep_tokens
-- Keep the token vectors of one key, in place of what was there.
insert or replace into tokens values (:key, :tokens);
