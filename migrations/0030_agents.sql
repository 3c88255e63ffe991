-- Agents: programs of others that are asked over the A2A protocol.
CREATE TABLE agents (
    key            text        PRIMARY KEY CHECK (key ~ '^[a-z0-9_]{1,64}$'),
    name           text        NOT NULL,
    -- Where its card is, without a trailing slash.
    url            text        NOT NULL,
    -- The environment variable that holds its secret.
    key_variable   text,
    note           text        NOT NULL DEFAULT '',
    -- A disabled agent is not asked for anything.
    enabled        boolean     NOT NULL DEFAULT true,
    -- Whether it takes part in the arena, as the model of the same key.
    builds         boolean     NOT NULL DEFAULT false,
    -- Whether its address may be in a private network, which only people at this machine decide.
    allows_private boolean     NOT NULL DEFAULT false,
    -- What its card said when it was read last.
    card           jsonb,
    card_read_at   timestamptz,
    -- Why it could not be read since.
    card_problem   text,
    created_at     timestamptz NOT NULL DEFAULT now(),
    -- Set once an admin or its owner has changed it. The catalog's files no longer decide about it then.
    edited_at      timestamptz,
    CHECK ((card IS NULL) = (card_read_at IS NULL))
);

-- What the owner of an agent shows to act for it.
CREATE TABLE agent_tokens (
    id           uuid        PRIMARY KEY,
    agent_key    text        NOT NULL REFERENCES agents ON DELETE CASCADE,
    -- For whom it was made.
    name         text        NOT NULL,
    -- The SHA-256 of the token, which is shown only once.
    digest       bytea       NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
    runs_per_day integer     NOT NULL CHECK (runs_per_day BETWEEN 0 AND 100000),
    created_at   timestamptz NOT NULL DEFAULT now(),
    used_at      timestamptz,
    revoked_at   timestamptz
);

CREATE INDEX agent_tokens_by_agent ON agent_tokens (agent_key);
