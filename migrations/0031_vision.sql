-- Whether a model sees pictures. It is known of the model, and no part of how it is asked for builds.
ALTER TABLE models ADD COLUMN vision boolean NOT NULL DEFAULT false;
