// Every message between the page and the server, in the order in which the page sent or received it.

import { Store } from './store.ts';

export type Message = { jsonrpc?: string; id?: string | number; method?: string; params?: any; result?: any; error?: any };
export type Direction = 'client' | 'server';
// The other side of the page: the server, or the view of a tool, to which the page is the server.
export type Peer = 'server' | 'view';
export type Kind = 'request' | 'response' | 'error' | 'notification';

export type WireEntry = {
    number: number;
    at: number;
    peer: Peer;
    direction: Direction;
    kind: Kind;
    message: Message;
    // Method of the message, or of the request that a response answers.
    method: string;
    // Time since the request, in milliseconds.
    elapsed?: number;
    size: number;
    // URL and headers of the HTTP request that carried a message of the client.
    http?: { url: string; headers: [string, string][] };
};

const MOST_ENTRIES = 2000;
// Size of the messages that stay, in bytes of their JSON.
export const MOST_BYTES = 20_000_000;

export class Wire {
    readonly entries = new Store<WireEntry[]>([]);
    #last = 0;
    // Requests whose responses have not come, by peer, sender and id.
    #open = new Map<string, Pick<WireEntry, 'at' | 'method'>>();

    // Records a message. `client` is the page itself, and `server` is its peer.
    note(direction: Direction, message: Message, peer: Peer = 'server'): void {
        const at = performance.now();
        const kind = kindOf(message);
        const isAnswer = kind === 'response' || kind === 'error';
        const other = direction === 'client' ? 'server' : 'client';
        const key = (sender: Direction) => `${peer} ${sender} ${JSON.stringify(message.id)}`;
        const request = isAnswer ? this.#open.get(key(other)) : undefined;
        const size = new TextEncoder().encode(JSON.stringify(message)).length;
        this.#last += 1;
        const entry: WireEntry = { number: this.#last, at, peer, direction, kind, message, method: message.method ?? request?.method ?? 'response', size };
        if (request) entry.elapsed = at - request.at;
        if (kind === 'request') this.#open.set(key(direction), { at, method: entry.method });
        if (isAnswer) this.#open.delete(key(other));
        if (this.#open.size > MOST_ENTRIES) this.#open.delete(this.#open.keys().next().value!);
        const entries = [...this.entries.value, entry].slice(-MOST_ENTRIES);
        let bytes = entries.reduce((sum, { size }) => sum + size, 0);
        let dropped = 0;
        for (; bytes > MOST_BYTES && dropped < entries.length - 1; dropped += 1) bytes -= entries[dropped].size;
        this.entries.set(entries.slice(dropped));
    }

    // Adds the headers of the HTTP request that carries a message. The message has been noted before it is sent.
    noteHttp(url: string, headers: Headers, body: unknown): void {
        if (typeof body !== 'string') return;
        const entry = this.entries.value.findLast(({ peer, direction, message }) => peer === 'server' && direction === 'client' && JSON.stringify(message) === body);
        if (entry) entry.http = { url, headers: [...headers] };
    }

    clear(): void {
        this.entries.set([]);
    }
}

export function kindOf(message: Message): Kind {
    if (message.method !== undefined) return message.id === undefined ? 'notification' : 'request';
    return message.error === undefined ? 'response' : 'error';
}

// Returns the entries of a kind that contain a text in any case.
export function filtered(entries: WireEntry[], text: string, kind: Kind | 'all'): WireEntry[] {
    const wanted = text.trim().toLowerCase();
    return entries.filter(
        (entry) =>
            (kind === 'all' || entry.kind === kind) &&
            (wanted === '' || entry.method.toLowerCase().includes(wanted) || JSON.stringify(entry.message).toLowerCase().includes(wanted)),
    );
}

// Returns the entries as lines of a transcript: `{"client": message}` or `{"server": message}`. A transcript is a session with the server, so it
// has no messages of views.
export function transcript(entries: WireEntry[]): string {
    const session = entries.filter(({ peer }) => peer === 'server');
    return session.map(({ direction, message }) => `${JSON.stringify({ [direction]: message })}\n`).join('');
}

// Returns a shell command that sends a message of the client again. The access token is left out.
export function curl({ message, http }: WireEntry): string {
    const quote = (word: string) => `'${word.replaceAll("'", String.raw`'\''`)}'`;
    const headers = (http?.headers ?? []).map(([name, value]) => (name === 'authorization' ? `-H "Authorization: Bearer $TOKEN"` : `-H ${quote(`${name}: ${value}`)}`));
    return [`curl ${quote(http?.url ?? '')}`, ...headers, `-d ${quote(JSON.stringify(message))}`].join(' \\\n  ');
}
