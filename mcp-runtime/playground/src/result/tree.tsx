// A JSON value as a tree that the person can fold.

import type { Json } from '../schema/shape.ts';

const MOST_OPEN = 3;

export function Tree({ value, label }: { value: Json; label: string }) {
    return (
        <div class="tree" role="group" aria-label={label}>
            <Node value={value} depth={0} />
        </div>
    );
}

function Node({ name, value, depth }: { name?: string; value: Json; depth: number }) {
    const key = name !== undefined && <span class="key">{name}: </span>;
    if (typeof value !== 'object' || value === null) {
        return (
            <div class="leaf">
                {key}
                <Leaf value={value} />
            </div>
        );
    }
    const entries = Object.entries(value);
    const summary = Array.isArray(value) ? `${entries.length} items` : `${entries.length} members`;
    if (!entries.length) {
        return (
            <div class="leaf">
                {key}
                {Array.isArray(value) ? '[]' : '{}'}
            </div>
        );
    }
    return (
        <details open={depth < MOST_OPEN && entries.length <= 50}>
            <summary>
                {key}
                <span class="quiet">{summary.replace(/^1 (\w+)s$/, '1 $1')}</span>
            </summary>
            {entries.map(([inner, member]) => (
                <Node name={inner} value={member} depth={depth + 1} />
            ))}
        </details>
    );
}

export function Leaf({ value }: { value: Json }) {
    const kind = value === null ? 'null' : typeof value;
    return <span class={`leaf-${kind}`}>{typeof value === 'string' ? value : JSON.stringify(value)}</span>;
}
