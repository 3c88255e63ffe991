-- What a judge, a model or a person, says of a build by the criteria. Judgements never change ratings.
CREATE TABLE judgements (
    id                bigint           GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at                timestamptz      NOT NULL DEFAULT clock_timestamp(),
    build_id          uuid             NOT NULL REFERENCES builds (id),
    -- The SHA-256 of the criteria.
    criteria          bytea            NOT NULL CHECK (length(criteria) = 32),
    -- A model, and the job in which it was asked; or a person.
    model_key         text             REFERENCES models (key),
    job_id            uuid             UNIQUE REFERENCES jobs (id),
    voter_id          uuid,
    -- From 0 to 10; null if a criterion does not apply or was not answered.
    task_progress     double precision CHECK (task_progress BETWEEN 0 AND 10),
    material_usage    double precision CHECK (material_usage BETWEEN 0 AND 10),
    action_control    double precision CHECK (action_control BETWEEN 0 AND 10),
    efficiency        double precision CHECK (efficiency BETWEEN 0 AND 10),
    error_recognition double precision CHECK (error_recognition BETWEEN 0 AND 10),
    creative_attempts double precision CHECK (creative_attempts BETWEEN 0 AND 10),
    -- The weighted mean of those that are given.
    overall           double precision NOT NULL CHECK (overall BETWEEN 0 AND 10),
    -- A sentence for each criterion, by its key.
    evidence          jsonb            NOT NULL DEFAULT '{}',
    note              text             CHECK (length(note) BETWEEN 1 AND 1000),
    -- Of people, as with votes: see the columns of these names there.
    network           bytea            CHECK (length(network) = 16),
    exclusion         text             CHECK (exclusion IN ('withdrawn', 'suspect', 'over_budget')),
    decision          bigint           REFERENCES vote_decisions (id),
    CHECK (num_nonnulls(model_key, voter_id) = 1),
    CHECK (num_nonnulls(model_key, job_id) <> 1),
    CHECK (model_key IS NULL OR num_nonnulls(network, exclusion, decision) = 0),
    CHECK (exclusion IS NULL OR exclusion = 'over_budget' OR decision IS NOT NULL),
    -- A build has no course of action.
    CHECK (num_nonnulls(action_control, error_recognition) = 0),
    CHECK (num_nonnulls(
        task_progress, material_usage, action_control, efficiency, error_recognition, creative_attempts
    ) > 0)
);

-- Nothing is judged twice by the same judge by the same criteria.
CREATE UNIQUE INDEX one_judgement_of_a_model ON judgements (build_id, criteria, model_key) WHERE model_key IS NOT NULL;
CREATE UNIQUE INDEX one_judgement_of_a_person ON judgements (build_id, criteria, voter_id) WHERE voter_id IS NOT NULL;
CREATE INDEX judgements_by_model ON judgements (model_key, id) WHERE model_key IS NOT NULL;
CREATE INDEX judgements_by_voter ON judgements (voter_id, id) WHERE voter_id IS NOT NULL;
CREATE INDEX judgements_of_people_by_time ON judgements (at) WHERE voter_id IS NOT NULL;

-- Which of two builds of a prompt a model prefers, when it is shown them on these sides. A pair is shown in both orders.
CREATE TABLE judge_votes (
    id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at          timestamptz NOT NULL DEFAULT clock_timestamp(),
    model_key   text        NOT NULL REFERENCES models (key),
    job_id      uuid        NOT NULL UNIQUE REFERENCES jobs (id),
    left_build  uuid        NOT NULL REFERENCES builds (id),
    right_build uuid        NOT NULL REFERENCES builds (id),
    criteria    bytea       NOT NULL CHECK (length(criteria) = 32),
    -- A is the left build.
    choice      text        NOT NULL CHECK (choice IN ('A', 'B', 'TIE', 'BOTH_BAD')),
    reason      text        CHECK (length(reason) BETWEEN 1 AND 1000),
    CHECK (left_build <> right_build)
);

CREATE UNIQUE INDEX one_vote_of_a_judge ON judge_votes (model_key, left_build, right_build, criteria);

-- A job in which a model judges a build, or votes on two. It is ready once the judgement or the vote is stored, in the
-- same transaction.
CREATE TABLE judge_jobs (
    job_id      uuid  PRIMARY KEY REFERENCES jobs (id),
    build_id    uuid  NOT NULL REFERENCES builds (id),
    -- With a second build, the first is on the left.
    right_build uuid  REFERENCES builds (id),
    criteria    bytea NOT NULL CHECK (length(criteria) = 32),
    CHECK (build_id <> right_build)
);

CREATE INDEX judge_jobs_by_build ON judge_jobs (build_id);

ALTER TABLE jobs
    DROP CONSTRAINT jobs_kind_check,
    ADD CONSTRAINT jobs_kind_check CHECK (kind IN ('build', 'judge')),
    -- Batches are for builds.
    ADD CHECK (kind = 'build' OR NOT batched);

CREATE FUNCTION check_judge_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM jobs
        LEFT JOIN judge_jobs ON judge_jobs.job_id = jobs.id
        WHERE id = NEW.id AND kind = 'judge'
          AND (judge_jobs.job_id IS NULL
               OR (state = 'ready') <> (EXISTS (SELECT FROM judgements WHERE judgements.job_id = jobs.id)
                                        OR EXISTS (SELECT FROM judge_votes WHERE judge_votes.job_id = jobs.id)))
    ) THEN
        RAISE EXCEPTION 'job % has no row in judge_jobs, or is ready without a judgement, or has one without being ready', NEW.id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'judge_job';
    END IF;
    RETURN NULL;
END
$$;

CREATE CONSTRAINT TRIGGER judge_job AFTER INSERT OR UPDATE OF state ON jobs
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_judge_job();
