-- Providers in trouble. Nobody asks one until `until`, or until an admin resumes it where that is null. After that one job
-- at a time probes it, and the row goes when a probe has been answered.
CREATE TABLE provider_pauses (
    provider    text        PRIMARY KEY,
    trouble     text        NOT NULL CHECK (
        trouble IN ('bad_key', 'no_credit', 'rate_limited', 'overloaded', 'unreachable', 'stalled')
    ),
    -- In the provider's words.
    message     text        NOT NULL,
    -- Troubles in a row, which make the pauses longer.
    strikes     integer     NOT NULL CHECK (strikes > 0),
    paused_at   timestamptz NOT NULL,
    until       timestamptz,
    -- The claim that probes. No foreign key: whether it still runs is looked up.
    probe_job   uuid,
    probe_fence bigint,
    CHECK ((probe_job IS NULL) = (probe_fence IS NULL))
);

-- How often the provider's trouble has put a job back. Such jobs come last, so that one of a model that only seems to be
-- its provider's trouble does not hold up the others.
ALTER TABLE jobs ADD COLUMN setbacks integer NOT NULL DEFAULT 0;

DROP INDEX jobs_under_way;
CREATE INDEX jobs_under_way ON jobs (setbacks, wanted_at, id) WHERE state IN ('queued', 'running');

-- Since when an admin has paused the whole queue.
ALTER TABLE installation ADD COLUMN queue_paused_at timestamptz;
