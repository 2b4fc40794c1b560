-- name: list_for
-- What one agent may do in shared scopes, in scope order, with the code of each.
select s.code, s.kind, s.id, g.can_read, g.can_write
from grants as g
join scopes as s on s.code = g.scope_code
where g.agent_id = :agent_id
order by s.kind, s.id;

-- name: list_all
-- Every grant, by agent and scope.
select g.agent_id, s.kind, s.id, g.can_read, g.can_write
from grants as g
join scopes as s on s.code = g.scope_code
order by g.agent_id, s.kind, s.id;

-- name: set
-- Give or change one agent's rights in one scope.
insert into grants(agent_id, scope_code, can_read, can_write)
values (:agent_id, :scope_code, :can_read, :can_write)
on conflict (agent_id, scope_code)
do update set can_read = excluded.can_read, can_write = excluded.can_write;

-- name: delete
-- Take one agent's rights in one scope away.
delete from grants where agent_id = :agent_id and scope_code = :scope_code;
