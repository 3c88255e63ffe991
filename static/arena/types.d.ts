/** Responses of the arena's API. */

type SideName = "a" | "b";
type Choice = "A" | "B" | "TIE" | "BOTH_BAD";

interface Matchup {
  id: string;
  prompt: { id: string; text: string };
  a: { build: { url: string } };
  b: { build: { url: string } };
  expiresAt: string;
  /** Whether only models that are shipped with the program take part. */
  houseOnly: boolean;
}

interface Contestant {
  key: string;
  provider: string;
  displayName: string;
  elo: { before: number; after: number };
  build: { id: string; blockCount: number; generationTimeMs: number | null; warnings: { message: string }[] };
}

interface VoteResult {
  choice: Choice;
  reveal: Record<SideName, Contestant>;
  /** All other votes on these two builds. */
  others: { a: number; b: number; tie: number; bothBad: number };
  shareUrl: string;
  /** The server's message where this matchup had been voted on before. Set here, not by the server. */
  notice?: string;
}
