-- Results may be shown late. Of each model it takes the rating from its first vote since then, and subtracts its
-- results since then.
CREATE FUNCTION standings_before(vote bigint) RETURNS TABLE (
    settings  text,
    model_key text,
    elo       double precision,
    wins      bigint,
    losses    bigint,
    ties      bigint,
    both_bad  bigint
) LANGUAGE sql STABLE AS $$
    WITH since AS (
        SELECT
            matchups.settings, model,
            (array_agg(shown.elo ORDER BY votes.id))[1] AS elo,
            count(*) FILTER (WHERE choice = side) AS wins,
            count(*) FILTER (WHERE choice NOT IN (side, 'TIE')) AS losses,
            count(*) FILTER (WHERE choice = 'TIE') AS ties,
            count(*) FILTER (WHERE choice = 'BOTH_BAD') AS both_bad
        FROM votes
        JOIN matchups ON matchups.id = matchup_id
        CROSS JOIN LATERAL (VALUES ('A', model_a, elo_a_before), ('B', model_b, elo_b_before))
            AS shown (side, model, elo)
        WHERE votes.id >= vote AND exclusion IS NULL
        GROUP BY matchups.settings, model
    )
    SELECT
        ratings.settings, ratings.model_key,
        coalesce(since.elo, ratings.elo),
        ratings.wins - coalesce(since.wins, 0),
        ratings.losses - coalesce(since.losses, 0),
        ratings.ties - coalesce(since.ties, 0),
        ratings.both_bad - coalesce(since.both_bad, 0)
    FROM ratings
    LEFT JOIN since ON since.settings = ratings.settings AND since.model = ratings.model_key
$$;

-- Statistics that were computed with another delay are not continued.
ALTER TABLE ladder_stats
    ADD COLUMN delay_minutes integer NOT NULL DEFAULT 0,
    -- The latest vote that they may show.
    ADD COLUMN through       bigint  NOT NULL DEFAULT 9223372036854775807;

-- Shown counts have no times, so late ones are copies, taken in turn: what is held now is shown after the next delay.
ALTER TABLE shown
    ADD COLUMN held   bigint NOT NULL DEFAULT 0,
    ADD COLUMN public bigint NOT NULL DEFAULT 0;
UPDATE shown SET held = times, public = times;
ALTER TABLE installation ADD COLUMN shown_held_at timestamptz NOT NULL DEFAULT now();
