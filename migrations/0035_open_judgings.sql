-- The one build that a person is asked to judge, and what it was asked by. It is named by an id of its own, since that of
-- the build leads to its maker.
CREATE TABLE open_judgings (
    voter_id   uuid        PRIMARY KEY,
    id         uuid        NOT NULL,
    build_id   uuid        NOT NULL REFERENCES builds (id),
    criteria   bytea       NOT NULL CHECK (length(criteria) = 32),
    -- It is open until then: a judgement and skipping set it to their time.
    expires_at timestamptz NOT NULL,
    -- When the build first went out to the voter.
    fetched_at timestamptz,
    -- The builds that the voter skipped last.
    skipped    uuid[]      NOT NULL DEFAULT '{}' CHECK (cardinality(skipped) <= 200)
) WITH (fillfactor = 50);

-- How many judgements of people count, by any criteria: builds with few are judged first.
ALTER TABLE builds ADD COLUMN people_judgements integer NOT NULL DEFAULT 0;

CREATE INDEX builds_to_judge ON builds (prompt_id, settings, people_judgements)
    WHERE retired_at IS NULL AND NOT withheld;
