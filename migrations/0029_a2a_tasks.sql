-- What clients of the A2A protocol have asked of this installation, so that every server can answer for all of it.
CREATE TABLE a2a_tasks (
    -- Begins with the time.
    id           uuid        PRIMARY KEY,
    context_id   text        NOT NULL CHECK (octet_length(context_id) BETWEEN 1 AND 256),
    -- NULL: anybody who knows the id.
    owner        text        CHECK (owner = 'admin'),
    state        text        NOT NULL,
    -- As the protocol writes it in version 1.0.
    task         text        NOT NULL,
    -- Grows with each change.
    revision     bigint      NOT NULL DEFAULT 0,
    changed_at   timestamptz NOT NULL DEFAULT now(),
    -- Whoever works on it changes it before then, or has been lost.
    worked_until timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL
);

CREATE INDEX a2a_tasks_by_context ON a2a_tasks (context_id, id);
CREATE INDEX a2a_tasks_by_owner ON a2a_tasks (owner, id) WHERE owner IS NOT NULL;
CREATE INDEX a2a_tasks_by_end ON a2a_tasks (expires_at);
