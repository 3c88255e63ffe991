-- How many kinds of blocks a build has, so that skill can be compared at equal size. The background counts those of
-- builds of older versions; 0 stands for a grid that is damaged.
ALTER TABLE builds ADD COLUMN block_kinds smallint CHECK (block_kinds >= 0);

CREATE INDEX builds_to_count ON builds (id) WHERE block_kinds IS NULL;

-- The statistics depend on it.
DROP TRIGGER catalog_changed ON builds;
CREATE CONSTRAINT TRIGGER catalog_changed AFTER INSERT OR DELETE OR UPDATE OF retired_at, block_kinds ON builds
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION catalog_changed();
