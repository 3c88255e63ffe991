-- One number for a ladder, a prompt and two models, whichever way around: the first eight bytes of a SHA-256. What a
-- voter has seen is a set of these, in matchups and, once an unvoted matchup is dropped, in seen_pairs.
CREATE FUNCTION pair_code(settings text, prompt_id text, model_a text, model_b text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
    'x' || left(
        encode(
            sha256(
                convert_to(
                    settings || '/' || prompt_id || '/' || least(model_a COLLATE "C", model_b COLLATE "C")
                        || '/' || greatest(model_a COLLATE "C", model_b COLLATE "C"),
                    'UTF8'
                )
            ),
            'hex'
        ),
        16
    )
)::bit(64)::bigint;

-- Written by the program, which works the same number out: a generated column costs more than all else of the insert.
ALTER TABLE matchups ADD COLUMN pair bigint;
UPDATE matchups SET pair = pair_code(settings, prompt_id, model_a, model_b);
ALTER TABLE matchups ALTER COLUMN pair SET NOT NULL;

DROP INDEX no_pair_twice;
CREATE UNIQUE INDEX no_pair_twice ON matchups (voter_id, pair);

-- The tallies answer what these were for, or a smaller one does.
DROP INDEX matchups_by_builds, matchups_by_pair;
CREATE INDEX matchups_by_pair ON matchups (settings, least(model_a, model_b), greatest(model_a, model_b));

-- Pairs that a voter was served in matchups that are dropped by now.
CREATE TABLE seen_pairs (
    voter_id uuid        PRIMARY KEY,
    pairs    bigint[]    NOT NULL,
    last_at  timestamptz NOT NULL
);

-- A voter's row outlives the matchup that it names: the next matchup takes its place only if it is still the one that
-- was there when the voter's pairs were read, so that no race serves a pair twice.
ALTER TABLE open_matchups DROP CONSTRAINT open_matchups_matchup_id_fkey;

-- Matchups served before this are voted on, or dropped. From here on their ids begin with the time, which finds those
-- that are old without an index of its own; the ones before are dealt with here.
ALTER TABLE installation ADD COLUMN matchups_tidied_until timestamptz NOT NULL DEFAULT now() - interval '1 day';

INSERT INTO seen_pairs (voter_id, pairs, last_at)
SELECT voter_id, array_agg(pair), max(served_at)
FROM matchups
WHERE NOT EXISTS (SELECT FROM votes WHERE matchup_id = matchups.id)
  AND NOT EXISTS (SELECT FROM open_matchups WHERE matchup_id = matchups.id)
GROUP BY voter_id;

DELETE FROM matchups
WHERE NOT EXISTS (SELECT FROM votes WHERE matchup_id = matchups.id)
  AND NOT EXISTS (SELECT FROM open_matchups WHERE matchup_id = matchups.id);
