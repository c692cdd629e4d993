// Structured content: as a tree, as a table where it is one, and compared with the output schema.

import { useState } from 'preact/hooks';
import { Leaf, STEP, Tree } from './tree.tsx';
import { ViewSwitch } from './view_switch.tsx';
import { pretty } from '../exact.ts';
import { problemsOf } from '../schema/check.ts';
import type { Json, Schema } from '../schema/shape.ts';

type Rows = { name: string; rows: { [column: string]: Json }[]; columns: string[] };

export function Structured({ value, schema }: { value: Json; schema?: Schema }) {
    const rows = tableOf(value);
    const [view, setView] = useState<'tree' | 'table' | 'json'>(rows ? 'table' : 'tree');
    const views = [...(rows ? [['table', 'Table'] as const] : []), ['tree', 'Tree'] as const, ['json', 'JSON'] as const];
    return (
        <div class="block">
            <div class="block-head">
                <span class="quiet">structured content</span>
                {schema && <Verdict value={value} schema={schema} />}
                <ViewSwitch views={views} view={view} choose={setView} />
            </div>
            {view === 'table' && rows ? <Table rows={rows} /> : view === 'json' ? <pre tabIndex={0}>{pretty(value)}</pre> : <Tree value={value} label="Structured content" />}
        </div>
    );
}

function Verdict({ value, schema }: { value: Json; schema: Schema }) {
    const problems = [...problemsOf(value, schema)];
    if (!problems.length) return <span class="badge good">fits the output schema</span>;
    return (
        <details class="verdict">
            <summary class="badge bad">does not fit the output schema</summary>
            <ul>
                {problems.map(([pointer, problem]) => (
                    <li>
                        <code>{pointer || '/'}</code> {problem}
                    </li>
                ))}
            </ul>
        </details>
    );
}

// Returns the rows of a list of objects, which may be the only list of an object.
export function tableOf(value: Json): Rows | undefined {
    const isRow = (row: Json): row is { [column: string]: Json } => typeof row === 'object' && row !== null && !Array.isArray(row);
    const isTable = (list: unknown): list is { [column: string]: Json }[] => Array.isArray(list) && list.length > 0 && list.every(isRow);
    const lists = isRow(value) ? Object.entries(value).filter(([, list]) => isTable(list)) : [];
    const [name, rows] = isTable(value) ? ['', value] : lists.length === 1 && Array.isArray(lists[0][1]) ? (lists[0] as [string, any]) : [];
    if (rows === undefined) return undefined;
    const columns = [...new Set<string>(rows.flatMap((row: object) => Object.keys(row)))];
    return columns.length <= 20 ? { name: name!, rows, columns } : undefined;
}

function Table({ rows: { name, rows, columns } }: { rows: Rows }) {
    const [most, setMost] = useState(STEP);
    const rest = rows.length - most;
    return (
        <div class="scroll" tabIndex={0} role="region" aria-label={name || 'Table of the result'}>
            <table>
                {name && <caption>{name}</caption>}
                <thead>
                    <tr>
                        {columns.map((column) => (
                            <th scope="col">{column}</th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {rows.slice(0, most).map((row) => (
                        <tr>
                            {columns.map((column) => (
                                <td class={/^(number|bigint)$/.test(typeof row[column]) ? 'number' : ''}>{column in row && <Leaf value={row[column]} />}</td>
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
            {rest > 0 && (
                <button type="button" class="small" onClick={() => setMost(most + STEP)}>
                    Show {Math.min(STEP, rest)} more of {rows.length} rows
                </button>
            )}
        </div>
    );
}
