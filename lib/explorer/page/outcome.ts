import { badge } from './dom.js';

const WORDS: Readonly<Record<string, string>> = { asked: 'input required' };

export const isFailure = (outcome: string): boolean => !['ok', 'result', 'asked', 'task'].includes(outcome);

export const outcomeBadge = (outcome: string): HTMLElement =>
  badge(WORDS[outcome] ?? outcome, isFailure(outcome) ? 'deny' : 'pass');
