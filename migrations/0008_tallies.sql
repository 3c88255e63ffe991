-- How often each choice was made on two builds, `build_a` on the left. Written by the transaction that counts the
-- vote, under the locks that it holds on both models' ratings; everything that is said of many votes at once is
-- worked out of these rows, so that it costs what pairs and prompts cost and not what votes cost.
CREATE TABLE tallies (
    build_a     uuid    NOT NULL REFERENCES builds (id),
    build_b     uuid    NOT NULL REFERENCES builds (id),
    a           integer NOT NULL DEFAULT 0,
    b           integer NOT NULL DEFAULT 0,
    tie         integer NOT NULL DEFAULT 0,
    both_bad    integer NOT NULL DEFAULT 0,
    -- Votes that were their voter's first on this ladder: their sum is the number of voters.
    first_votes integer NOT NULL DEFAULT 0,
    PRIMARY KEY (build_a, build_b)
) WITH (fillfactor = 80);

-- What the tallies have to be.
CREATE VIEW counted_votes AS
SELECT
    build_a, build_b,
    count(*) FILTER (WHERE choice = 'A') AS a,
    count(*) FILTER (WHERE choice = 'B') AS b,
    count(*) FILTER (WHERE choice = 'TIE') AS tie,
    count(*) FILTER (WHERE choice = 'BOTH_BAD') AS both_bad,
    count(*) FILTER (WHERE is_first) AS first_votes
FROM (
    SELECT
        build_a, build_b, choice,
        votes.id = min(votes.id) OVER (PARTITION BY voter_id, settings) AS is_first
    FROM votes
    JOIN matchups ON matchups.id = matchup_id
) voted
GROUP BY build_a, build_b;

INSERT INTO tallies (build_a, build_b, a, b, tie, both_bad, first_votes)
SELECT build_a, build_b, a, b, tie, both_bad, first_votes
FROM counted_votes;

-- What was worked out of the tallies last, and which state of the ladder it saw. A cache: it may be deleted.
CREATE TABLE ladder_stats (
    settings    text        PRIMARY KEY,
    votes       bigint      NOT NULL,
    catalog     bigint      NOT NULL,
    took_ms     bigint      NOT NULL,
    computed_at timestamptz NOT NULL,
    stats       json        NOT NULL
);

DROP TABLE skill_fits;

-- Shown counts by prompt as well, so that those of a tag are a sum. A build counts as shown once the voter has
-- fetched both sides.
ALTER TABLE shown RENAME TO shown_before;

CREATE TABLE shown (
    settings  text   NOT NULL,
    prompt_id text   NOT NULL REFERENCES prompts (id),
    model_key text   NOT NULL REFERENCES models (key),
    times     bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (settings, prompt_id, model_key)
) WITH (fillfactor = 50);

INSERT INTO shown (settings, prompt_id, model_key, times)
SELECT settings, prompt_id, model_key, count(*)
FROM matchups
CROSS JOIN LATERAL (VALUES (model_a), (model_b)) AS side (model_key)
GROUP BY settings, prompt_id, model_key;

DROP TABLE shown_before;

-- The tags by which a ladder can be narrowed are remembered with who takes part.
DROP TRIGGER catalog_changed ON prompts;
CREATE CONSTRAINT TRIGGER catalog_changed AFTER INSERT OR DELETE OR UPDATE OF active, text, tags ON prompts
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION catalog_changed();

-- Votes that are counted together take numbers that lie side by side: a block for each transaction, as large as it
-- may need (`MAX_BATCH` in the program). So the log, read page by page, has all of them or none.
ALTER SEQUENCE vote_ids INCREMENT BY 64;
