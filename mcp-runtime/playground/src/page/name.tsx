// A name or an address that may break after its separators, and not within a word.

import type { ComponentChild } from 'preact';

export function Name({ text }: { text: string }) {
    const parts = text.split(/(?<=[_/.:-])(?=[^_/.:-])/);
    return <span>{parts.flatMap((part, at): ComponentChild[] => (at ? [<wbr />, part] : [part]))}</span>;
}
