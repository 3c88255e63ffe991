/** What `POST /api/generate` tells, one line at a time. */
type Slot = "a" | "b";

interface Warning {
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
  | { type: "result"; metrics: Metrics; gridUrl: string; draftId: string }
  | { type: "error"; code: string; message: string; raw?: string }
);

interface Metrics {
  blockCount: number;
  warnings: Warning[];
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
interface Named {
  key?: string;
  provider?: string;
  baseUrl?: string;
  model?: string;
  apiKey?: string;
}

/** What is asked of both sides, and how they are shown. */
interface Play {
  task: Task;
  models: Named[];
  titles: string[];
}

/** What `POST /api/check` says. */
interface Report {
  ok: boolean;
  gridSize: number;
  palette: string;
  blockCount: number;
  bounds: { min: number[]; max: number[] } | null;
  blocks: Record<string, number>;
  warnings: Warning[];
  error: { code: string; message: string; line?: number; column?: number } | null;
  grid?: string;
}
