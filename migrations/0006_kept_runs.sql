-- Runs of the sandbox that somebody keeps for a while, under a link that nobody can guess. They last as long as what
-- came of them does.
CREATE TABLE kept_runs (
    id         uuid        PRIMARY KEY,
    voter_id   uuid        NOT NULL,
    a          uuid        UNIQUE REFERENCES drafts ON DELETE CASCADE,
    b          uuid        UNIQUE REFERENCES drafts ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    CHECK (a IS NOT NULL OR b IS NOT NULL)
);

CREATE INDEX kept_runs_by_voter ON kept_runs (voter_id, created_at DESC);

-- The first two are unknown for what was pasted; nobody reads the third.
ALTER TABLE drafts
    ALTER COLUMN attempts DROP NOT NULL,
    ALTER COLUMN generation_time_ms DROP NOT NULL,
    DROP COLUMN spec;
