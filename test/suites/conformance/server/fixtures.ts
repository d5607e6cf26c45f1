/** A PNG of one red pixel, in Base64. */
export const RED_PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';

/** A WAV file without a single sample, in Base64. */
export const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';

/** The resource that `touch_watched_resource` changes. */
export const WATCHED = 'test://watched-resource';
