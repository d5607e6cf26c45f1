import { generator } from './generate.js';
import { nestAdd } from './nest-add.js';
import { APP } from './templates/app.js';
import { EXTENSION } from './templates/extension.js';
import { HEALTH } from './templates/health.js';
import { INTERCEPTOR } from './templates/interceptor.js';
import { PROMPT } from './templates/prompt.js';
import { RESOURCE } from './templates/resource.js';
import { TOOL } from './templates/tool.js';

// The factories that `collection.json` names.
export const app = generator(APP);
export const extension = generator(EXTENSION);
export const health = generator(HEALTH);
export const interceptor = generator(INTERCEPTOR);
export { nestAdd };
export const prompt = generator(PROMPT);
export const resource = generator(RESOURCE);
export const tool = generator(TOOL);
