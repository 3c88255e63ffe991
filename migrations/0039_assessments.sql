-- Agents are put through tasks of the block world, and what came of it.
CREATE TABLE assessments (
    -- Begins with the time.
    id             uuid        PRIMARY KEY,
    -- NULL: an address that no agent has, or an agent that was removed.
    agent_key      text        REFERENCES agents ON DELETE SET NULL,
    -- Where the agent is asked.
    url            text        NOT NULL,
    -- Whether its address may be in a private network.
    allows_private boolean     NOT NULL,
    ordered_by     text        NOT NULL CHECK (ordered_by IN ('admin', 'owner', 'visitor')),
    -- Whose token, where an owner ordered it.
    token_id       uuid        REFERENCES agent_tokens ON DELETE SET NULL,
    -- The A2A task in which it was ordered.
    a2a_task       uuid        UNIQUE,
    -- As it was ordered.
    config         jsonb       NOT NULL,
    -- The engine of the world, and how scores are put together.
    world          text        NOT NULL,
    revision       text        NOT NULL CHECK (revision IN ('mcu-1', 'mcu-0', 'mcu-1-code')),
    seed           bigint      NOT NULL CHECK (seed >= 0),
    -- A seed that was drawn is secret until the assessment has ended.
    seed_is_drawn  boolean     NOT NULL,
    state          text        NOT NULL DEFAULT 'queued'
                               CHECK (state IN ('queued', 'running', 'finished', 'failed', 'cancelled')),
    -- Why it failed.
    problem        text,
    -- What the agent's card said when the assessment began.
    card           jsonb,
    wanted_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_at     timestamptz,
    ended_at       timestamptz,
    -- Whoever runs it names this number with every write; each claim raises it.
    fence          bigint      NOT NULL DEFAULT 0,
    -- Servers that did not survive it.
    breaks         integer     NOT NULL DEFAULT 0,
    leased_until   timestamptz,
    CHECK ((state = 'running') = (leased_until IS NOT NULL)),
    CHECK ((state IN ('queued', 'running')) = (ended_at IS NULL)),
    CHECK ((state = 'failed') = (problem IS NOT NULL)),
    CHECK ((ordered_by = 'owner') OR (token_id IS NULL))
);

-- An agent is assessed once at a time.
CREATE UNIQUE INDEX one_assessment_of_an_agent ON assessments (url) WHERE state = 'running';

CREATE INDEX assessments_to_do ON assessments (wanted_at, id) WHERE state IN ('queued', 'running');
CREATE INDEX assessments_of_agents ON assessments (agent_key, id);
CREATE INDEX assessments_by_token ON assessments (token_id, wanted_at) WHERE token_id IS NOT NULL;

-- An agent at one task.
CREATE TABLE runs (
    id            uuid             PRIMARY KEY,
    assessment_id uuid             NOT NULL REFERENCES assessments ON DELETE CASCADE,
    -- From 1, in the order in which they are run.
    number        integer          NOT NULL CHECK (number > 0),
    category      text             NOT NULL,
    task          text             NOT NULL,
    max_steps     integer          NOT NULL CHECK (max_steps > 0),
    state         text             NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'ended')),
    started_at    timestamptz,
    ended_at      timestamptz,
    -- These grow while it runs.
    steps         integer          NOT NULL DEFAULT 0,
    messages      integer          NOT NULL DEFAULT 0,
    -- Messages without an answer in time, and answers that were no action.
    unanswered    integer          NOT NULL DEFAULT 0,
    unreadable    integer          NOT NULL DEFAULT 0,
    -- What the world has paid.
    given         double precision NOT NULL DEFAULT 0,
    -- How long the agent took for its answers, in all.
    answer_ms     bigint           NOT NULL DEFAULT 0,
    -- These are known at the end.
    payable       double precision,
    ending        text             CHECK (ending IN ('finished', 'died', 'refused', 'silent', 'time_up', 'broken')),
    -- In words, why it ended early.
    ending_words  text,
    -- Whether actions were held for several steps, and whether anything was crafted past the pointer.
    held          boolean          NOT NULL DEFAULT false,
    assisted      boolean          NOT NULL DEFAULT false,
    -- In which steps something was paid and how much, and what was not paid.
    paid          jsonb            NOT NULL DEFAULT '[]',
    open          jsonb            NOT NULL DEFAULT '[]',
    recording     bytea,
    UNIQUE (assessment_id, number),
    CHECK ((state = 'ended') = (ending IS NOT NULL)),
    CHECK ((state = 'ended') = (ended_at IS NOT NULL)),
    CHECK ((state = 'waiting') = (started_at IS NULL)),
    CHECK (state <> 'ended' OR ending = 'broken' OR (payable IS NOT NULL AND recording IS NOT NULL))
);

CREATE UNIQUE INDEX one_run_at_a_time ON runs (assessment_id) WHERE state = 'running';

-- What an assessment came to, as it is published. A judge that is asked later makes another one beside it.
CREATE TABLE assessment_results (
    id            uuid        PRIMARY KEY,
    assessment_id uuid        NOT NULL REFERENCES assessments ON DELETE CASCADE,
    -- The model that judged the runs.
    judge         text,
    result        json        NOT NULL,
    made_at       timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE UNIQUE INDEX one_result_of_a_judge ON assessment_results (assessment_id, coalesce(judge, ''));

-- The best result of each agent on each board: of a whole category, at its usual number of steps, with a drawn seed.
CREATE TABLE board_entries (
    category      text             NOT NULL,
    agent_key     text             NOT NULL REFERENCES agents ON DELETE CASCADE,
    -- Where the agent was, and the version of its card. Results of other ones do not rank.
    url           text             NOT NULL,
    version       text             NOT NULL,
    -- Only results that are alike in all of these are compared.
    world         text             NOT NULL,
    revision      text             NOT NULL,
    judge         text,
    assisted      boolean          NOT NULL,
    -- How many results there were, of which this is the best.
    tries         integer          NOT NULL DEFAULT 1,
    assessment_id uuid             NOT NULL REFERENCES assessments ON DELETE CASCADE,
    tasks         integer          NOT NULL CHECK (tasks > 0),
    total         double precision NOT NULL,
    max           double precision NOT NULL,
    ended_at      timestamptz      NOT NULL
);

CREATE UNIQUE INDEX one_entry_of_an_agent ON board_entries
    (category, agent_key, url, version, world, revision, coalesce(judge, ''), assisted);

-- A task that came of a message by the owner of an agent belongs to the owner's token.
ALTER TABLE a2a_tasks DROP CONSTRAINT a2a_tasks_owner_check;
ALTER TABLE a2a_tasks ADD CONSTRAINT a2a_tasks_owner_check
    CHECK (owner = 'admin' OR owner ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$');
