-- name: get
-- One single value by key.
select value from store_meta where key = :key;

-- name: set
-- Store or replace one single value.
insert into store_meta(key, value) values (:key, :value)
on conflict (key) do update set value = excluded.value;

-- name: clocks
-- The values that nearly every read asks for: counters, and what prepared the words.
select key, value from store_meta
where key in ('records_version', 'store_epoch', 'embedding_generation', 'fts_prepare_version');

-- name: shared
-- The same, and whose vectors these are: what nearly every write asks for.
select key, value from store_meta
where key in (
  'records_version', 'store_epoch', 'embedding_generation',
  'embedding_model', 'embedding_version', 'embedding_dims', 'embedded_text', 'fts_prepare_version'
);

-- name: row_counts
-- How many rows each table holds; a test compares the list with the schema.
select 'budget_usage', count(*) from budget_usage
union all select 'bundle_fitness', count(*) from bundle_fitness
union all select 'embeddings', count(*) from embeddings
union all select 'entities', count(*) from entities
union all select 'entity_aliases', count(*) from entity_aliases
union all select 'erasure_ledger', count(*) from erasure_ledger
union all select 'event_refs', count(*) from event_refs
union all select 'events', count(*) from events
union all select 'extraction_drafts', count(*) from extraction_drafts
union all select 'extraction_rejections', count(*) from extraction_rejections
union all select 'grants', count(*) from grants
union all select 'job_runs', count(*) from job_runs
union all select 'migration_issues', count(*) from migration_issues
union all select 'provider_state', count(*) from provider_state
union all select 'record_conflicts', count(*) from record_conflicts
union all select 'record_entities', count(*) from record_entities
union all select 'record_evidence', count(*) from record_evidence
union all select 'records', count(*) from records
union all select 'records_fts', count(*) from records_fts
union all select 'removed_rows', count(*) from removed_rows
union all select 'reviews', count(*) from reviews
union all select 'scopes', count(*) from scopes
union all select 'scrub_jobs', count(*) from scrub_jobs
union all select 'search_log', count(*) from search_log
union all select 'session_profiles', count(*) from session_profiles
union all select 'session_turns', count(*) from session_turns
union all select 'sessions', count(*) from sessions
union all select 'store_meta', count(*) from store_meta
union all select 'suppressed_evidence', count(*) from suppressed_evidence
union all select 'token_vectors', count(*) from token_vectors
union all select 'turn_decisions', count(*) from turn_decisions;
