const MAX_DECODINGS = 4;

/** One spelling of a URI. Rather equates too many URIs than too few: it protects hidden resources. */
export function canonicalUri(uri: string): string {
  const decoded = decode(uri).replaceAll('\\', '/');
  return decode(normalised(decoded))
    .normalize('NFKC')
    .toLowerCase()
    .replace(/(?<!:)\/{2,}/g, '/')
    .replace(/\/+$/, '');
}

function normalised(uri: string): string {
  try {
    const url = new URL(uri);
    url.hash = '';
    url.username = '';
    url.password = '';
    return url.href;
  } catch {
    return uri;
  }
}

function decode(text: string): string {
  let decoded = text;
  for (let round = 0; round < MAX_DECODINGS; round++) {
    const before = decoded;
    // A piece that is no UTF-8 stays as it is.
    decoded = decoded.replace(/(%[\da-f]{2})+/gi, piece => {
      try {
        return decodeURIComponent(piece);
      } catch {
        return piece;
      }
    });
    if (decoded === before) break;
  }
  return decoded;
}
