-- name: get
-- One entity as it stands, merges not followed.
select e.id, e.kind, e.canonical, e.scope_code, e.status, survivor.id, e.principal_user_id,
  e.created_at,
  (select json_group_array(alias_norm)
   from (select alias_norm from entity_aliases where entity_seq = e.seq order by alias_norm))
from entities as e
left join entities as survivor on survivor.seq = e.merged_into
where e.id = :id;

-- name: keys
-- The integer key of an entity.
select seq from entities where id = :id;

-- name: resolve
-- The entity at the end of a chain of merges; no row when the chain is a circle.
with recursive chain(seq) as (
  select seq from entities where id = :id
  union
  select e.merged_into from chain join entities as e on e.seq = chain.seq
  where e.status = 'merged' and e.merged_into is not null
)
select e.id, e.kind, e.canonical, e.scope_code, e.status, survivor.id, e.principal_user_id,
  e.created_at,
  (select json_group_array(alias_norm)
   from (select alias_norm from entity_aliases where entity_seq = e.seq order by alias_norm))
from chain
join entities as e on e.seq = chain.seq
left join entities as survivor on survivor.seq = e.merged_into
where e.status <> 'merged' or e.merged_into is null;

-- name: resolve_in
-- The survivor of an entity's merges; no row unless both belong to some scopes.
with recursive chain(seq) as (
  select seq from entities
  where id = :id and scope_code in (select value from json_each(:scope_codes))
  union
  select e.merged_into from chain join entities as e on e.seq = chain.seq
  where e.status = 'merged' and e.merged_into is not null
)
select e.id, e.kind, e.canonical, e.scope_code, e.status, survivor.id, e.principal_user_id,
  e.created_at,
  (select json_group_array(alias_norm)
   from (select alias_norm from entity_aliases where entity_seq = e.seq order by alias_norm))
from chain
join entities as e on e.seq = chain.seq
left join entities as survivor on survivor.seq = e.merged_into
where (e.status <> 'merged' or e.merged_into is null)
  and e.scope_code in (select value from json_each(:scope_codes));

-- name: by_alias
-- Active entities that carry any of several aliases in any of several scopes, merges followed.
with recursive hit(norm, seq) as (
  select alias.alias_norm, alias.entity_seq
  from json_each(:norms) as wanted
  cross join entity_aliases as alias
    on alias.alias_norm = wanted.value
    and alias.scope_code in (select value from json_each(:scope_codes))
  union
  select hit.norm, e.merged_into
  from hit join entities as e on e.seq = hit.seq
  where e.status = 'merged' and e.merged_into is not null
)
select hit.norm, e.id, e.kind, e.canonical, e.scope_code, e.status, null, e.principal_user_id,
  e.created_at,
  (select json_group_array(alias_norm)
   from (select alias_norm from entity_aliases where entity_seq = e.seq order by alias_norm))
from hit
join entities as e on e.seq = hit.seq
where e.status in ('provisional', 'confirmed')
  and e.scope_code in (select value from json_each(:scope_codes))
  and (:kinds is null or e.kind in (select value from json_each(:kinds)))
order by e.seq;

-- name: principal
-- The entity that stands for a user in one scope.
select e.id, e.kind, e.canonical, e.scope_code, e.status, null, e.principal_user_id,
  e.created_at,
  (select json_group_array(alias_norm)
   from (select alias_norm from entity_aliases where entity_seq = e.seq order by alias_norm))
from entities as e
where e.scope_code = :scope_code and e.principal_user_id = :user_id
  and e.status in ('provisional', 'confirmed');

-- name: principals
-- The entities that stand for a user, one in each scope where there is one.
select e.id, e.kind, e.canonical, e.scope_code, e.status, null, e.principal_user_id,
  e.created_at,
  (select json_group_array(alias_norm)
   from (select alias_norm from entity_aliases where entity_seq = e.seq order by alias_norm))
from entities as e
where e.principal_user_id = :user_id and e.status in ('provisional', 'confirmed')
order by e.seq;

-- name: list_principal_named
-- Active persons of one scope that carry an alias; marked principals come first.
select e.id, e.kind, e.canonical, e.scope_code, e.status, null, e.principal_user_id,
  e.created_at,
  (select json_group_array(alias_norm)
   from (select alias_norm from entity_aliases where entity_seq = e.seq order by alias_norm))
from entity_aliases as alias
join entities as e on e.seq = alias.entity_seq
where alias.alias_norm = :alias_norm and alias.scope_code = :scope_code and e.kind = 'person'
  and e.status in ('provisional', 'confirmed')
order by e.principal_user_id is null, e.seq;

-- name: list_in_scopes
-- Active entities of some scopes, oldest first.
select e.id, e.kind, e.canonical, e.scope_code, e.status, null, e.principal_user_id,
  e.created_at,
  (select json_group_array(alias_norm)
   from (select alias_norm from entity_aliases where entity_seq = e.seq order by alias_norm))
from entities as e
where e.scope_code in (select value from json_each(:scope_codes))
  and e.status in ('provisional', 'confirmed')
order by e.seq
limit :limit;

-- name: insert
-- A new entity without aliases.
insert into entities(id, kind, canonical, scope_code, status, principal_user_id, created_at)
values (:id, :kind, :canonical, :scope_code, :status, :principal_user_id, :created_at);

-- name: add_alias
-- One more alias of an entity, under its scope; a known one is a no-op.
insert into entity_aliases(entity_seq, alias_norm, scope_code)
select seq, :alias_norm, scope_code from entities where seq = :entity_seq
on conflict (entity_seq, alias_norm) do nothing;

-- name: set_principal
-- Let an entity stand for a user in its scope.
update entities set principal_user_id = :user_id where id = :id;

-- name: set_status
-- Move an entity through its life.
update entities set status = :status where id = :id;

-- name: link
-- Link a record to an entity; about wins over mentions.
insert into record_entities(record_seq, entity_seq, role)
select :record_seq, seq, :role from entities where id = :entity_id
on conflict (record_seq, entity_seq) do update set role = 'about' where excluded.role = 'about';

-- name: unlink
-- Remove every link of a record.
delete from record_entities where record_seq = :record_seq;

-- name: links_of
-- The links of some records, about before mentions.
select link.record_seq, e.id, link.role
from json_each(:seqs) as wanted
join record_entities as link on link.record_seq = wanted.value
join entities as e on e.seq = link.entity_seq
order by link.record_seq, link.role, e.seq;

-- name: aliases_for_record
-- The aliases of a record's entities, those of the record's own scope only.
select distinct alias.alias_norm
from records as r
join record_entities as link on link.record_seq = r.seq
join entities as e on e.seq = link.entity_seq and e.scope_code = r.scope_code
join entity_aliases as alias on alias.entity_seq = e.seq
where r.seq = :record_seq
order by alias.alias_norm;

-- name: record_seqs_of
-- The records linked to some entities, about before mentions, newest first.
select link.record_seq, e.id, link.role
from json_each(:ids) as wanted
join entities as e on e.id = wanted.value
join record_entities as link on link.entity_seq = e.seq
order by link.role, link.record_seq desc;

-- name: touched_by_merge
-- Records whose links, subject or aliases change when two entities become one.
select record_seq from record_entities where entity_seq in (:source_seq, :target_seq)
union
select seq from records where subject_entity_seq in (:source_seq, :target_seq)
order by 1;

-- name: repoint_links
-- Give the target every link of the source; about wins over mentions.
insert into record_entities(record_seq, entity_seq, role)
select record_seq, :target_seq, role from record_entities where entity_seq = :source_seq
on conflict (record_seq, entity_seq) do update set role = 'about' where excluded.role = 'about';

-- name: drop_links
-- Remove the links of an entity that was merged away.
delete from record_entities where entity_seq = :source_seq;

-- name: union_aliases
-- Give the target every alias of the source.
insert into entity_aliases(entity_seq, alias_norm, scope_code)
select :target_seq, alias_norm, scope_code from entity_aliases where entity_seq = :source_seq
on conflict (entity_seq, alias_norm) do nothing;

-- name: set_merged
-- Mark an entity as merged into another.
update entities set status = 'merged', merged_into = :target_seq, principal_user_id = null
where seq = :source_seq;

-- name: repoint_subjects
-- Move records about the source to the target and rewrite their display subject.
update records set
  subject_entity_seq = :target_seq,
  subject = :target_id || '/' || coalesce(attribute, '-')
where subject_entity_seq = :source_seq;

-- name: bump
-- Tell the indexes and concurrent comparisons that records have changed.
update records set revision = revision + 1, index_version = :version
where seq in (select value from json_each(:seqs));
