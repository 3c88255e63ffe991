/** The events of `POST /api/generate`, one a line. */
type Slot = "a" | "b";

interface BuildWarning {
  code: string;
  type?: string;
  count?: number;
  message: string;
}

type RunEvent =
  | { type: "hello" | "ping" | "done" }
  | { type: "queue"; position: number }
  | SideEvent;

type SideEvent = { slot: Slot; modelKey: string } & (
  | { type: "start" }
  | { type: "progress"; chars: number; tokens: number; delta: string; note?: string }
  | { type: "retry"; attempt: number; reason: string }
  | { type: "result"; metrics: RunMetrics; gridUrl: string; draftId: string }
  | { type: "error"; code: string; message: string; raw?: string }
);

interface RunMetrics {
  blockCount: number;
  warnings: BuildWarning[];
  generationTimeMs: number;
  attempts: number;
}

/** What is to be built. */
interface Task {
  prompt: string;
  gridSize: number;
  palette: string;
}

/** A model, as the API takes it. */
interface ModelChoice {
  key?: string;
  agent?: string;
  provider?: string;
  baseUrl?: string;
  model?: string;
  apiKey?: string;
}

/** A run as the form describes it: the task, the two models, and the names they are shown under. */
interface RunSetup {
  task: Task;
  models: ModelChoice[];
  titles: string[];
}

/** What `POST /api/check` says. */
interface CheckReport {
  ok: boolean;
  gridSize: number;
  palette: string;
  blockCount: number;
  bounds: { min: number[]; max: number[] } | null;
  blocks: Record<string, number>;
  warnings: BuildWarning[];
  error: { code: string; message: string; line?: number; column?: number } | null;
  grid?: string;
}
