-- A vote is kept for ever. Whether it counts stands beside it: ratings, tallies and statistics follow from the votes
-- without an exclusion.
CREATE TABLE vote_decisions (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    decided_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    decided_by text        NOT NULL,
    -- What the votes are from then on; 'counted' takes an earlier decision back.
    verdict    text        NOT NULL CHECK (verdict IN ('withdrawn', 'suspect', 'counted')),
    -- For everybody to read.
    reason     text        NOT NULL CHECK (length(reason) BETWEEN 1 AND 500),
    votes      integer     NOT NULL CHECK (votes > 0),
    -- The first of them: from this one on, ratings were computed again.
    first_vote bigint      NOT NULL,
    first_at   timestamptz NOT NULL
);

ALTER TABLE votes
    ADD COLUMN exclusion text CHECK (exclusion IN ('withdrawn', 'suspect', 'over_budget')),
    ADD COLUMN decision  bigint REFERENCES vote_decisions (id),
    -- A keyed digest of the voter's network. The key is thrown away after a month, and then it says nothing any more.
    ADD COLUMN network   bytea CHECK (length(network) = 16),
    -- Budgets need no decision of an admin, the other exclusions do.
    ADD CHECK (exclusion IS NULL OR exclusion = 'over_budget' OR decision IS NOT NULL);

CREATE INDEX votes_excluded ON votes (id) WHERE exclusion IS NOT NULL;

-- The keys of the digests, one a day.
CREATE TABLE network_keys (
    day date  PRIMARY KEY,
    key bytea NOT NULL CHECK (length(key) = 32)
);

-- How many votes of a day counted for each voter, by the voter's id, and for each network, by its digest of that day.
CREATE TABLE daily_votes (
    day     date    NOT NULL,
    subject bytea   NOT NULL CHECK (length(subject) = 16),
    votes   integer NOT NULL,
    PRIMARY KEY (day, subject)
) WITH (fillfactor = 70);

-- By how much the counted votes of a network have moved each model on a day, and by how much they could have moved it
-- since the network last left the model alone for ten minutes.
CREATE TABLE network_influence (
    day             date             NOT NULL,
    network         bytea            NOT NULL CHECK (length(network) = 16),
    settings        text             NOT NULL,
    model_key       text             NOT NULL REFERENCES models (key),
    points_moved    double precision NOT NULL,
    points_at_stake double precision NOT NULL,
    latest          timestamptz      NOT NULL,
    PRIMARY KEY (day, network, settings, model_key)
) WITH (fillfactor = 70);

-- How many counted votes each voter has cast on a ladder. Those with many are not independent witnesses.
CREATE TABLE voter_totals (
    settings text    NOT NULL,
    voter_id uuid    NOT NULL,
    votes    integer NOT NULL,
    PRIMARY KEY (settings, voter_id)
) WITH (fillfactor = 70);

INSERT INTO voter_totals (settings, voter_id, votes)
SELECT settings, voter_id, count(*)
FROM votes
JOIN matchups ON matchups.id = matchup_id
GROUP BY settings, voter_id;

CREATE INDEX voters_with_many_votes ON voter_totals (settings, votes DESC) WHERE votes >= 20;

-- The latest decision that the statistics follow.
ALTER TABLE ladder_stats ADD COLUMN decision bigint NOT NULL DEFAULT 0;

-- What the tallies have to be.
CREATE OR REPLACE VIEW counted_votes AS
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
    WHERE exclusion IS NULL
) voted
GROUP BY build_a, build_b;

-- The public log names builds by these. Their digests follow from what a voter's browser gets before the vote.
ALTER TABLE builds ADD COLUMN log_id uuid NOT NULL DEFAULT gen_random_uuid();
CREATE UNIQUE INDEX builds_by_log_id ON builds (log_id);
