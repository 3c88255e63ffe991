-- How a model is asked, beside by whom: other providers that answer for it, prices, options. What an admin has
-- edited is left alone by seeding.
ALTER TABLE models
    ADD COLUMN via       jsonb NOT NULL DEFAULT '{}',
    ADD COLUMN prices    jsonb,
    ADD COLUMN options   jsonb NOT NULL DEFAULT '{}',
    ADD COLUMN edited_at timestamptz;

ALTER TABLE prompts
    ADD COLUMN edited_at timestamptz;

-- A wanted build, and what became of it. Whoever works on a running one holds its lease, and names its fence
-- with every write: once somebody else has taken it over, the fence is another.
CREATE TABLE jobs (
    id           uuid        PRIMARY KEY,
    prompt_id    text        NOT NULL REFERENCES prompts (id),
    model_key    text        NOT NULL REFERENCES models (key),
    grid_size    smallint    NOT NULL CHECK (grid_size IN (32, 64, 128, 256)),
    palette      text        NOT NULL CHECK (palette IN ('simple', 'advanced')),
    mode         text        NOT NULL CHECK (mode ~ '^[a-z0-9-]{1,32}$'),
    state        text        NOT NULL DEFAULT 'queued'
                             CHECK (state IN ('queued', 'running', 'ready', 'failed', 'cancelled')),
    wanted_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_at   timestamptz,
    ended_at     timestamptz,
    -- Who is asked, of those who answer for the model.
    provider     text,
    fence        bigint      NOT NULL DEFAULT 0,
    -- Servers that did not survive it.
    breaks       integer     NOT NULL DEFAULT 0,
    leased_until timestamptz,
    -- How far the answer under way has come, and what it waits for.
    chars        bigint      NOT NULL DEFAULT 0,
    note         text,
    build_id     uuid        REFERENCES builds (id),
    error_code   text,
    error        text,
    CHECK ((state = 'running') = (leased_until IS NOT NULL)),
    CHECK ((state = 'ready') = (build_id IS NOT NULL)),
    CHECK ((state IN ('queued', 'running')) = (ended_at IS NULL))
);

-- Nothing is asked twice.
CREATE UNIQUE INDEX one_job_under_way
    ON jobs (prompt_id, model_key, grid_size, palette, mode)
    WHERE state IN ('queued', 'running');

CREATE INDEX jobs_under_way ON jobs (wanted_at, id) WHERE state IN ('queued', 'running');

CREATE INDEX jobs_by_place ON jobs (prompt_id, model_key, grid_size, palette, mode, wanted_at DESC);

-- One question of a job, and its answer: what was paid for is kept, whatever came of it.
CREATE TABLE attempts (
    job_id           uuid        NOT NULL REFERENCES jobs (id),
    number           integer     NOT NULL CHECK (number > 0),
    started_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at         timestamptz,
    outcome          text        CHECK (outcome IN ('accepted', 'refused', 'failed', 'unread', 'interrupted', 'cancelled')),
    code             text,
    message          text,
    -- As it came; Postgres compresses it.
    answer           bytea,
    -- From sending the request that was answered to the end of the answer.
    answer_ms        bigint,
    input_tokens     bigint,
    output_tokens    bigint,
    reasoning_tokens bigint,
    -- Millionths of a dollar; unknown where the price is, or the usage.
    cost             bigint,
    notes            jsonb       NOT NULL DEFAULT '[]',
    PRIMARY KEY (job_id, number),
    CHECK ((outcome IS NULL) = (ended_at IS NULL))
);

CREATE UNIQUE INDEX one_attempt_under_way ON attempts (job_id) WHERE ended_at IS NULL;

-- An answer while it streams in, so that an interrupted one is not lost. Gone when the attempt ends.
CREATE TABLE answer_parts (
    job_id uuid    NOT NULL,
    number integer NOT NULL,
    part   bigint  GENERATED ALWAYS AS IDENTITY,
    text   bytea   NOT NULL,
    PRIMARY KEY (job_id, number, part),
    FOREIGN KEY (job_id, number) REFERENCES attempts (job_id, number)
);

-- What admins did.
CREATE TABLE audit (
    id      bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- How they came: api, console or cli; and from where.
    via     text        NOT NULL,
    address text,
    action  text        NOT NULL,
    subject text        NOT NULL,
    detail  jsonb       NOT NULL DEFAULT '{}'
);
