// The state of the page in its address, so that a call can be shared as a link: `#/tool/greet?args={"name":"Ada"}&revision=2025-11-25`.

import type { Draft } from './schema/draft.ts';
import { isChoice, type Choice } from './revision.ts';

export const KINDS = ['tool', 'resource', 'template', 'prompt'] as const;
export type ItemKind = (typeof KINDS)[number];

export type Place = { kind?: ItemKind; name?: string; args?: Draft; revision: Choice };

export function parse(hash: string): Place {
    const [path, query = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);
    const [, kind, name] = path.split('/');
    const parameters = new URLSearchParams(query);
    const revision = parameters.get('revision');
    const place: Place = { revision: isChoice(revision) ? revision : 'auto' };
    if (!KINDS.some((known) => known === kind) || !name) return place;
    place.kind = kind as ItemKind;
    try {
        place.name = decodeURIComponent(name);
        const args = parameters.get('args');
        if (args !== null) place.args = JSON.parse(args);
    } catch {
        // A link that was cut off still leads to its item.
    }
    return place;
}

export function format({ kind, name, args, revision }: Place): string {
    const parameters = new URLSearchParams();
    if (args !== undefined) parameters.set('args', JSON.stringify(args));
    if (revision !== 'auto') parameters.set('revision', revision);
    const query = parameters.size ? `?${parameters}` : '';
    return kind && name !== undefined ? `#/${kind}/${encodeURIComponent(name)}${query}` : `#/${query}`;
}
