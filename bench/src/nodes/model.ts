import type { Counts } from './counts.js';

/** What one operation costs Redis, or what the beats of a node cost each second. */
export type Cost = Pick<Counts, 'scripts' | 'reads' | 'publishes' | 'cpuUs'>;

export interface Costs {
  readonly home: Cost;
  readonly elsewhere: Cost;
  readonly streamed: Cost;
  /** A changed list, for a session that listens. */
  readonly told: Cost;
  /** A second of a node. */
  readonly beat: Cost;
}

/** Sessions of 2025 clients; clients of 2026-07-28 send Redis nothing. */
export interface Traffic {
  readonly nodes: number;
  readonly sessions: number;
  /** Calls of a session, each minute. */
  readonly callsPerMinute: number;
  /** The share of calls that reach the home of their session. */
  readonly atHome: number;
  readonly streamed: number;
  /** The share of sessions with a GET stream. */
  readonly listening: number;
  readonly listChangesPerHour: number;
}

/** What Redis has to do each second. */
export function modelOf(costs: Costs, traffic: Traffic): Cost {
  const { nodes, sessions, callsPerMinute, atHome, streamed, listening, listChangesPerHour } = traffic;
  const calls = (sessions * callsPerMinute) / 60;
  const away = calls * (1 - atHome);
  const told = (sessions * listening * listChangesPerHour) / 3600;
  const parts: [Cost, number][] = [
    [costs.home, calls * atHome * (1 - streamed)],
    [costs.elsewhere, away],
    [costs.streamed, calls * streamed],
    [costs.told, told],
    [costs.beat, nodes],
  ];
  const sum = (name: keyof Cost) => parts.reduce((all, [cost, times]) => all + cost[name] * times, 0);
  return {
    scripts: sum('scripts'),
    reads: sum('reads'),
    publishes: sum('publishes'),
    cpuUs: sum('cpuUs'),
  };
}

const BASE = { callsPerMinute: 1, streamed: 0.1, listening: 0.5, listChangesPerHour: 1 };

/** The rows of the table in `docs/several-nodes.md`. */
export const TRAFFIC: readonly Traffic[] = [
  { ...BASE, nodes: 10, sessions: 100_000, atHome: 1 / 10 },
  { ...BASE, nodes: 100, sessions: 1_000_000, atHome: 1 / 100 },
  { ...BASE, nodes: 100, sessions: 1_000_000, atHome: 0.95 },
];
