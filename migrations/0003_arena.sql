-- What a visitor's cookie stands for. Kept under a digest: the cookie itself is the visitor's alone.
CREATE TABLE sessions (
    id         bytea       PRIMARY KEY CHECK (length(id) = 32),
    data       jsonb       NOT NULL,
    expires_at timestamptz NOT NULL
);

CREATE INDEX sessions_by_expiry ON sessions (expires_at);

-- How often a model was served. Apart from the ratings, so that serving never waits for votes.
CREATE TABLE shown (
    settings  text   NOT NULL,
    model_key text   NOT NULL REFERENCES models (key),
    served    bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (settings, model_key)
) WITH (fillfactor = 50);

-- The ladder. Every rating follows from the votes; this is where they have led.
CREATE TABLE ratings (
    settings  text             NOT NULL,
    model_key text             NOT NULL REFERENCES models (key),
    elo       double precision NOT NULL DEFAULT 1500,
    wins      bigint           NOT NULL DEFAULT 0,
    losses    bigint           NOT NULL DEFAULT 0,
    ties      bigint           NOT NULL DEFAULT 0,
    -- These count among the losses too.
    both_bad  bigint           NOT NULL DEFAULT 0,
    PRIMARY KEY (settings, model_key)
) WITH (fillfactor = 50);

-- Two builds of one prompt, served to one voter. Prompt and models are those of the builds. Never changes.
CREATE TABLE matchups (
    id          uuid             PRIMARY KEY,
    voter_id    uuid             NOT NULL,
    settings    text             NOT NULL,
    prompt_id   text             NOT NULL,
    model_a     text             NOT NULL,
    model_b     text             NOT NULL CHECK (model_a <> model_b),
    build_a     uuid             NOT NULL REFERENCES builds (id),
    build_b     uuid             NOT NULL REFERENCES builds (id),
    -- Of this pair, whichever way around, given the prompt and what the voter had seen.
    probability double precision NOT NULL CHECK (probability > 0 AND probability <= 1),
    served_at   timestamptz      NOT NULL DEFAULT now()
);

CREATE UNIQUE INDEX no_pair_twice
    ON matchups (voter_id, settings, prompt_id, least(model_a, model_b), greatest(model_a, model_b));

CREATE INDEX matchups_by_builds ON matchups (least(build_a, build_b), greatest(build_a, build_b));

CREATE INDEX matchups_by_pair
    ON matchups (settings, least(model_a, model_b), greatest(model_a, model_b), prompt_id);

-- The one matchup that a voter can vote on. It goes with the vote, with skipping, and when its time is over.
-- Apart from matchups, since it is written often and read by one.
CREATE TABLE open_matchups (
    voter_id   uuid        PRIMARY KEY,
    matchup_id uuid        NOT NULL REFERENCES matchups (id),
    expires_at timestamptz NOT NULL,
    -- When each build first went out to the voter.
    fetched_a  timestamptz,
    fetched_b  timestamptz
) WITH (fillfactor = 50);

CREATE SEQUENCE vote_ids AS bigint CACHE 1;

CREATE TABLE votes (
    -- Drawn while both models' ratings are locked: a model's votes have the order in which they counted.
    id           bigint           PRIMARY KEY DEFAULT nextval('vote_ids'),
    matchup_id   uuid             NOT NULL UNIQUE REFERENCES matchups (id),
    at           timestamptz      NOT NULL DEFAULT clock_timestamp(),
    choice       text             NOT NULL CHECK (choice IN ('A', 'B', 'TIE', 'BOTH_BAD')),
    elo_a_before double precision NOT NULL,
    elo_a_after  double precision NOT NULL,
    elo_b_before double precision NOT NULL,
    elo_b_after  double precision NOT NULL,
    -- From when both builds had gone out; none if they never did.
    dwell_ms     bigint
);

ALTER SEQUENCE vote_ids OWNED BY votes.id;

CREATE INDEX votes_by_age ON votes (at);

-- The latest skill fit of each ladder.
CREATE TABLE skill_fits (
    settings    text        PRIMARY KEY,
    votes       bigint      NOT NULL,
    computed_at timestamptz NOT NULL DEFAULT now(),
    fit         jsonb       NOT NULL
);

-- Moves with whatever decides who takes part, so that servers need not read all of it to know it is the same.
ALTER TABLE installation ADD COLUMN catalog_revision bigint NOT NULL DEFAULT 0;

CREATE FUNCTION catalog_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE installation SET catalog_revision = catalog_revision + 1;
    RETURN NULL;
END
$$;

-- Deferred, so that the one row is locked for no longer than a commit takes.
CREATE CONSTRAINT TRIGGER catalog_changed AFTER INSERT OR DELETE OR UPDATE OF retired_at ON builds
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION catalog_changed();

CREATE CONSTRAINT TRIGGER catalog_changed AFTER INSERT OR DELETE OR UPDATE OF enabled, provider ON models
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION catalog_changed();

CREATE CONSTRAINT TRIGGER catalog_changed AFTER INSERT OR DELETE OR UPDATE OF active, text ON prompts
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION catalog_changed();
