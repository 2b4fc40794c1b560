-- name: insert
-- Index the prepared text of a record; the row carries the record's integer key.
insert into records_fts(rowid, content, subject, aliases) values (:seq, :content, :subject, :aliases);

-- name: delete
-- Take a record out of the index.
delete from records_fts where rowid = :seq;

-- name: fields
-- The indexed text of some rows.
select f.rowid, f.content, f.subject, f.aliases
from json_each(:seqs) as wanted
join records_fts as f on f.rowid = wanted.value;

-- name: all_fields
-- The indexed text of every row.
select rowid, content, subject, aliases from records_fts order by rowid;

-- name: row_keys
-- Every indexed row, for comparing the index with the records.
select rowid from records_fts order by rowid;
