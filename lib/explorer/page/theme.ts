import { select } from './dom.js';

const KEY = 'mcp-explorer-colours';

/** Chooses the colours: of the system, light or dark. The browser remembers it. */
export function themeChooser(): HTMLSelectElement {
  const chooser = select([
    ['', 'Auto'],
    ['light', 'Light'],
    ['dark', 'Dark'],
  ]);
  const apply = () => void (document.documentElement.dataset['theme'] = chooser.value);
  chooser.value = remembered();
  apply();
  chooser.addEventListener('change', () => {
    apply();
    try {
      localStorage.setItem(KEY, chooser.value);
    } catch {
      // A browser that stores nothing forgets it.
    }
  });
  return chooser;
}

function remembered(): string {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : '';
  } catch {
    return '';
  }
}
