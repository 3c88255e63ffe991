-- A decision can be about judgements of people as well as about votes, or about them alone.
ALTER TABLE vote_decisions
    ADD COLUMN judgements integer NOT NULL DEFAULT 0 CHECK (judgements >= 0),
    DROP CONSTRAINT vote_decisions_votes_check,
    ADD CONSTRAINT vote_decisions_votes_check CHECK (votes >= 0),
    ADD CONSTRAINT vote_decisions_are_about_something CHECK (votes > 0 OR judgements > 0),
    ALTER COLUMN first_vote DROP NOT NULL,
    ALTER COLUMN first_at DROP NOT NULL,
    -- They are about votes alone: ratings do not depend on judgements.
    ADD CONSTRAINT vote_decisions_first_vote_check
        CHECK (num_nonnulls(first_vote, first_at) = CASE WHEN votes > 0 THEN 2 ELSE 0 END);
