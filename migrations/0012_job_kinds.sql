-- A job is of a kind, asks a model, and has a subject: what it is about, in one word. All that lease, fence, attempts
-- and retries need stands here; what only one kind has stands in a table of that kind.
--
-- A server of the version before may still run. It locks models and prompts before jobs, and jobs before builds, so this
-- does, too.
LOCK TABLE models, prompts IN SHARE ROW EXCLUSIVE MODE;
LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE;
LOCK TABLE builds IN SHARE ROW EXCLUSIVE MODE;

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

CREATE INDEX build_jobs_by_settings ON build_jobs (settings);

-- A job of a kind has its row in the table of that kind, and is ready exactly when it has its build. Checked at the
-- commit, because the rows are written one after the other.
CREATE FUNCTION check_build_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM jobs
        LEFT JOIN build_jobs ON job_id = id
        WHERE id = NEW.id AND kind = 'build'
          AND (job_id IS NULL OR (state = 'ready') <> (build_id IS NOT NULL))
    ) THEN
        RAISE EXCEPTION 'job % has no row in build_jobs, or is ready without a build, or has one without being ready', NEW.id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'build_job';
    END IF;
    RETURN NULL;
END
$$;

CREATE CONSTRAINT TRIGGER build_job AFTER INSERT OR UPDATE OF state ON jobs
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_build_job();
