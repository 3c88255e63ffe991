-- What is true of this database as a whole: always exactly one row.
CREATE TABLE installation (
    only_row   boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    id         uuid NOT NULL DEFAULT gen_random_uuid(),
    created_at timestamptz NOT NULL DEFAULT now()
);

INSERT INTO installation
DEFAULT VALUES;
