-- name: prepared_by
-- Which preparation the indexed text went through.
select value from store_meta where key = 'fts_prepare_version';

-- name: set_prepared_by
-- Remember which preparation the indexed text went through.
update store_meta set value = :version where key = 'fts_prepare_version';

-- name: clear
-- Take every record out of the full-text index.
delete from records_fts;

-- name: page
-- One page of searchable records with the words of their subject; derived keys are no words.
select r.seq, r.content,
  trim(
    case when r.attribute_derived = 0 then coalesce(replace(r.attribute, '_', ' '), '') else '' end
    || ' ' || coalesce(e.canonical, '')
  )
from records as r
left join entities as e on e.seq = r.subject_entity_seq
where r.status <> 'deleted' and r.seq > :after_seq
order by r.seq
limit :limit;
