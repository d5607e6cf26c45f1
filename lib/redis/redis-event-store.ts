import type { EventStore, StoredEvent } from '../stores/event-store.js';
import { RedisKeys } from './redis-link.js';
import { RedisScript } from './redis-script.js';

/** The bounds on the events of a session, the same as in `MemoryEventStore`. */
const MAX_EVENTS = 1000;
const MAX_LENGTH = 1_048_576;
const TTL_MS = 300_000;

/** Lifetime of a message's key, in milliseconds. */
const KEY_TTL_MS = 60_000;

/**
 * Adds an event to a Redis stream, and drops the oldest events past a bound. Each entry holds the total length of all
 * events up to it, so that the current length needs no other key.
 */
const KEEP = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function keep(key, stream, sequence, json)
  local last = redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)
  local total = #json + (last[1] and tonumber(last[1][2][8]) or 0)
  redis.call('XADD', key, 'MAXLEN', ${MAX_EVENTS}, '*', 's', stream, 'n', sequence, 'j', json, 't', total)
  redis.call('XTRIM', key, 'MINID', string.format('%.0f', now - ${TTL_MS}))
  while true do
    local first = redis.call('XRANGE', key, '-', '+', 'COUNT', 2)
    if #first < 2 or total - first[1][2][8] + #first[1][2][6] <= ${MAX_LENGTH} then break end
    redis.call('XDEL', key, first[1][1])
  end
  redis.call('PEXPIRE', key, ${TTL_MS})
end
`;

/** KEYS: events. ARGV: stream, sequence, json. */
const APPEND = new RedisScript(`${KEEP}
keep(KEYS[1], ARGV[1], ARGV[2], ARGV[3])`);

/** KEYS: events. ARGV: stream, sequence. */
const AFTER = new RedisScript(`
local found = {}
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '-', '+')) do
  local event = entry[2]
  if event[2] == ARGV[1] and tonumber(event[4]) > tonumber(ARGV[2]) then
    found[#found + 1] = event[4]
    found[#found + 1] = event[6]
  end
end
return found`);

/** KEYS: waiting messages, the message's own key. ARGV: json, whether it has a key. */
const OFFER = new RedisScript(`${KEEP}
if ARGV[2] == '1' and not redis.call('SET', KEYS[2], '', 'NX', 'PX', ${KEY_TTL_MS}) then return 0 end
keep(KEYS[1], '', 0, ARGV[1])
return 1`);

/**
 * Takes the waiting messages. A sequence is a time, so it grows even if the kept events have expired. KEYS: waiting
 * messages, events. ARGV: stream.
 */
const TAKE = new RedisScript(`${KEEP}
local waiting = redis.call('XRANGE', KEYS[1], '-', '+')
if #waiting == 0 then return waiting end
redis.call('DEL', KEYS[1])
local last = 0
for _, entry in ipairs(redis.call('XREVRANGE', KEYS[2], '+', '-')) do
  if entry[2][2] == ARGV[1] then
    last = tonumber(entry[2][4])
    break
  end
end
local taken = {}
for _, entry in ipairs(waiting) do
  last = math.max(last + 1, now)
  local sequence = string.format('%.0f', last)
  keep(KEYS[2], ARGV[1], sequence, entry[2][6])
  taken[#taken + 1] = sequence
  taken[#taken + 1] = entry[2][6]
end
return taken`);

/** Stores the events of sessions in Redis streams that expire. */
export class RedisEventStore extends RedisKeys implements EventStore {
  async append(session: string, { stream, sequence, json }: StoredEvent): Promise<void> {
    await this.eval(APPEND, [this.keyOf('events', session)], [stream, String(sequence), json]);
  }

  async after(session: string, stream: string, sequence: number): Promise<readonly StoredEvent[]> {
    return eventsIn(
      stream,
      await this.eval(AFTER, [this.keyOf('events', session)], [stream, String(sequence)]),
    );
  }

  async offer(session: string, json: string, key?: string): Promise<boolean> {
    const keys = [this.keyOf('waiting', session), this.keyOf('offered', session, `:${key ?? ''}`)];
    return (await this.eval(OFFER, keys, [json, key === undefined ? '0' : '1'])) === 1;
  }

  async take(session: string, stream: string): Promise<readonly StoredEvent[]> {
    const keys = [this.keyOf('waiting', session), this.keyOf('events', session)];
    return eventsIn(stream, await this.eval(TAKE, keys, [stream]));
  }

  async delete(session: string): Promise<void> {
    await this.redis.run(client =>
      client.del([this.keyOf('events', session), this.keyOf('waiting', session)]),
    );
  }

  private eval(script: RedisScript, keys: string[], args: string[]): Promise<unknown> {
    return this.redis.run(client => script.run(client, keys, args));
  }
}

/** The reply holds sequence and message in turns. */
function eventsIn(stream: string, reply: unknown): StoredEvent[] {
  const list = reply as string[];
  const events: StoredEvent[] = [];
  for (let index = 0; index < list.length; index += 2) {
    events.push({ stream, sequence: Number(list[index]), json: list[index + 1] });
  }
  return events;
}
