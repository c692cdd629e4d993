// Earlier calls, kept in the browser's storage. The key names the endpoint and the server, because another server may use the same port later.

import type { ItemKind } from './address.ts';
import { ENDPOINT } from './endpoint.ts';
import type { Draft } from './schema/draft.ts';
import { readJson, remove, write } from './storage.ts';
import { Store } from './store.ts';

// `item` is the id of the item in the list, which differs from `name` for a template: there `name` is the URI. Entries of older pages lack it.
export type Past = { kind: ItemKind; item?: string; name: string; args: Draft; at: number; ms: number; outcome: 'done' | 'failed' | 'cancelled' };

const MOST = 100;

// Key of the list in the storage, or an empty text while the server is unknown or asks for a login.
let storageKey = '';

const load = () => (storageKey && readJson<Past[]>('localStorage', storageKey)) || [];

export const past = new Store<Past[]>(load());

// Another tab may have added a call, or cleared the list.
addEventListener('storage', ({ key }) => {
    if (key === storageKey || key === null) past.set(load());
});

// Shows the calls of the server with this name, or none while the server asks for a login.
export function openHistory(server: string | undefined): void {
    storageKey = server === undefined ? '' : `mcp-playground history ${ENDPOINT.href} ${server}`;
    past.set(load());
}

// Adds a call. Its arguments may be secrets that no schema names, so the user can clear the list.
export function remember(call: Past): void {
    if (!storageKey) return;
    const calls = [call, ...load()].slice(0, MOST);
    const texts = calls.map((each) => JSON.stringify(each));
    let count = calls.length;
    // The oldest calls make room. If even the new call does not fit, the others stay in the storage.
    while (count > 0 && write('localStorage', storageKey, `[${texts.slice(0, count)}]`)) count -= 1;
    past.set(count ? calls.slice(0, count) : calls);
}

export function forgetAll(): void {
    past.set([]);
    remove('localStorage', storageKey);
}
