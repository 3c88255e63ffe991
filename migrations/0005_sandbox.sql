-- What the sandbox made, for an hour. Never in the arena: nothing there looks at this table.
CREATE TABLE drafts (
    id                 uuid        PRIMARY KEY,
    prompt             text        NOT NULL CHECK (length(prompt) BETWEEN 1 AND 800),
    grid_size          smallint    NOT NULL CHECK (grid_size IN (32, 64, 128, 256)),
    palette            text        NOT NULL CHECK (palette IN ('simple', 'advanced')),
    -- As its maker named it; not always one of the catalog's.
    model              text        NOT NULL,
    digest             bytea       NOT NULL CHECK (length(digest) = 32),
    grid               bytea       NOT NULL,
    spec               bytea       NOT NULL,
    warnings           jsonb       NOT NULL,
    block_count        integer     NOT NULL CHECK (block_count > 0),
    attempts           integer     NOT NULL,
    generation_time_ms bigint      NOT NULL,
    created_at         timestamptz NOT NULL DEFAULT now(),
    expires_at         timestamptz NOT NULL
);

ALTER TABLE drafts
    ALTER COLUMN grid SET STORAGE EXTERNAL,
    ALTER COLUMN spec SET STORAGE EXTERNAL;

CREATE INDEX drafts_by_expiry ON drafts (expires_at);
