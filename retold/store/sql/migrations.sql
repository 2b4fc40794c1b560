-- name: application_id
-- Whose file this is.
pragma application_id;

-- name: user_version
-- Which schema it has.
pragma user_version;

-- name: objects
-- Every table, index, view and trigger that a file holds.
select type, name from sqlite_schema where name not like 'sqlite\_%' escape '\' order by name;

-- name: columns
-- Every column of every table, shadow tables included.
select t.name, c.name
from sqlite_schema as t
join pragma_table_info(t.name) as c
where t.type = 'table';

-- name: insert_meta
-- One single value that a new store starts with.
insert into store_meta(key, value) values (:key, :value);

-- name: broken_references
-- Rows whose parent is missing, by table.
select "table", count(*) from pragma_foreign_key_check group by "table" order by 1;

-- name: count_unresolved
-- Active records that a migration could not give a subject and that nobody acknowledged.
select count(*)
from migration_issues as i
join records as r on r.seq = i.record_seq
where i.acknowledged_at is null and r.status in ('provisional', 'confirmed');

-- name: list_issues
-- The unresolved issues, oldest record first.
select i.migration_version, i.record_seq, r.id, s.kind, s.id, r.type, i.issue
from migration_issues as i
join records as r on r.seq = i.record_seq
join scopes as s on s.code = r.scope_code
where i.acknowledged_at is null and r.status in ('provisional', 'confirmed')
order by i.migration_version, i.record_seq;

-- name: acknowledge
-- Let a store be used although some records have no subject.
update migration_issues set acknowledged_at = :at where acknowledged_at is null;
