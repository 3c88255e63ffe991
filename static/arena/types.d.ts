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
  /** What to do before voting, to show that a person votes. */
  personCheck: PersonCheck | null;
}

type PersonCheck = { kind: "work"; challenge: string; bits: number } | CaptchaCheck;

interface CaptchaCheck {
  kind: "turnstile" | "hcaptcha";
  siteKey: string;
}

/** What the scripts of both services offer, as far as it is used. */
interface CaptchaWidget {
  render(box: HTMLElement, options: Record<string, unknown>): void;
}

interface Window {
  turnstile?: CaptchaWidget;
  hcaptcha?: CaptchaWidget;
}

interface Contestant {
  key: string;
  provider: string;
  displayName: string;
  elo: { before: number; after: number };
  build: { id: string; withheld: boolean; blockCount: number; generationTimeMs: number | null; warnings: { message: string }[] };
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
