-- name: insert
-- Index the prepared text of a record; the row carries the record's integer key.
insert into records_fts(rowid, content, subject, aliases) values (:seq, :content, :subject, :aliases);

-- name: delete
-- Take a record out of the index.
delete from records_fts where rowid = :seq;

-- name: search_all
-- The best matches of the whole index, best first; smaller bm25 is better.
select rowid, bm25(records_fts, 1.0, 2.0, 3.0) as score
from records_fts
where records_fts match :match
order by score, rowid
limit :limit;

-- name: search_within
-- The best matches among given rows; the plus keeps the planner from probing row by row.
select rowid, bm25(records_fts, 1.0, 2.0, 3.0) as score
from records_fts
where records_fts match :match and +rowid in carray(:seqs)
order by score, rowid
limit :limit;

-- name: fields
-- The indexed text of some rows.
select f.rowid, f.content, f.subject, f.aliases
from json_each(:seqs) as wanted
join records_fts as f on f.rowid = wanted.value;

-- name: row_keys
-- Every indexed row, for comparing the index with the records.
select rowid from records_fts order by rowid;
