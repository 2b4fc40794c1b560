-- name: code
-- The integer code of a scope.
select code from scopes where kind = :kind and id = :id;

-- name: get
-- A scope by its code.
select kind, id from scopes where code = :code;

-- name: insert
-- Give a new scope a code; a racing insert is a no-op.
insert into scopes(kind, id) values (:kind, :id) on conflict (kind, id) do nothing;

-- name: codes
-- The codes of several scopes at once.
select s.code, s.kind, s.id
from json_each(:scopes) as wanted
join scopes as s on s.kind = wanted.value ->> 0 and s.id = wanted.value ->> 1;
