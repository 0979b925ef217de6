/** Takes secrets out of texts before they are written anywhere. */

type Rule = {
  readonly kind: string;
  /** A text without any of these has none, in lower case where the pattern ignores case. Looking for them is far cheaper. */
  readonly needs?: readonly string[];
  /** Global. With a group `s`, that alone is the secret. */
  readonly pattern: RegExp;
  readonly holds?: (secret: string) => boolean;
};

/** Bits a character: words and names stay below, random text is above. */
const RANDOM_BITS = 3;
/** Values that stand for a secret. */
const PLACEHOLDER =
  /^(?:[<{$%*#[(]|\.{3}|x{4,}|null$|none$|undefined$|true$|false$|string$|your|example|changeme|placeholder|redacted|process\.|os\.|env\.|secrets?\.|request\.|await$|function$)|[()]|^[\p{L}_]+(?:[._][\p{L}_]+)+$|^\/[\w./-]+$|\{\{|\]$/iu;

/** Letters of both cases with a mark inside or beside a mark that no type or name has at its end. */
const MARKED = /^(?=.*\p{Lu})(?=.*\p{Ll})(?=.*[!#$%*+?^~])(?!.*[<>])(?!\p{L}+[!?]+$)/u;

/** Words of assigned secrets. */
const WORDS = [
  ...["passwor", "passwd", "passphrase", "pwd", "kennwort", "contraseña", "mot de passe"],
  ...["wachtwoord", "senha", "secret", "token", "key", "credential"],
];

/** Kinds of secrets and how they look. Quantifiers are bounded, so that the time is linear. */
// biome-ignore format: a line for each kind
const RULES: readonly Rule[] = [
  { kind: "private-key", needs: ["PRIVATE KEY", "AGE-SECRET-KEY"], pattern: /-----BEGIN (?:[A-Z]{1,12} )?PRIVATE KEY(?: BLOCK)?-----(?:(?:[^-]|-(?!----)){0,16000}-----END (?:[A-Z]{1,12} )?PRIVATE KEY(?: BLOCK)?-----|[\sA-Za-z0-9+/=]{0,16000})|\bAGE-SECRET-KEY-1[0-9A-Z]{50,70}/g },
  { kind: "github", needs: ["gh"], pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{50,255})/g },
  { kind: "gitlab", needs: ["gl"], pattern: /\bgl(?:pat|dt|rt|ptt|cbt|oas|soat|ft|imt|agent)-[\w-]{18,255}/g },
  { kind: "anthropic", needs: ["sk-ant-"], pattern: /\bsk-ant-[a-z]{2,10}\d{2}-[\w-]{40,255}/g },
  { kind: "openai", needs: ["sk-"], pattern: /\bsk-(?:(?:proj|svcacct|admin)-[\w-]{40,255}|[A-Za-z0-9]{40,64})/g },
  { kind: "aws", needs: ["AKIA", "ASIA", "ABIA", "ACCA"], pattern: /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b/g },
  { kind: "aws", needs: ["secret"], pattern: /secret_?(?:access_?)?_?key["'\s]{0,3}[:=]["'\s]{0,4}(?<s>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])/gi },
  { kind: "aws", needs: ["secret access key"], pattern: /secret access key["'\s]{0,3}[:=]?["'\s]{0,4}(?<s>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])/gi },
  { kind: "google", needs: ["AIza", "GOCSPX-", "ya29.", "1//0"], pattern: /\bAIza[\w-]{35}|\bGOCSPX-[\w-]{24,40}|\bya29\.[\w-]{40,400}|\b1\/\/0[\w-]{40,200}/g },
  { kind: "slack", needs: ["xox", "xapp-", "hooks.slack.com"], pattern: /\bxox[a-z](?:-[\w]{1,255}){2,6}|\bxapp-\d-[\w-]{40,255}|hooks\.slack\.com\/(?:services|workflows)\/(?<s>[\w/]{20,120})/g },
  { kind: "stripe", needs: ["k_live_", "k_test_", "whsec_"], pattern: /\b(?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9]{20,255}/g },
  { kind: "npm", needs: ["npm_", "pypi-", "hf_"], pattern: /\bnpm_[A-Za-z0-9]{36}\b|\bpypi-[\w-]{60,255}|\bhf_[A-Za-z0-9]{30,60}\b/g },
  { kind: "token", needs: ["_v1_", "shp", "key-", "SG.", ":AA", "lin_api", "ntn", "figd", "sq0", "gsk", "r8", "xai", "pplx", "nvapi"], pattern: /\b(?:do[opr]_v1|shp(?:at|ca|pa|ss))_[a-f0-9]{32,64}\b|\bkey-[a-f0-9]{32}\b|\bSG\.[\w-]{20,24}\.[\w-]{40,50}|\b\d{8,10}:AA[\w-]{33}\b|\b(?:lin_api|ntn|figd|sq0[a-z]{3}|gsk|r8|xai|pplx|nvapi)[_-][A-Za-z0-9]{22,255}/g, holds: isRandom },
  { kind: "jwt", needs: ["eyJ"], pattern: /\beyJ[\w-]{8,4000}\.eyJ[\w-]{8,8000}\.[\w-]{10,1000}/g },
  { kind: "connection-string", needs: ["://"], pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/"'`<>]{0,100}:(?<s>(?:(?!\$\{|\{\{)[^\s@/"'`<>]){3,200})@/gi },
  { kind: "connection-string", needs: ["AccountKey=", "SharedAccessKey="], pattern: /\b(?:AccountKey|SharedAccessKey)=(?<s>[A-Za-z0-9+/]{40,100}={0,2})/g },
  { kind: "bearer", needs: ["bearer", "basic"], pattern: /\b(?:Bearer|Basic)\s{1,4}(?<s>[A-Za-z0-9\-._~+/]{16,4000}={0,2})/gi, holds: isRandom },
  { kind: "url-token", needs: ["="], pattern: /[?&](?:[\w.-]{0,40}(?:token|key|secret|sig|signature|auth|appid|password|passwd|pwd|code))=(?<s>[\w%.~+/-]{16,2000})/gi, holds: isRandom },
  { kind: "url-token", needs: ["/api/webhooks/"], pattern: /discord(?:app)?\.com\/api\/webhooks\/\d{10,25}\/(?<s>[\w-]{40,100})/g },
  { kind: "password", needs: WORDS, pattern: /(?:passwor[dt]|passwd|passphrase|pwd|kennwort|contraseña|mot de passe|wachtwoord|senha|secret|token|api[_-]?key|private[_-]?key|credential)s?\b["'`]?\s{0,3}(?::=|[:=]|\b(?:is|ist|lautet|es|est)\b)\s{0,3}(?<q>["'`]?)(?<s>[^\s"'`,;&]{8,400})/gi, holds: isAssigned },
  { kind: "password", needs: WORDS, pattern: /(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key)s?[\w]{0,30}["'`]?\s{0,3}[:=]\s{0,3}["'`](?<s>[^\s"'`]{8,400})["'`]/gi, holds: isAssigned },
  { kind: "password", needs: ["pass", "pw", "-p"], pattern: /(?:["'](?:pass|pw)["']\s{0,3}:|\b(?:pass|pw)\b\s{0,3}(?:[:=]|\b(?:is|ist|lautet|es|est)\b)|\s-p(?=["']))\s{0,3}["'`]?(?<s>[^\s"'`,;&]{8,400})/gi, holds: isAssigned },
  { kind: "card", pattern: /(?<![\d.-])(?:3[47]\d{2}[ -]?\d{6}[ -]?\d{5}|(?:4\d{3}|5[1-5]\d{2}|2[2-7]\d{2}|6(?:011|4[4-9]\d|5\d{2})|35(?:2[89]|[3-8]\d))(?:[ -]?\d{4}){3})(?![\d-])/g, holds: isCard },
];

/** A text without its secrets, and how many of each kind it had. */
export type Redacted = {
  readonly text: string;
  readonly counts: Readonly<Record<string, number>>;
};

/** Replaces each secret by `[secret:<kind>]`. Nothing of it is kept, neither its length nor a hash. */
export function redact(text: string): Redacted {
  const found: { start: number; end: number; kind: string }[] = [];
  const lower = text.toLowerCase();
  const rules = RULES.filter(
    ({ needs, pattern }) => needs === undefined || hasAny(pattern.ignoreCase ? lower : text, needs),
  );
  for (const { kind, pattern, holds } of rules) {
    for (const match of text.matchAll(pattern)) {
      const secret = match.groups?.["s"] ?? match[0];
      if (holds?.(secret) === false) continue;
      const start = match.index + match[0].lastIndexOf(secret);
      found.push({ start, end: start + secret.length, kind });
    }
  }
  if (found.length === 0) return { text, counts: {} };
  found.sort((one, other) => one.start - other.start || other.end - one.end);
  const counts: Record<string, number> = {};
  let [redacted, at] = ["", 0];
  for (const { start, end, kind } of found) {
    if (start >= at) {
      redacted += `${text.slice(at, start)}[secret:${kind}]`;
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
    at = Math.max(at, end);
  }
  return { text: redacted + text.slice(at), counts };
}

function hasAny(text: string, parts: readonly string[]): boolean {
  return parts.some((part) => text.includes(part));
}

function isRandom(text: string): boolean {
  return (/\d/.test(text) || isScrambled(text)) && bitsOf(text) > RANDOM_BITS;
}

/** Whether letters change their case more often than names in programs do: `getUserToken` has words of four. */
function isScrambled(text: string): boolean {
  const words = text.match(/\p{Lu}?\p{Ll}+|\p{Lu}/gu) ?? [];
  const letters = text.match(/\p{L}/gu) ?? [];
  return words.length > 3 && letters.length / words.length < 2.5 && /\p{Ll}/u.test(text);
}

/** Whether what follows `password =` is a value, and no name, path or placeholder. */
function isAssigned(text: string): boolean {
  if (PLACEHOLDER.test(text) || text.startsWith("[secret:")) return false;
  return isRandom(text) || (MARKED.test(text) && bitsOf(text) > RANDOM_BITS);
}

/** Entropy of the characters, in bits each. */
function bitsOf(text: string): number {
  const counts = new Map<string, number>();
  for (const letter of text) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) {
    const share = count / text.length;
    bits -= share * Math.log2(share);
  }
  return bits;
}

/** The check digit of a card number (Luhn). */
function isCard(text: string): boolean {
  const digits = text.replaceAll(/\D/g, "");
  let sum = 0;
  for (const [at, digit] of [...digits].reverse().entries()) {
    const value = Number(digit) * (at % 2 === 0 ? 1 : 2);
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}
