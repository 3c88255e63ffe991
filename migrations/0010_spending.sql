-- What all attempts have cost, in millionths of a dollar as far as it is known, and how many that have ended are
-- without a price. The console shows it every second, which is no time to add up all that was ever asked.
ALTER TABLE installation
    ADD COLUMN spent             bigint NOT NULL DEFAULT 0,
    ADD COLUMN unpriced_attempts bigint NOT NULL DEFAULT 0;

CREATE FUNCTION attempt_priced() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    -- Of an attempt that is inserted there is no old row, and of one that is deleted no new one: all is null then.
    cost_by     bigint  := coalesce(NEW.cost, 0) - coalesce(OLD.cost, 0);
    unpriced_by integer := (NEW.cost IS NULL AND NEW.ended_at IS NOT NULL)::integer
                         - (OLD.cost IS NULL AND OLD.ended_at IS NOT NULL)::integer;
BEGIN
    IF cost_by <> 0 OR unpriced_by <> 0 THEN
        UPDATE installation
        SET spent = spent + cost_by, unpriced_attempts = unpriced_attempts + unpriced_by;
    END IF;
    RETURN NULL;
END
$$;

-- Deferred, so that the one row is locked last and for no longer than a commit takes: whoever waits for it holds
-- nothing that its holder still needs.
CREATE CONSTRAINT TRIGGER attempt_priced AFTER INSERT OR DELETE OR UPDATE OF cost, ended_at ON attempts
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION attempt_priced();

-- Creating the trigger has locked out all who write attempts.
UPDATE installation
SET spent             = (SELECT coalesce(sum(cost), 0) FROM attempts),
    unpriced_attempts = (SELECT count(*) FROM attempts WHERE cost IS NULL AND ended_at IS NOT NULL);
