/**
 * The anchor of a heading, as GitHub makes it: a link within the Markdown works there and on the site.
 * @param {string} heading
 */
export const slugify = heading =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
