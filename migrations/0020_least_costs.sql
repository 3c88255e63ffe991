-- Of an answer whose end was lost, only what it cost at least is known. The options are those that were sent after the
-- provider had refused others; older attempts do not know theirs.
ALTER TABLE attempts
    ADD COLUMN sent            jsonb,
    ADD COLUMN cached_tokens   bigint,
    ADD COLUMN cost_is_minimum boolean NOT NULL DEFAULT false;

-- An attempt that has ended counts as one without a price also if it may have cost more than is known.
CREATE OR REPLACE FUNCTION attempt_priced() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    -- Of an attempt that is inserted there is no old row, and of one that is deleted no new one: all is null then.
    cost_by     bigint  := coalesce(NEW.cost, 0) - coalesce(OLD.cost, 0);
    unpriced_by integer := (NEW.ended_at IS NOT NULL AND (NEW.cost IS NULL OR NEW.cost_is_minimum))::integer
                         - (OLD.ended_at IS NOT NULL AND (OLD.cost IS NULL OR OLD.cost_is_minimum))::integer;
BEGIN
    IF cost_by <> 0 OR unpriced_by <> 0 THEN
        UPDATE installation
        SET spent = spent + cost_by, unpriced_attempts = unpriced_attempts + unpriced_by;
    END IF;
    RETURN NULL;
END
$$;

DROP TRIGGER attempt_priced ON attempts;

CREATE CONSTRAINT TRIGGER attempt_priced
    AFTER INSERT OR DELETE OR UPDATE OF cost, cost_is_minimum, ended_at ON attempts
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION attempt_priced();
