-- How many counted votes each voter has on each ladder.
CREATE TABLE voter_totals (
    settings text    NOT NULL,
    voter_id uuid    NOT NULL,
    votes    integer NOT NULL,
    PRIMARY KEY (settings, voter_id)
);

CREATE INDEX heavy_voters ON voter_totals (settings, votes DESC) WHERE votes >= 20;

ALTER TABLE votes ADD COLUMN counted boolean NOT NULL DEFAULT true;
