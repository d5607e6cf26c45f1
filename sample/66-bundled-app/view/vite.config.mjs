import { defineConfig } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';

/** One HTML file with its scripts and styles, because hosts load no other file of the server. */
export default defineConfig({
  plugins: [viteSingleFile()],
  build: { outDir: '../../../dist/sample/66-bundled-app/view', emptyOutDir: true },
});
