-- Settings have one spelling wherever they are stored, '32-simple-precise', as in matchups and ratings. Galleries filter
-- and sort builds by grid and palette; these columns follow from the settings, so they cannot contradict them.
ALTER TABLE builds ADD COLUMN settings text;

UPDATE builds
SET settings = grid_size || '-' || palette || '-' || mode;

-- Whatever has to rewrite the table stands in one statement, so that it is rewritten once.
ALTER TABLE builds
    ALTER COLUMN settings SET NOT NULL,
    ADD CHECK (settings ~ '^(32|64|128|256)-(simple|advanced)-[a-z0-9-]{1,32}$'),
    DROP COLUMN grid_size,
    DROP COLUMN palette,
    DROP COLUMN mode,
    ADD COLUMN grid_size smallint NOT NULL GENERATED ALWAYS AS (split_part(settings, '-', 1)::smallint) STORED,
    ADD COLUMN palette   text     NOT NULL GENERATED ALWAYS AS (split_part(settings, '-', 2)) STORED;

-- Dropping the columns has dropped the index of this name: one build in force for a prompt, a model and settings.
CREATE UNIQUE INDEX builds_in_force ON builds (prompt_id, model_key, settings) WHERE retired_at IS NULL;

-- A draft's mode was not kept. It was nearly always this one, and nothing but its name depends on it.
ALTER TABLE drafts ADD COLUMN settings text;

UPDATE drafts
SET settings = grid_size || '-' || palette || '-precise';

ALTER TABLE drafts
    ALTER COLUMN settings SET NOT NULL,
    ADD CHECK (settings ~ '^(32|64|128|256)-(simple|advanced)-[a-z0-9-]{1,32}$'),
    DROP COLUMN grid_size,
    DROP COLUMN palette;
