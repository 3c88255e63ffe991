/** Responses of the admin API. */

type CellStatus = "missing" | "queued" | "running" | "failed" | "cancelled" | "ready";

/** A cell of the matrix: the build of a prompt by a model, or the job for it. */
interface CellState {
  promptId: string;
  modelKey: string;
  state: CellStatus;
  jobId: string | null;
  buildId: string | null;
  blockCount: number | null;
  /** When the job started, in milliseconds since 1970. */
  since: number | null;
  attempts: number;
  chars: number;
  note: string | null;
  code: string | null;
  error: string | null;
}

interface CoverageTotals {
  expected: number;
  existing: number;
  remaining: number;
  failed: number;
  cancelled: number;
  underWay: number;
  spent: number;
  unpriced: number;
  failures: FailureReason[];
}

/** Failed builds that have the reason in common. */
interface FailureReason {
  code: string;
  sentence: string;
  count: number;
}

/** What is paused. */
interface Pauses {
  queuePausedAt: string | null;
  providers: ProviderPause[];
  budgets: Budget[];
}

interface Budget {
  name: string;
  limit: number;
  spent: number;
  unpriced: number;
  percent: number;
  /** From 80 percent on. */
  sentence: string | null;
}

interface ProviderPause {
  key: string;
  displayName: string;
  message: string;
  /** Whether one job at a time tries the provider. */
  probing: boolean;
  sentence: string;
}

/** A `matrix` event: the whole matrix, or the changed cells. */
interface MatrixChange {
  whole: boolean;
  cells: CellState[];
  sum: CoverageTotals;
  pauses: Pauses;
}

interface ImportResult {
  buildId: string;
  blockCount: number;
  warnings: { message: string }[];
  overwritten: boolean;
  hint: string;
}

interface SeedResult {
  promptCount: number;
  modelCount: number;
  jobs: unknown[];
  next?: { promptId: string; modelKey: string }[];
  estimate?: { dollars: number; unknown: number };
}

interface JudgingResult {
  pairwise: boolean;
  targets: number;
  judged: number;
  failed: number;
  open: number;
  jobs: { id: string }[];
  next?: unknown[];
  estimate?: { pictures: number; pictureTokens: number; textTokens: number; answerTokens: number; dollars: number; unknown: number };
}

interface AdminModel {
  key: string;
  provider: string;
  modelId: string;
  displayName: string;
  about: string;
  enabled: boolean;
  builds: number;
  via: Record<string, string>;
  prices: { input: number; cachedInput?: number; output: number } | null;
  options: { effort: string | null; temperature: number | null; maxOutputTokens: number | null; efforts?: string[] };
  vision: boolean;
}

interface AdminAgent {
  key: string;
  name: string;
  url: string;
  keyVariable: string | null;
  note: string;
  enabled: boolean;
  builds: boolean;
  canAsk: boolean;
}

interface AgentToken {
  id: string;
  name: string;
  runsPerDay: number;
  usedAt: string | null;
  revokedAt: string | null;
}

interface AdminPrompt {
  id: string;
  text: string;
  tags: string[];
  active: boolean;
  heldOut: boolean;
  builds: number;
}
