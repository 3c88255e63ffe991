-- What the sandbox has used of the server's own API keys, by day in UTC. All servers share it, and it is deleted after
-- two days.
CREATE TABLE lent_key_days (
    day   date   PRIMARY KEY,
    -- Millionths of a dollar. An answer under way counts with what it is expected to cost.
    spent bigint NOT NULL DEFAULT 0 CHECK (spent >= 0),
    -- The key of the digests below. It is deleted with its day, and then nothing leads back to a network.
    salt  bytea  NOT NULL DEFAULT uuid_send(gen_random_uuid())
);

-- How many runs visitors from a network had.
CREATE TABLE lent_key_runs (
    day     date    NOT NULL REFERENCES lent_key_days ON DELETE CASCADE,
    -- Never an address.
    network bytea   NOT NULL CHECK (length(network) = 32),
    runs    integer NOT NULL CHECK (runs > 0),
    PRIMARY KEY (day, network)
);
