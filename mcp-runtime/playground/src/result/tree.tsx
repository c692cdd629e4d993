// A JSON value as a tree that the user can fold.

import type { ComponentChild } from 'preact';
import { useState } from 'preact/hooks';
import type { Json } from '../schema/shape.ts';

const MOST_OPEN = 3;

// Number of members or rows that are added at a time, because a browser needs seconds to draw many thousands.
export const STEP = 500;

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
    if (!Object.keys(value).length) {
        return (
            <div class="leaf">
                {key}
                {Array.isArray(value) ? '[]' : '{}'}
            </div>
        );
    }
    return <Branch keyed={key} value={value} depth={depth} />;
}

// The members exist only while the branch is open, because a tree may be deep or wide.
function Branch({ keyed, value, depth }: { keyed: ComponentChild; value: object; depth: number }) {
    const count = Object.keys(value).length;
    const [isOpen, setOpen] = useState(depth < MOST_OPEN && count <= 50);
    const [most, setMost] = useState(STEP);
    const summary = Array.isArray(value) ? `${count} items` : `${count} members`;
    const rest = count - most;
    return (
        <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
            <summary>
                {keyed}
                <span class="quiet">{summary.replace(/^1 (\w+)s$/, '1 $1')}</span>
            </summary>
            {isOpen && Object.entries(value).slice(0, most).map(([inner, member]) => <Node name={inner} value={member} depth={depth + 1} />)}
            {isOpen && rest > 0 && (
                <button type="button" class="small" onClick={() => setMost(most + STEP)}>
                    Show {Math.min(STEP, rest)} more of {summary}
                </button>
            )}
        </details>
    );
}

export function Leaf({ value }: { value: Json }) {
    const kind = value === null ? 'null' : typeof value === 'bigint' ? 'number' : typeof value;
    return <span class={`leaf-${kind}`}>{typeof value === 'string' ? value : JSON.stringify(value)}</span>;
}
