-- Nobody may price attempts between the sums below and the new trigger.
LOCK TABLE attempts IN SHARE ROW EXCLUSIVE MODE;

-- What asking models has cost, so that budgets are checked without adding up all that was ever asked.
CREATE TABLE spending_days (
    -- In UTC, of when the cost was recorded.
    day          date   NOT NULL,
    -- No foreign key: money stays spent when its model is deleted.
    model_key    text   NOT NULL,
    purpose      text   NOT NULL CHECK (purpose IN ('job', 'probe', 'sandbox')),
    -- Millionths of a dollar.
    spent        bigint NOT NULL DEFAULT 0,
    -- Requests that may have cost more than is known.
    unpriced     bigint NOT NULL DEFAULT 0,
    -- Whole answers of known cost, and what they cost together: what the next answer is expected to cost.
    answers      bigint NOT NULL DEFAULT 0,
    answers_cost bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (day, model_key, purpose)
);

CREATE INDEX spending_by_model ON spending_days (model_key, day);

INSERT INTO spending_days (day, model_key, purpose, spent, unpriced, answers, answers_cost)
SELECT
    (coalesce(attempts.ended_at, attempts.started_at) AT TIME ZONE 'UTC')::date, model_key, 'job',
    coalesce(sum(cost), 0),
    count(*) FILTER (WHERE attempts.ended_at IS NOT NULL AND (cost IS NULL OR cost_is_minimum)),
    count(*) FILTER (WHERE attempts.ended_at IS NOT NULL AND cost > 0 AND NOT cost_is_minimum),
    coalesce(sum(cost) FILTER (WHERE attempts.ended_at IS NOT NULL AND cost > 0 AND NOT cost_is_minimum), 0)
FROM attempts
JOIN jobs ON jobs.id = job_id
GROUP BY 1, 2;

-- The row of the installation is locked first, so that whoever holds one of the day's rows needs no further lock.
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
            CASE WHEN is_answer THEN NEW.cost ELSE 0 END - CASE WHEN was_answer THEN OLD.cost ELSE 0 END
        FROM jobs
        WHERE id = NEW.job_id
        ON CONFLICT (day, model_key, purpose) DO UPDATE
        SET spent = known.spent + excluded.spent, unpriced = known.unpriced + excluded.unpriced,
            answers = known.answers + excluded.answers, answers_cost = known.answers_cost + excluded.answers_cost;
    END IF;
    RETURN NULL;
END
$$;

-- What a model may cost in all.
CREATE TABLE model_budgets (
    model_key text        PRIMARY KEY REFERENCES models (key) ON DELETE CASCADE,
    -- Millionths of a dollar; null if an admin has removed what the catalog's files say.
    budget    bigint      CHECK (budget >= 0),
    -- What an admin has set is left alone by seeding.
    edited_at timestamptz
);

-- Budgets of which a share was spent. A row exists once for a budget, its period, its size and the share, so that each
-- alarm is raised once over all servers.
CREATE TABLE budget_alarms (
    -- day, month, sandbox, or 'model:' and a key.
    budget       text        NOT NULL,
    -- The first day of the period. A model's budget has none, so it is that of 1970.
    period       date        NOT NULL,
    -- Millionths of a dollar.
    amount       bigint      NOT NULL,
    percent      smallint    NOT NULL CHECK (percent IN (80, 100)),
    -- What was spent when the alarm was raised.
    spent        bigint      NOT NULL,
    raised_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Whoever sends it moves `next_try_at` first, so that no other server sends it, too.
    tries        integer     NOT NULL DEFAULT 0,
    next_try_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    delivered_at timestamptz,
    PRIMARY KEY (budget, period, amount, percent)
);
