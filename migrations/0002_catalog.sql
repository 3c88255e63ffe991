-- A contestant. Disabling one is an admin's decision, which seeding does not undo.
CREATE TABLE models (
    key          text        PRIMARY KEY CHECK (key ~ '^[a-z0-9_]{1,64}$'),
    provider     text        NOT NULL,
    model_id     text        NOT NULL,
    display_name text        NOT NULL,
    about        text        NOT NULL DEFAULT '',
    enabled      boolean     NOT NULL DEFAULT true,
    created_at   timestamptz NOT NULL DEFAULT now()
);

-- A request. Its text stays as it is once there are builds for it.
CREATE TABLE prompts (
    id         text        PRIMARY KEY CHECK (id ~ '^[a-z0-9]+(-[a-z0-9]+)*$' AND length(id) <= 64),
    text       text        NOT NULL CHECK (length(text) BETWEEN 1 AND 800),
    tags       text[]      NOT NULL DEFAULT '{}',
    active     boolean     NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- A checked grid. What it shows never changes: overwriting retires it, and votes
-- go on pointing at what was judged.
CREATE TABLE builds (
    id                 uuid        PRIMARY KEY,
    prompt_id          text        NOT NULL REFERENCES prompts (id),
    model_key          text        NOT NULL REFERENCES models (key),
    grid_size          smallint    NOT NULL CHECK (grid_size IN (32, 64, 128, 256)),
    palette            text        NOT NULL CHECK (palette IN ('simple', 'advanced')),
    mode               text        NOT NULL CHECK (mode ~ '^[a-z0-9-]{1,32}$'),
    -- SHA-256 of the canonical encoding, which is kept compressed.
    digest             bytea       NOT NULL CHECK (length(digest) = 32),
    grid               bytea       NOT NULL,
    grid_is_best       boolean     NOT NULL,
    -- The text it was read from, compressed.
    spec               bytea       NOT NULL,
    warnings           jsonb       NOT NULL,
    block_count        integer     NOT NULL CHECK (block_count > 0),
    attempts           integer,
    generation_time_ms bigint,
    created_at         timestamptz NOT NULL DEFAULT now(),
    retired_at         timestamptz
);

-- One build in force for a prompt, a model and settings.
CREATE UNIQUE INDEX builds_in_force
    ON builds (prompt_id, model_key, grid_size, palette, mode)
    WHERE retired_at IS NULL;

CREATE INDEX builds_by_model ON builds (model_key) WHERE retired_at IS NULL;

CREATE INDEX builds_by_age ON builds (created_at DESC, id) WHERE retired_at IS NULL;

-- Grids and specs come compressed.
ALTER TABLE builds
    ALTER COLUMN grid SET STORAGE EXTERNAL,
    ALTER COLUMN spec SET STORAGE EXTERNAL;

-- What the background still has to compress as well as can be.
CREATE INDEX builds_to_repack ON builds (id) WHERE NOT grid_is_best;
