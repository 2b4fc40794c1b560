-- The whole schema of the first release.
-- Children reference the integer key `seq`; ids are the public UUIDv7 text.
-- Moments are fixed-width UTC text with microseconds; *_us columns repeat the ones the hot path compares.

create table store_meta (
  key text primary key,
  value any
) strict, without rowid;

create table scopes (
  code integer primary key,
  kind text not null check (kind in ('agent', 'user', 'project', 'org')),
  id text not null,
  unique (kind, id)
) strict;

create table grants (
  agent_id text not null,
  scope_code integer not null references scopes(code),
  can_read integer not null check (can_read in (0, 1)),
  can_write integer not null check (can_write in (0, 1)),
  primary key (agent_id, scope_code)
) strict, without rowid;

create table entities (
  seq integer primary key autoincrement,
  id text not null unique,
  kind text not null check (kind in ('person', 'project', 'org', 'repo', 'product', 'other')),
  canonical text not null,
  scope_code integer not null references scopes(code),
  status text not null check (status in ('provisional', 'confirmed', 'merged', 'deleted')),
  merged_into integer references entities(seq),
  principal_user_id text,
  created_at text not null
) strict;
create index entities_scope on entities(scope_code, status);
create index entities_merged_into on entities(merged_into) where merged_into is not null;
create unique index entities_principal on entities(scope_code, principal_user_id)
  where principal_user_id is not null and status in ('provisional', 'confirmed');

create table entity_aliases (
  entity_seq integer not null references entities(seq),
  alias_norm text not null,
  scope_code integer not null references scopes(code),
  primary key (entity_seq, alias_norm)
) strict, without rowid;
create index entity_aliases_lookup on entity_aliases(alias_norm, scope_code);

create table records (
  seq integer primary key autoincrement,
  id text not null unique,
  type text not null check (type in ('semantic', 'episodic', 'procedural', 'passage', 'page', 'answer')),
  version integer not null default 1,
  revision integer not null default 1,
  content text not null,
  subject text,
  subject_entity_seq integer references entities(seq),
  attribute text,
  attribute_derived integer not null default 0 check (attribute_derived in (0, 1)),
  scope_code integer not null references scopes(code),
  source_kind text not null check (source_kind in
    ('user_statement', 'system', 'tool_result', 'session_summary', 'agent_inference', 'document')),
  source_ref text,
  creator_agent_id text not null,
  evidence text,
  created_at text not null,
  created_us integer not null,
  event_at text not null,
  event_us integer not null,
  expires_at text,
  expires_us integer,
  valid_from text,
  valid_from_us integer,
  valid_until text,
  valid_until_us integer,
  review_at text,
  review_flagged_at text,
  closed_at text,
  closed_us integer,
  confidence real not null check (confidence between 0 and 1),
  status text not null check (status in ('provisional', 'confirmed', 'superseded', 'expired', 'deleted')),
  supersedes_seq integer references records(seq),
  superseded_by_seq integer references records(seq),
  reinforcements integer not null default 0,
  last_reinforced_at text,
  temporary integer not null default 0 check (temporary in (0, 1)),
  activation text not null default 'conditional' check (activation in ('conditional', 'ambient')),
  category text,
  token_count integer not null default 0,
  index_version integer not null,
  tags text not null default '[]' check (json_valid(tags) and json_type(tags) = 'array')
) strict;
create index records_scope on records(scope_code, status);
create index records_nearby on records(scope_code, type, index_version);
create index records_subject on records(scope_code, type, subject_entity_seq, attribute, status);
create index records_recent on records(
  subject_entity_seq, type, coalesce(last_reinforced_at, created_at) desc, seq desc
) where status in ('provisional', 'confirmed');
create index records_subject_entity on records(subject_entity_seq) where subject_entity_seq is not null;
create index records_event on records(type, event_us);
create index records_created on records(created_us);
create index records_index_version on records(index_version);
create index records_supersedes on records(supersedes_seq) where supersedes_seq is not null;
create index records_source_ref on records(source_ref) where source_ref is not null;
create index records_due_review on records(review_at)
  where review_at is not null and review_flagged_at is null and status in ('provisional', 'confirmed');
create index records_due_expiry on records(expires_us)
  where expires_us is not null and status in ('provisional', 'confirmed');
create unique index records_live_summary on records(source_ref)
  where source_kind = 'session_summary' and status in ('provisional', 'confirmed');

create table removed_rows (
  seq integer primary key,
  index_version integer not null
) strict;
create index removed_rows_index_version on removed_rows(index_version);

create table record_entities (
  record_seq integer not null references records(seq),
  entity_seq integer not null references entities(seq),
  role text not null check (role in ('about', 'mentions')),
  primary key (record_seq, entity_seq)
) strict, without rowid;
create index record_entities_by_entity on record_entities(entity_seq, role);

create table record_conflicts (
  record_seq integer not null references records(seq),
  other_seq integer not null references records(seq),
  kind text not null,
  rule text not null,
  score real,
  noted_at text not null,
  primary key (record_seq, other_seq)
) strict, without rowid;
create index record_conflicts_other on record_conflicts(other_seq);

create table record_evidence (
  seq integer primary key,
  record_seq integer not null references records(seq),
  source_type text not null check (source_type in ('session', 'tool_call', 'document', 'host')),
  source_id text not null,
  session_seq integer references sessions(seq),
  locator integer,
  span_start integer,
  span_end integer,
  quote text,
  source_kind text not null,
  score real,
  judge text,
  noted_at text not null,
  counted integer not null check (counted in (0, 1)),
  user_id text
) strict;
create index record_evidence_record on record_evidence(record_seq);
create index record_evidence_source on record_evidence(source_type, source_id);
create index record_evidence_session on record_evidence(session_seq) where session_seq is not null;
create index record_evidence_user on record_evidence(user_id) where user_id is not null;

create table suppressed_evidence (
  seq integer primary key,
  session_seq integer not null references sessions(seq),
  turn integer not null,
  span_start integer not null,
  span_end integer not null,
  record_seq integer references records(seq),
  user_id text,
  noted_at text not null
) strict;
create index suppressed_evidence_session on suppressed_evidence(session_seq, turn);
create index suppressed_evidence_user on suppressed_evidence(user_id) where user_id is not null;

create table embeddings (
  seq integer primary key references records(seq),
  model text not null,
  version text not null,
  dims integer not null,
  vector blob not null,
  index_version integer not null
) strict;
create index embeddings_index_version on embeddings(index_version);

create table token_vectors (
  seq integer primary key references embeddings(seq) on delete cascade,
  vector_version integer not null,
  codes blob not null
) strict;

create virtual table records_fts using fts5(
  content, subject, aliases,
  tokenize = 'porter unicode61 remove_diacritics 2'
);
insert into records_fts(records_fts, rank) values ('secure-delete', 1);

create table sessions (
  seq integer primary key autoincrement,
  id text not null unique,
  external_id text not null,
  segment integer not null default 1,
  conversation_id text not null,
  agent_id text not null,
  user_id text not null,
  project_id text,
  recorded integer not null default 1 check (recorded in (0, 1)),
  started_at text not null,
  last_turn_at text,
  ended_at text,
  ended_by text check (ended_by in ('host', 'idle')),
  extraction_requested_at text,
  extraction_stage text check (extraction_stage in ('extract', 'review')),
  extraction_mode text check (extraction_mode in ('run', 'rerun')),
  extraction_started_at text,
  extraction_token text,
  extraction_attempts integer not null default 0,
  extraction_next_at text,
  extraction_failed_at text,
  extraction_error text,
  extracted_at text,
  content_hash text,
  unique (agent_id, user_id, external_id, segment)
) strict;
create index sessions_conversation on sessions(conversation_id, segment);
create index sessions_user on sessions(user_id);
create index sessions_due on sessions(extraction_requested_at)
  where extraction_requested_at is not null and extracted_at is null and extraction_failed_at is null;
create index sessions_open on sessions(last_turn_at) where ended_at is null;

create table session_turns (
  session_seq integer not null references sessions(seq),
  turn integer not null,
  role text not null check (role in ('user', 'assistant', 'tool')),
  origin text not null check (origin in ('dialogue', 'tool', 'memory_tool', 'recall', 'summary', 'host')),
  name text,
  tool_name text,
  external_key text,
  content text not null,
  at text not null,
  blanked_at text,
  primary key (session_seq, turn)
) strict, without rowid;
create unique index session_turns_external on session_turns(session_seq, external_key)
  where external_key is not null;

create table session_profiles (
  session_seq integer not null references sessions(seq),
  agent_id text not null,
  user_id text not null,
  record_ids text not null check (json_valid(record_ids)),
  truncated integer not null check (truncated in (0, 1)),
  created_at text not null,
  primary key (session_seq, agent_id)
) strict, without rowid;

create table extraction_drafts (
  seq integer primary key,
  session_seq integer not null references sessions(seq),
  position integer not null,
  kind text not null check (kind in ('candidate', 'summary')),
  draft text not null check (json_valid(draft)),
  prompt_version text not null,
  created_at text not null,
  unique (session_seq, kind, position)
) strict;

create table extraction_rejections (
  seq integer primary key,
  session_seq integer not null references sessions(seq),
  reason text not null,
  candidate text not null check (json_valid(candidate)),
  noted_at text not null
) strict;
create index extraction_rejections_session on extraction_rejections(session_seq);

create table events (
  seq integer primary key autoincrement,
  id text not null unique,
  at text not null,
  kind text not null,
  payload text check (payload is null or json_valid(payload)),
  payload_salt blob not null,
  payload_digest blob not null,
  prev_hash blob not null,
  hash blob not null
) strict;
create index events_at on events(at);
create index events_kind on events(kind, seq);

create table event_refs (
  seq integer primary key references events(seq),
  actor text not null,
  record_id text,
  entity_id text,
  session_id text,
  user_id text
) strict;
create index event_refs_record on event_refs(record_id) where record_id is not null;
create index event_refs_entity on event_refs(entity_id) where entity_id is not null;
create index event_refs_session on event_refs(session_id) where session_id is not null;
create index event_refs_user on event_refs(user_id) where user_id is not null;

create table search_log (
  seq integer primary key autoincrement,
  id text not null unique,
  at text not null,
  agent_id text not null,
  user_id text not null,
  session_id text,
  trigger text not null check (trigger in ('tool', 'auto')),
  detail text not null check (detail in ('full', 'summary')),
  request text not null check (json_valid(request)),
  context text,
  rewrite_status text not null,
  rewritten_queries text check (rewritten_queries is null or json_valid(rewritten_queries)),
  readable_scopes text not null check (json_valid(readable_scopes)),
  candidates text not null check (json_valid(candidates)),
  dense text not null check (json_valid(dense)),
  lexical text not null check (json_valid(lexical)),
  entity text not null check (json_valid(entity)),
  fused text not null check (json_valid(fused)),
  freshness text not null check (json_valid(freshness)),
  gate_inputs text not null check (json_valid(gate_inputs)),
  gated_out text not null check (json_valid(gated_out)),
  deduped_out text not null check (json_valid(deduped_out)),
  reranked text check (reranked is null or json_valid(reranked)),
  reranked_out text not null default '[]' check (json_valid(reranked_out)),
  rerank_status text not null,
  rerank_error text,
  budget_out text not null check (json_valid(budget_out)),
  returned text not null check (json_valid(returned)),
  explanations text not null check (json_valid(explanations)),
  empty_reason text,
  degraded text not null default '[]' check (json_valid(degraded)),
  config_flags text not null check (json_valid(config_flags)),
  pipeline text not null check (json_valid(pipeline)),
  pipeline_version text not null,
  warm integer not null check (warm in (0, 1)),
  timings_ms text not null check (json_valid(timings_ms))
) strict;
create index search_log_at on search_log(at);
create index search_log_user on search_log(user_id, at);
create index search_log_session on search_log(session_id) where session_id is not null;

create table turn_decisions (
  seq integer primary key autoincrement,
  id text not null unique,
  at text not null,
  agent_id text not null,
  user_id text not null,
  session_id text,
  turn integer,
  disposition text not null,
  shadow integer not null check (shadow in (0, 1)),
  profile_record_ids text not null check (json_valid(profile_record_ids)),
  inventory text not null check (json_valid(inventory)),
  gaps text not null check (json_valid(gaps)),
  gap_status text not null,
  candidate_ids text not null check (json_valid(candidate_ids)),
  verdicts text not null check (json_valid(verdicts)),
  admitted_ids text not null check (json_valid(admitted_ids)),
  admission_status text not null,
  requested_budget_ms real,
  effective_budget_ms real,
  timings_ms text not null check (json_valid(timings_ms)),
  failures text not null check (json_valid(failures)),
  config text not null check (json_valid(config)),
  bundle_hash text not null,
  bundle_retrieval_verified integer not null check (bundle_retrieval_verified in (0, 1)),
  usage text not null check (json_valid(usage))
) strict;
create index turn_decisions_at on turn_decisions(at);
create index turn_decisions_user on turn_decisions(user_id, at);
create index turn_decisions_session on turn_decisions(session_id) where session_id is not null;

create table reviews (
  seq integer primary key autoincrement,
  id text not null unique,
  kind text not null,
  record_seq integer references records(seq),
  proposed text,
  payload text not null check (json_valid(payload)),
  status text not null check (status in ('open', 'resolved')),
  reason text,
  confidence real,
  policy_version text,
  created_at text not null,
  resolved_at text,
  resolver text,
  resolution text
) strict;
create unique index reviews_open on reviews(kind, record_seq) where status = 'open';
create index reviews_status on reviews(status, created_at);

create table bundle_fitness (
  seq integer primary key autoincrement,
  id text not null unique,
  bundle_hash text not null,
  bundle text not null check (json_valid(bundle)),
  suite_version text not null,
  passed integer not null check (passed in (0, 1)),
  evidence text not null,
  recorded_by text not null,
  recorded_at text not null
) strict;
create index bundle_fitness_hash on bundle_fitness(bundle_hash, seq);

create table job_runs (
  job text primary key,
  token text,
  leased_until text,
  last_ok text,
  cursor text,
  done integer,
  total integer,
  target text
) strict, without rowid;

create table provider_state (
  provider text not null,
  base_url text not null,
  state text not null,
  failures integer not null default 0,
  open_until text,
  updated_at text not null,
  primary key (provider, base_url)
) strict, without rowid;

create table budget_usage (
  provider text not null,
  day text not null,
  tokens integer not null default 0,
  calls integer not null default 0,
  primary key (provider, day)
) strict, without rowid;

create table scrub_jobs (
  seq integer primary key autoincrement,
  receipt_id text not null,
  state text not null check (state in ('pending', 'complete')),
  requested_at text not null,
  finished_at text,
  report text not null check (json_valid(report))
) strict;

create table erasure_ledger (
  seq integer primary key autoincrement,
  id text not null unique,
  at text not null,
  target_kind text not null,
  target_digest blob not null,
  selectors text not null check (json_valid(selectors)),
  reason text not null
) strict;

create table migration_issues (
  migration_version integer not null,
  record_seq integer not null references records(seq),
  issue text not null,
  acknowledged_at text,
  primary key (migration_version, record_seq)
) strict, without rowid;
