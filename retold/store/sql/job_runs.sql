-- name: get
-- One job with the lease on it.
select job, token, leased_until, last_ok, cursor, done, total from job_runs where job = :job;

-- name: take
-- Give the job to a new holder; where the last one stopped stays as it is.
insert into job_runs(job, token, leased_until) values (:job, :token, :leased_until)
on conflict (job) do update set token = excluded.token, leased_until = excluded.leased_until;

-- name: advance
-- Remember how far the holder is, and let it keep the job for longer.
update job_runs
set leased_until = :leased_until, cursor = :cursor, done = :done, total = :total
where job = :job and token = :token;

-- name: finish
-- Give the job back after all of it was done.
update job_runs set token = null, leased_until = null, cursor = null, last_ok = :now
where job = :job and token = :token;

-- name: leave
-- Give the job back before its end; the next holder goes on where this one stopped.
update job_runs set token = null, leased_until = null where job = :job and token = :token;
