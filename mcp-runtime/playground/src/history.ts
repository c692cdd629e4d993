// Calls of earlier, kept in the browser's storage for this endpoint.

import type { ItemKind } from './address.ts';
import { ENDPOINT } from './endpoint.ts';
import type { Draft } from './schema/draft.ts';
import { Store } from './store.ts';

// `item` is the id of the item in the list, which differs from `name` for a template: there `name` is the URI. Entries of older pages lack it.
export type Past = { kind: ItemKind; item?: string; name: string; args: Draft; at: number; ms: number; outcome: 'done' | 'failed' | 'cancelled' };

const KEY = `mcp-playground history ${ENDPOINT.href}`;
const MOST = 100;

function load(): Past[] {
    try {
        return JSON.parse(localStorage.getItem(KEY) ?? '[]');
    } catch {
        return [];
    }
}

export const past = new Store<Past[]>(load());

// Adds a call. Its arguments may be secrets, so the person can clear the list.
export function remember(call: Past): void {
    past.set([call, ...past.value].slice(0, MOST));
    try {
        localStorage.setItem(KEY, JSON.stringify(past.value));
    } catch {
        // A full storage keeps the older calls.
    }
}

export function forgetAll(): void {
    past.set([]);
    localStorage.removeItem(KEY);
}
