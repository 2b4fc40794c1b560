-- name: insert
-- One finished search with everything that its stages did.
insert into search_log (
  id, at, agent_id, user_id, session_id, trigger, detail, request, context, rewrite_status,
  rewritten_queries, readable_scopes, candidates, dense, lexical, entity, fused, freshness,
  gate_inputs, gated_out, deduped_out, reranked, reranked_out, rerank_status, rerank_error,
  budget_out, returned, explanations, empty_reason, degraded, config_flags, pipeline,
  pipeline_version, warm, timings_ms
) values (
  :id, :at, :agent_id, :user_id, :session_id, :trigger, :detail, :request, :context,
  :rewrite_status, :rewritten_queries, :readable_scopes, :candidates, :dense, :lexical, :entity,
  :fused, :freshness, :gate_inputs, :gated_out, :deduped_out, :reranked, :reranked_out,
  :rerank_status, :rerank_error, :budget_out, :returned, :explanations, :empty_reason, :degraded,
  :config_flags, :pipeline, :pipeline_version, :warm, :timings_ms
);

-- name: get
-- One logged search.
select id, at, agent_id, user_id, session_id, trigger, detail, request, context, rewrite_status,
  rewritten_queries, readable_scopes, candidates, dense, lexical, entity, fused, freshness,
  gate_inputs, gated_out, deduped_out, reranked, reranked_out, rerank_status, rerank_error,
  budget_out, returned, explanations, empty_reason, degraded, config_flags, pipeline,
  pipeline_version, warm, timings_ms
from search_log
where id = :id;

-- name: page
-- One page of logged searches in the order they were logged.
select id, at, agent_id, user_id, session_id, trigger, detail, request, context, rewrite_status,
  rewritten_queries, readable_scopes, candidates, dense, lexical, entity, fused, freshness,
  gate_inputs, gated_out, deduped_out, reranked, reranked_out, rerank_status, rerank_error,
  budget_out, returned, explanations, empty_reason, degraded, config_flags, pipeline,
  pipeline_version, warm, timings_ms, seq
from search_log
where seq > :after_seq
  and (:since is null or at >= :since)
  and (:until is null or at < :until)
  and (:user_id is null or user_id = :user_id)
order by seq
limit :limit;

-- name: returned_ending
-- Records that the searches of one conversation returned and whose id has this ending.
select distinct shown.value
from sessions
join search_log on search_log.session_id = sessions.id
join json_each(search_log.returned) as shown
where sessions.agent_id = :agent_id
  and sessions.user_id = :user_id
  and sessions.external_id = :external_id
  and substr(shown.value, -length(:ending)) = :ending;
