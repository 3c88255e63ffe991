-- The builds of a held-out prompt are withheld: they appear in matchups alone until enough votes on them are counted.
ALTER TABLE prompts ADD COLUMN held_out boolean NOT NULL DEFAULT false;

ALTER TABLE builds
    ADD COLUMN withheld boolean NOT NULL DEFAULT false,
    ADD CONSTRAINT only_builds_in_force_are_withheld CHECK (NOT withheld OR retired_at IS NULL);

CREATE INDEX builds_withheld ON builds (id) WHERE withheld;

-- The votes on a build are in tallies of both sides.
CREATE INDEX tallies_by_right_build ON tallies (build_b);

-- Triggers, so that no way to store, retire or hold out can forget it. What was shown once stays shown: only storing
-- a build and holding out its prompt withhold it.
CREATE FUNCTION withhold_new_build() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- With the lock, nobody changes whether the prompt is held out until the build is stored.
    NEW.withheld := coalesce((SELECT held_out FROM prompts WHERE id = NEW.prompt_id FOR SHARE), false)
        AND NEW.retired_at IS NULL;
    RETURN NEW;
END
$$;

CREATE TRIGGER withhold_new_build BEFORE INSERT ON builds
    FOR EACH ROW EXECUTE FUNCTION withhold_new_build();

CREATE FUNCTION show_retired_build() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.withheld := NEW.withheld AND NEW.retired_at IS NULL;
    RETURN NEW;
END
$$;

CREATE TRIGGER show_retired_build BEFORE UPDATE OF retired_at ON builds
    FOR EACH ROW EXECUTE FUNCTION show_retired_build();

CREATE FUNCTION withhold_builds_of_prompt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE builds SET withheld = NEW.held_out WHERE prompt_id = NEW.id AND retired_at IS NULL;
    RETURN NULL;
END
$$;

CREATE TRIGGER withhold_builds_of_prompt AFTER UPDATE OF held_out ON prompts
    FOR EACH ROW WHEN (OLD.held_out <> NEW.held_out) EXECUTE FUNCTION withhold_builds_of_prompt();

-- The ladders of held-out and of other prompts depend on it.
DROP TRIGGER catalog_changed ON prompts;
CREATE CONSTRAINT TRIGGER catalog_changed AFTER INSERT OR DELETE OR UPDATE OF active, text, tags, held_out ON prompts
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION catalog_changed();
