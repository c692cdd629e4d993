// What a call has returned: its content, its structured content, or its error.

import { useEffect, useMemo, useRef } from 'preact/hooks';
import { ContentBlock } from './content_block.tsx';
import { FailureView } from './failure_view.tsx';
import { Structured } from './structured.tsx';
import { bytes, duration } from '../words.ts';
import { isAtLeast, LEVELS } from '../log_lines.ts';
import type { Run } from '../runs.ts';
import type { Item } from '../items.ts';

const STATES = { running: 'Running', done: 'Done', failed: 'Failed', cancelled: 'Cancelled' };

type Props = { run: Run; item: Item; onCancel: () => void };

// The same elements stay while the user types in the form, because a large result takes long to compare and to draw.
export function ResultView(props: Props) {
    return useMemo(() => <Result {...props} />, [props.run, props.item]);
}

function Result({ run, item, onCancel }: Props) {
    const { state, ms, size, result, failure } = run;
    const section = useRef<HTMLElement>(null);
    useEffect(() => section.current?.scrollIntoView({ block: 'nearest' }), [state]);
    const content: any[] = result?.content ?? result?.contents?.map((resource: any) => ({ type: 'resource', resource })) ?? [];
    return (
        <section class="result" ref={section} aria-label="Result" aria-busy={state === 'running'}>
            <header class="result-head">
                <h3 class={`state state-${state}`}>
                    <span role="status">{STATES[state]}</span>
                </h3>
                {ms !== undefined && <span class="quiet">{duration(ms)}</span>}
                {size !== undefined && (
                    <span class="quiet" title="Size of the result as JSON">
                        {bytes(size)}
                    </span>
                )}
                {state === 'running' && (
                    <button type="button" class="small" onClick={onCancel}>
                        Cancel
                    </button>
                )}
            </header>
            {run.task && <TaskLine run={run} />}
            {run.asTask && result && !run.task && <p class="quiet">The server has run this call without a task.</p>}
            {run.progress && <ProgressLine run={run} />}
            {run.lines.length > 0 && <Lines run={run} />}
            {failure && <FailureView failure={failure} />}
            {result?.isError && <p class="notice notice-error">The tool reports an error. Models read this text and may try again with other arguments.</p>}
            {result?.description && result.description !== item.description && <p class="quiet">{result.description}</p>}
            {result?.messages?.map((message: any) => (
                <div class="message">
                    <h4>{message.role}</h4>
                    <ContentBlock block={message.content} />
                </div>
            ))}
            {result?.structuredContent !== undefined && <Structured value={result.structuredContent} schema={item.outputSchema} />}
            {content.map((block) => (
                <ContentBlock block={block} isRepeated={result?.structuredContent !== undefined && repeats(block, result.structuredContent)} />
            ))}
            {result && !content.length && !result.messages?.length && result.structuredContent === undefined && <p class="quiet">The result is empty.</p>}
        </section>
    );
}

// Whether a text block has the structured content again, for clients that do not know structured content.
function repeats(block: any, structured: unknown): boolean {
    if (block.type !== 'text') return false;
    try {
        return JSON.stringify(JSON.parse(block.text)) === JSON.stringify(structured);
    } catch {
        return false;
    }
}

function TaskLine({ run: { task } }: { run: Run }) {
    return (
        <p class="task-line">
            Task <code>{task!.taskId}</code> <span class={`badge task-${task!.status}`}>{task!.status.replace('_', ' ')}</span> {task!.statusMessage}
        </p>
    );
}

function ProgressLine({ run: { progress, state } }: { run: Run }) {
    const { progress: at, total, message } = progress!;
    return (
        <div class="progress">
            <progress aria-label="Progress" max={total} value={total === undefined && state === 'running' ? undefined : at} />
            <span>
                {total === undefined ? at : `${at} of ${total}`} {message}
            </span>
        </div>
    );
}

function Lines({ run: { lines } }: { run: Run }) {
    return (
        <ol class="lines" aria-label="Log lines of this call">
            {lines.map(({ level, logger, data }) => (
                <li class={isAtLeast(level, 'warning') ? `level level-${LEVELS.indexOf(level) > 3 ? 'error' : 'warning'}` : 'level'}>
                    <span class="badge">{level}</span> {logger && <span class="quiet">{logger}</span>} {typeof data === 'string' ? data : JSON.stringify(data)}
                </li>
            ))}
        </ol>
    );
}
