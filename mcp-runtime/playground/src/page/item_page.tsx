// A tool, resource, template or prompt: what it is, its form, and the result of the last run.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Boundary } from './boundary.tsx';
import { Name } from './name.tsx';
import type { Connection } from '../connection.ts';
import { TASKS } from '../connection.ts';
import { focusProblem, SchemaForm } from '../form/schema_form.tsx';
import { expanded, type Item } from '../items.ts';
import { Markdown } from '../markdown.tsx';
import { ResultView } from '../result/result_view.tsx';
import type { Run, Runs } from '../runs.ts';
import { problemsOf } from '../schema/check.ts';
import { initialDraft, withNewDefaults, withoutEmpty, type Draft } from '../schema/draft.ts';
import type { Schema } from '../schema/shape.ts';
import { useStore } from '../store.ts';
import { bytes } from '../words.ts';

type Props = { item: Item; connection: Connection; runs: Runs; args: Draft; onArgs: (args: Draft) => void; onShow: (run: Run) => void };

const VERBS = { tool: 'Run', resource: 'Read', template: 'Read', prompt: 'Get prompt' };

// Schemas of the items that have been shown, by kind and id. After a connection to a server that was built again, an item may have another schema.
const lastSchemas = new Map<string, Schema>();

export function ItemPage({ item, connection, runs, args, onArgs, onShow }: Props) {
    const { kind, id, schema } = item;
    const { capabilities } = useStore(connection.offer);
    const run = useStore(runs.current);
    const [value, setValue] = useState<Draft>(() => args ?? (schema && initialDraft(schema, schema, true)));
    const form = useRef<HTMLFormElement>(null);
    const [isTried, setTried] = useState(false);
    const [isBroken, setBroken] = useState(false);
    const mayBeTask = connection.isModern ? TASKS in ((capabilities as any).extensions ?? {}) : item.taskSupport === 'optional' || item.taskSupport === 'required';
    const [asTask, setAsTask] = useState(item.taskSupport === 'required');
    const problems = useMemo(() => (schema ? problemsOf(value, schema) : new Map()), [schema, value]);
    const change = (given: Draft) => {
        // A variable without a text has no place in the URI.
        const next = kind === 'template' ? withoutEmpty(given) : given;
        setValue(next);
        onArgs(next);
    };
    useEffect(() => {
        if (!schema) return;
        const key = `${kind} ${id}`;
        const next = withNewDefaults(value, lastSchemas.get(key) ?? schema, schema);
        lastSchemas.set(key, schema);
        if (next !== value) change(next);
    }, [schema]);
    const target = kind === 'template' ? expanded(id, (value ?? {}) as Record<string, string>) : id;
    const isRunning = run?.state === 'running';
    const isOwn = run !== undefined && run.kind === kind && run.name === target;
    const isHeld = isBroken || (problems.size > 0 && !isTried);
    const submit = () => {
        if (isRunning || isBroken) return;
        setTried(true);
        if (isHeld) return focusProblem(form.current);
        void runs.start({ kind, item: id, name: target, args: value, asTask: kind === 'tool' && mayBeTask && asTask, schema: schema ?? {} });
    };
    const latest = useRef(submit);
    latest.current = submit;
    // Ctrl Enter works wherever the focus is.
    useEffect(() => {
        const start = (event: KeyboardEvent) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || document.querySelector('dialog[open]')) return;
            event.preventDefault();
            latest.current();
        };
        addEventListener('keydown', start);
        return () => removeEventListener('keydown', start);
    }, []);
    // Escape works wherever the focus is. A dialog and open suggestions take it first.
    useEffect(() => {
        if (!isRunning) return;
        const cancel = (event: KeyboardEvent) => {
            if (event.key === 'Escape' && !event.defaultPrevented && !document.querySelector('dialog[open]')) runs.cancel();
        };
        addEventListener('keydown', cancel);
        return () => removeEventListener('keydown', cancel);
    }, [isRunning]);
    // The button “Cancel” goes away with the end of the call. The focus would be lost with it.
    useEffect(() => {
        if (run && !isRunning && document.activeElement === document.body) form.current?.querySelector<HTMLElement>('[type=submit]')?.focus({ preventScroll: true });
    }, [isRunning]);
    const ref = kind === 'prompt' ? { type: 'ref/prompt', name: id } : { type: 'ref/resource', uri: id };
    const completer = (name: string, text: string, signal: AbortSignal) => {
        const { [name]: _, ...others } = (value ?? {}) as Record<string, unknown>;
        return connection.complete(ref, name, text, others, signal);
    };
    const canComplete = (kind === 'prompt' || kind === 'template') && capabilities.completions !== undefined;
    const verb = problems.size > 0 && isTried && !isBroken ? `${VERBS[kind]} anyway` : VERBS[kind];
    return (
        <article>
            <header class="item-head">
                <p class="kind">{kind}</p>
                <h2>
                    {item.icon && <img class="icon large" src={item.icon} alt="" />}
                    <Name text={item.title} />
                </h2>
                {item.title !== id && (
                    <code class="id">
                        <Name text={id} />
                    </code>
                )}
                <p class="badges">
                    {item.hints.map(({ label, about, tone }) => (
                        <span class={`badge ${tone}`} title={about}>
                            {label}
                        </span>
                    ))}
                    {item.taskSupport === 'required' && <span class="badge">runs as a task</span>}
                    {item.mimeType && <span class="badge">{item.mimeType}</span>}
                    {item.size !== undefined && <span class="badge">{bytes(item.size)}</span>}
                </p>
                {item.description && <Markdown text={item.description} />}
            </header>
            <form
                ref={form}
                noValidate
                onSubmit={(event) => {
                    event.preventDefault();
                    submit();
                }}
            >
                {schema && <SchemaForm schema={schema} value={value} onChange={change} problems={problems} showAll={isTried} completer={canComplete ? completer : undefined} onBroken={kind === 'tool' ? setBroken : undefined} />}
                <div class="actions">
                    {/* The second click of a double click begins no other call. */}
                    <button type="submit" class="primary" aria-disabled={isRunning} disabled={isBroken} onClick={(event) => event.detail > 1 && event.preventDefault()}>
                        {verb}
                    </button>
                    <kbd class="quiet">Ctrl Enter</kbd>
                    {kind === 'tool' && mayBeTask && (
                        <label class="inline" title="The tab “Tasks” shows its status. If the tool cannot run as a task, it runs as usual.">
                            <input type="checkbox" checked={asTask} onChange={(event) => setAsTask(event.currentTarget.checked)} /> Run as a task
                        </label>
                    )}
                    {kind === 'template' && (
                        <span class="quiet">
                            reads <code class="uri">{expanded(id, (value ?? {}) as Record<string, string>, true)}</code>
                        </span>
                    )}
                    {(kind === 'resource' || (kind === 'template' && !problems.size)) && <Subscription connection={connection} uri={target} />}
                    {isTried && problems.size > 0 && (
                        <span class="problem" role="alert">
                            {problems.size === 1 ? 'One value does' : `${problems.size} values do`} not fit the schema.
                        </span>
                    )}
                </div>
            </form>
            {isRunning && !isOwn && (
                <p class="notice elsewhere">
                    <span>
                        <code>{run.name}</code> is still running. A new call can begin when it has ended.
                    </span>
                    <button type="button" class="small" onClick={() => onShow(run)}>
                        Show it
                    </button>
                    <button type="button" class="small" onClick={() => runs.cancel()}>
                        Cancel it
                    </button>
                </p>
            )}
            {isOwn && (
                <Boundary key={run.number} about="This result">
                    <ResultView run={run} item={item} onCancel={() => runs.cancel()} />
                </Boundary>
            )}
        </article>
    );
}

function Subscription({ connection, uri }: { connection: Connection; uri: string }) {
    const subscribed = useStore(connection.subscribed);
    const { capabilities } = useStore(connection.offer);
    const [problem, setProblem] = useState('');
    if (!capabilities.resources?.subscribe) return null;
    const updates = subscribed[uri];
    const toggle = async (isOn: boolean) => {
        try {
            await connection.subscribe(uri, isOn);
            setProblem('');
        } catch (error) {
            setProblem(error instanceof Error ? error.message : String(error));
        }
    };
    return (
        <>
            <label class="inline">
                <input type="checkbox" checked={updates !== undefined} onChange={(event) => void toggle(event.currentTarget.checked)} /> Subscribe
            </label>
            <span role="status">{updates ? <span class="badge good">updated {updates === 1 ? 'once' : `${updates} times`}</span> : null}</span>
            {problem && <span class="problem">{problem}</span>}
        </>
    );
}
