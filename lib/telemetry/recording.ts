import { redactText } from '../interceptors/library/secret-redactor.js';
import { SecretDetector } from '../interceptors/library/secrets/detector.js';
import { mapTexts } from '../interceptors/library/secrets/scan.js';

/** The most UTF-16 units of a value that are looked through, and so recorded. */
const MAX_CHARS = 65_536;
/** The most characters of its JSON. */
const MAX_LENGTH = 8192;

let detector: SecretDetector | undefined;

/** A value as JSON, with the secrets that are known by their form replaced, and cut. */
export function recorded(value: unknown): string {
  const known = (detector ??= new SecretDetector());
  try {
    const clean = mapTexts(value, (text, place) => redactText(known, text, place).text, {
      maxChars: MAX_CHARS,
    });
    return (JSON.stringify(clean) ?? '').slice(0, MAX_LENGTH);
  } catch {
    return '[not recorded: it is too large, or not JSON]';
  }
}
