import type { RequestId } from '@modelcontextprotocol/server';
import type { EventStore, OfferedMessage, StoredEvent, StreamWrite } from '../stores/event-store.js';
import { jsonIn } from '../util/json-in.js';
import { RedisKeys, RedisScript } from './redis-keys.js';

/** The bounds on the events of a session, the same as in `MemoryEventStore`. */
const MAX_EVENTS = 1000;
const MAX_LENGTH = 1_048_576;
const TTL_MS = 300_000;

/** Lifetime of a message's key, and of the list of open streams, in milliseconds. */
const KEY_TTL_MS = 60_000;
const OPEN_TTL_MS = 86_400_000;

/** How many entries of a session are read at once, from the latest back. */
const PAGE = 50;

/**
 * Adds events to a Redis stream, and drops the oldest past a bound. Each entry holds the total length of all events up
 * to it, so that the current length needs no other key. Without a number, an event has that of its entry, which grows,
 * even if the earlier entries have expired.
 */
const KEEP = `
local total
local function numberOf(id, n)
  if n ~= '' then return n end
  local ms, count = string.match(id, '(%d+)-(%d+)')
  return string.format('%.0f', ms * 1000 + count)
end
local function add(key, stream, n, json)
  if not total then
    local last = redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)
    total = last[1] and tonumber(last[1][2][8]) or 0
  end
  total = total + #json
  local id = redis.call('XADD', key, 'MAXLEN', ${MAX_EVENTS}, '*', 's', stream, 'n', n, 'j', json, 't', total)
  return numberOf(id, n)
end
local function trim(key)
  if not total then return end
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('XTRIM', key, 'MINID', string.format('%.0f', now - ${TTL_MS}))
  while true do
    local first = redis.call('XRANGE', key, '-', '+', 'COUNT', 2)
    if #first < 2 or total - first[1][2][8] + #first[1][2][6] <= ${MAX_LENGTH} then break end
    redis.call('XDEL', key, first[1][1])
  end
  redis.call('PEXPIRE', key, ${TTL_MS})
end
`;

/** KEYS: events, open streams. ARGV: stream, its requests or nothing, whether it is over, numbers and messages. */
const APPEND = new RedisScript(`${KEEP}
for index = 4, #ARGV, 2 do add(KEYS[1], ARGV[1], ARGV[index], ARGV[index + 1]) end
trim(KEYS[1])
if ARGV[3] == '1' then
  redis.call('HDEL', KEYS[2], ARGV[1])
elseif ARGV[2] ~= '' then
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
  redis.call('PEXPIRE', KEYS[2], ${OPEN_TTL_MS})
end`);

/**
 * From the latest event back, up to one that the client has. Events that were written again, because Redis answered too
 * late, count once. KEYS: events. ARGV: stream, sequence.
 */
const AFTER = new RedisScript(`${KEEP}
local found, last, lowest = {}, '+', nil
while true do
  local page = redis.call('XREVRANGE', KEYS[1], last, '-', 'COUNT', ${PAGE})
  for _, entry in ipairs(page) do
    last = '(' .. entry[1]
    local event = entry[2]
    if event[2] == ARGV[1] then
      local n = numberOf(entry[1], event[4])
      if tonumber(n) <= tonumber(ARGV[2]) then return found end
      if not lowest or tonumber(n) < lowest then
        lowest = tonumber(n)
        found[#found + 1] = n
        found[#found + 1] = event[6]
      end
    end
  end
  if #page < ${PAGE} then return found end
end`);

/** KEYS: events or waiting messages, the key of each message. ARGV: stream or nothing, the messages. */
const ADD = new RedisScript(`${KEEP}
local added = {}
for index = 2, #KEYS do
  if redis.call('SET', KEYS[index], '', 'NX', 'PX', ${KEY_TTL_MS}) then
    added[#added + 1] = add(KEYS[1], ARGV[1], '', ARGV[index])
    added[#added + 1] = ARGV[index]
  end
end
trim(KEYS[1])
return added`);

/** KEYS: waiting messages, events. ARGV: stream. */
const TAKE = new RedisScript(`${KEEP}
local waiting = redis.call('XRANGE', KEYS[1], '-', '+')
if #waiting == 0 then return waiting end
redis.call('DEL', KEYS[1])
local taken = {}
for _, entry in ipairs(waiting) do
  taken[#taken + 1] = add(KEYS[2], ARGV[1], '', entry[2][6])
  taken[#taken + 1] = entry[2][6]
end
trim(KEYS[2])
return taken`);

/** Stores the events of sessions in Redis streams that expire. */
export class RedisEventStore extends RedisKeys implements EventStore {
  async append(session: string, { stream, events, requests, isOver }: StreamWrite): Promise<void> {
    const keys = [this.keyOf('events', session), this.keyOf('open', session)];
    const numbered = events.flatMap(({ sequence, json }) => [String(sequence), json]);
    await this.eval(APPEND, keys, [
      stream,
      requests ? JSON.stringify(requests) : '',
      isOver === true ? '1' : '0',
      ...numbered,
    ]);
  }

  async after(session: string, stream: string, sequence: number): Promise<readonly StoredEvent[]> {
    const keys = [this.keyOf('events', session)];
    return eventsIn(stream, await this.eval(AFTER, keys, [stream, String(sequence)])).reverse();
  }

  async openStreams(session: string): Promise<ReadonlyMap<string, readonly RequestId[]>> {
    const fields = await this.redis.run(client => client.hGetAll(this.keyOf('open', session)));
    const streams = new Map<string, readonly RequestId[]>();
    for (const [stream, json] of Object.entries(fields)) {
      const requests = jsonIn(json);
      if (Array.isArray(requests)) streams.set(stream, requests as RequestId[]);
    }
    return streams;
  }

  async push(
    session: string,
    stream: string,
    messages: readonly OfferedMessage[],
  ): Promise<readonly StoredEvent[]> {
    return eventsIn(stream, await this.add('events', session, stream, messages));
  }

  async offer(session: string, messages: readonly OfferedMessage[]): Promise<void> {
    await this.add('waiting', session, '', messages);
  }

  async take(session: string, stream: string): Promise<readonly StoredEvent[]> {
    const keys = [this.keyOf('waiting', session), this.keyOf('events', session)];
    return eventsIn(stream, await this.eval(TAKE, keys, [stream]));
  }

  async delete(session: string): Promise<void> {
    await this.redis.run(client =>
      client.del(['events', 'waiting', 'open'].map(kind => this.keyOf(kind, session))),
    );
  }

  private add(
    kind: string,
    session: string,
    stream: string,
    messages: readonly OfferedMessage[],
  ): Promise<unknown> {
    const keys = messages.map(({ key }) => this.keyOf('offered', session, `:${key}`));
    const texts = messages.map(({ json }) => json);
    return this.eval(ADD, [this.keyOf(kind, session), ...keys], [stream, ...texts]);
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
