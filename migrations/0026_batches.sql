-- Batches: requests that are sent to a provider all at once and answered within a day, at a lower price.
--
-- A batch is reserved together with its jobs before anything is sent. It is 'submitting' from before its submission is
-- sent until the provider's id for it is stored: whoever takes over a batch in this state looks for it at the provider
-- before submitting it again. It is 'collecting' once the provider has ended it.
CREATE TABLE batches (
    id            uuid        PRIMARY KEY,
    provider      text        NOT NULL,
    model_key     text        NOT NULL,
    -- The provider's name for the model.
    model_id      text        NOT NULL,
    -- Which part of the list price its requests cost.
    price_part    float8      NOT NULL CHECK (price_part > 0),
    state         text        NOT NULL DEFAULT 'reserved'
                              CHECK (state IN ('reserved', 'submitting', 'submitted', 'collecting', 'ended')),
    reserved_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- When the submission that counts was begun, and the jobs that it named, in their order.
    submitting_at timestamptz,
    requests      uuid[]      NOT NULL DEFAULT '{}',
    -- How the model was asked, as in attempts; the templates are those of the requests, in their order.
    options       jsonb,
    templates     bytea[]     NOT NULL DEFAULT '{}',
    sent          jsonb,
    notes         jsonb       NOT NULL DEFAULT '[]',
    -- The provider's id.
    remote_id     text,
    -- Whether the provider's batch was recognised only by its time and its size. Such a batch may be somebody else's, so
    -- it is never cancelled.
    is_guess      boolean     NOT NULL DEFAULT false,
    ended_at      timestamptz,
    -- How it ended: completed, expired, cancelled, failed or lost, and why.
    outcome       text,
    message       text,
    -- Steps in a row that found nothing to do.
    polls         integer     NOT NULL DEFAULT 0,
    next_step_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- The server that takes the next step; as for jobs.
    fence         bigint      NOT NULL DEFAULT 0,
    leased_until  timestamptz,
    CHECK (state IN ('reserved', 'ended') OR (submitting_at IS NOT NULL AND options IS NOT NULL)),
    CHECK (cardinality(templates) = cardinality(requests)),
    CHECK (state NOT IN ('submitted', 'collecting') OR remote_id IS NOT NULL),
    CHECK ((state = 'ended') = (ended_at IS NOT NULL)),
    CHECK ((state = 'ended') = (outcome IS NOT NULL))
);

CREATE INDEX open_batches ON batches (next_step_at) WHERE state <> 'ended';

-- Jobs that are only asked for in batches. They stay queued until their answer has come; one that has a batch is part
-- of it, and one without waits for the next.
ALTER TABLE jobs
    ADD COLUMN batched  boolean NOT NULL DEFAULT false,
    ADD COLUMN batch_id uuid    REFERENCES batches (id),
    ADD CHECK (batch_id IS NULL OR batched);

CREATE INDEX jobs_by_batch ON jobs (batch_id) WHERE batch_id IS NOT NULL;

-- The provider's id of an answer that it makes in the background, by which the answer is fetched if the connection or the
-- server is lost.
ALTER TABLE attempts ADD COLUMN remote_id text;

-- Which part of the list price it cost.
ALTER TABLE attempts ADD COLUMN price_part float8 NOT NULL DEFAULT 1 CHECK (price_part > 0);

-- As before, but what answers cost is counted at the list price, so that it tells what the next answer is expected to
-- cost whether it comes in a batch or not.
CREATE OR REPLACE FUNCTION attempt_priced() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    -- Of an attempt that is inserted there is no old row, and of one that is deleted no new one: all is null then.
    cost_by     bigint  := coalesce(NEW.cost, 0) - coalesce(OLD.cost, 0);
    unpriced_by integer := (NEW.ended_at IS NOT NULL AND (NEW.cost IS NULL OR NEW.cost_is_minimum))::integer
                         - (OLD.ended_at IS NOT NULL AND (OLD.cost IS NULL OR OLD.cost_is_minimum))::integer;
    is_answer   boolean := coalesce(NEW.ended_at IS NOT NULL AND NEW.cost > 0 AND NOT NEW.cost_is_minimum, false);
    was_answer  boolean := coalesce(OLD.ended_at IS NOT NULL AND OLD.cost > 0 AND NOT OLD.cost_is_minimum, false);
BEGIN
    IF cost_by = 0 AND unpriced_by = 0 AND is_answer = was_answer THEN
        RETURN NULL;
    END IF;
    UPDATE installation
    SET spent = spent + cost_by, unpriced_attempts = unpriced_attempts + unpriced_by;
    -- A deleted attempt was paid for all the same.
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO spending_days AS known (day, model_key, purpose, spent, unpriced, answers, answers_cost)
        SELECT
            (clock_timestamp() AT TIME ZONE 'UTC')::date, model_key, 'job', cost_by, unpriced_by,
            is_answer::integer - was_answer::integer,
            (CASE WHEN is_answer THEN NEW.cost / NEW.price_part ELSE 0 END
                - CASE WHEN was_answer THEN OLD.cost / OLD.price_part ELSE 0 END)::bigint
        FROM jobs
        WHERE id = NEW.job_id
        ON CONFLICT (day, model_key, purpose) DO UPDATE
        SET spent = known.spent + excluded.spent, unpriced = known.unpriced + excluded.unpriced,
            answers = known.answers + excluded.answers, answers_cost = known.answers_cost + excluded.answers_cost;
    END IF;
    RETURN NULL;
END
$$;
