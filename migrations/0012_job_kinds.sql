-- A job is of a kind, asks a model, and has a subject: what it is about, in one word. All that lease, fence, attempts
-- and retries need stands here; what only one kind has stands in a table of that kind.
ALTER TABLE jobs
    ADD COLUMN kind    text NOT NULL DEFAULT 'build' CHECK (kind IN ('build')),
    ADD COLUMN subject text;

-- A job that is to make a build. Its subject is 'prompt_id@settings'. It is ready once the build is stored, in the same
-- transaction.
CREATE TABLE build_jobs (
    job_id    uuid PRIMARY KEY REFERENCES jobs (id),
    prompt_id text NOT NULL REFERENCES prompts (id),
    settings  text NOT NULL CHECK (settings ~ '^(32|64|128|256)-(simple|advanced)-[a-z0-9-]{1,32}$'),
    build_id  uuid REFERENCES builds (id)
);

INSERT INTO build_jobs (job_id, prompt_id, settings, build_id)
SELECT id, prompt_id, grid_size || '-' || palette || '-' || mode, build_id
FROM jobs;

UPDATE jobs
SET subject = build_jobs.prompt_id || '@' || settings
FROM build_jobs
WHERE job_id = id;

-- The indexes that name a dropped column go with it.
ALTER TABLE jobs
    ALTER COLUMN kind DROP DEFAULT,
    ALTER COLUMN subject SET NOT NULL,
    DROP COLUMN prompt_id,
    DROP COLUMN grid_size,
    DROP COLUMN palette,
    DROP COLUMN mode,
    DROP COLUMN build_id;

-- Nothing is asked twice.
CREATE UNIQUE INDEX one_job_under_way ON jobs (kind, model_key, subject) WHERE state IN ('queued', 'running');

CREATE INDEX jobs_by_subject ON jobs (kind, model_key, subject, wanted_at DESC, id DESC);

CREATE INDEX build_jobs_by_prompt ON build_jobs (prompt_id, settings);
