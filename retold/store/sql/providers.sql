-- name: get
-- What is known of a provider at one address.
select state, failures, open_until
from provider_state
where provider = :provider and base_url = :base_url;

-- name: set
-- Replace what is known of a provider at one address.
insert into provider_state (provider, base_url, state, failures, open_until, updated_at)
values (:provider, :base_url, :state, :failures, :open_until, :now)
on conflict (provider, base_url) do update set
  state = excluded.state, failures = excluded.failures, open_until = excluded.open_until,
  updated_at = excluded.updated_at;

-- name: list_down
-- Providers that do not let every call through.
select provider, base_url, state, failures, open_until
from provider_state
where state <> 'closed'
order by provider, base_url;
