-- How a model was asked: the provider, its name for the model, the options of the catalog, and the SHA-256 of what the
-- model was told beside the prompt. Older attempts do not know it.
ALTER TABLE attempts
    ADD COLUMN provider text,
    ADD COLUMN model_id text,
    ADD COLUMN options  jsonb,
    ADD COLUMN template bytea CHECK (length(template) = 32);

-- How a build was generated. Written with the build, and never changed. A build without a row was imported.
CREATE TABLE generations (
    build_id         uuid    PRIMARY KEY REFERENCES builds (id),
    provider         text    NOT NULL,
    -- These are unknown for builds of older versions.
    model_id         text,
    options          jsonb,
    template         bytea   CHECK (length(template) = 32),
    sent             jsonb,
    -- Of all attempts together.
    input_tokens     bigint,
    cached_tokens    bigint,
    output_tokens    bigint,
    reasoning_tokens bigint,
    -- Millionths of a dollar, as far as it is known.
    cost             bigint,
    cost_is_minimum  boolean NOT NULL,
    notes            jsonb   NOT NULL
);

INSERT INTO generations (
    build_id, provider, sent, input_tokens, cached_tokens, output_tokens, reasoning_tokens, cost, cost_is_minimum, notes
)
SELECT
    build_id, coalesce(jobs.provider, models.provider), answered.sent,
    used.input, used.cached, used.output, used.reasoning, used.cost, used.cost_is_minimum,
    coalesce(answered.notes, '[]')
FROM build_jobs
JOIN jobs ON jobs.id = job_id
JOIN models ON models.key = model_key
LEFT JOIN LATERAL (
    SELECT sent, notes
    FROM attempts
    WHERE attempts.job_id = jobs.id AND outcome IN ('accepted', 'refused', 'failed', 'unread')
    ORDER BY number DESC
    LIMIT 1
) AS answered ON true
CROSS JOIN LATERAL (
    SELECT
        sum(input_tokens)::bigint AS input, sum(cached_tokens)::bigint AS cached,
        sum(output_tokens)::bigint AS output, sum(reasoning_tokens)::bigint AS reasoning, sum(cost)::bigint AS cost,
        coalesce(bool_or(cost IS NULL OR attempts.cost_is_minimum), true) AS cost_is_minimum
    FROM attempts
    WHERE attempts.job_id = jobs.id
) AS used
WHERE build_id IS NOT NULL
ON CONFLICT DO NOTHING;
