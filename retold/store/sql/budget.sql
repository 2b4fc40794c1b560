-- name: used
-- The tokens of one day over all providers.
select coalesce(sum(tokens), 0) from budget_usage where day = :day;

-- name: list_for
-- What each provider was used for on one day.
select provider, tokens, calls from budget_usage where day = :day order by provider;

-- name: add
-- Count more of one provider on one day, or less when what was set aside was not used up.
insert into budget_usage(provider, day, tokens, calls)
values (:provider, :day, :tokens, :calls)
on conflict (provider, day)
do update set tokens = tokens + excluded.tokens, calls = calls + excluded.calls;
