-- Judgements and the votes of judges share one sequence of ids, so that both together have an order.
ALTER TABLE judge_votes ALTER COLUMN id DROP IDENTITY;
UPDATE judge_votes SET id = nextval('judgements_id_seq');
ALTER TABLE judge_votes ALTER COLUMN id SET DEFAULT nextval('judgements_id_seq');
