import { redactText } from '../interceptors/library/secret-redactor.js';
import { SecretDetector } from '../interceptors/library/secrets/detector.js';
import { mapTexts, type TextPlace } from '../interceptors/library/secrets/scan.js';

/** Most UTF-16 units of a value that is recorded. */
const MAX_CHARS = 65_536;
/** Most characters of its JSON. */
const MAX_LENGTH = 8192;

let detector: SecretDetector | undefined;

const redact = (text: string, place: TextPlace): string =>
  redactText((detector ??= new SecretDetector()), text, place).text;

/** The place of a text that is random by its nature, so that only known forms of secrets are looked for. */
const URI: TextPlace = { key: 'uri', within: undefined, isKey: false, isProtocol: true };

/** A text without the secrets that are known by their form. */
export const withoutSecrets = (text: string): string => redact(text, URI);

/** A value as JSON, without the secrets that are known by their form, and cut. */
export function recorded(value: unknown): string {
  try {
    const clean = mapTexts(value, redact, { maxChars: MAX_CHARS });
    return (JSON.stringify(clean) ?? '').slice(0, MAX_LENGTH);
  } catch {
    return '[not recorded: it is too large, or not JSON]';
  }
}
