-- The key under which servers make the challenges of the proof of work, so that each accepts those of the others. It
-- guards little: with it, somebody could make challenges, which every visitor is given anyway, but not solve them.
ALTER TABLE installation
    ADD COLUMN person_check_key bytea NOT NULL
        DEFAULT uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
        CHECK (octet_length(person_check_key) = 32);

-- Voters who have passed the check that they are a person, and those who are asked again. A row that has ended is
-- dropped: its voter is then asked like a new one.
CREATE TABLE person_checks (
    voter_id     uuid        PRIMARY KEY,
    -- Raised when the voter is asked again, so that answers to earlier challenges count no more.
    round        integer     NOT NULL,
    passed_until timestamptz NOT NULL
);

CREATE INDEX person_checks_by_end ON person_checks (passed_until);
