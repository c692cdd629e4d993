// The log messages of the server and of views, from a level on.

import type { LoggingLevel } from '@modelcontextprotocol/client';
import { useState } from 'preact/hooks';
import type { Connection } from '../connection.ts';
import { explain } from '../failure.ts';
import { isAtLeast, LEVELS } from '../log_lines.ts';
import { useStore } from '../store.ts';

export function LogList({ connection }: { connection: Connection }) {
    const { log } = connection;
    const [lines, level] = [useStore(log.lines), useStore(log.level)];
    const { capabilities } = useStore(connection.offer);
    const [problem, setProblem] = useState('');
    if (!capabilities.logging && !lines.length) return <p class="quiet">The server sends no log messages.</p>;
    const choose = (level: LoggingLevel) => {
        setProblem('');
        connection.setLogLevel(level).catch((error) => setProblem(explain(error)));
    };
    const shown = lines.filter((line) => isAtLeast(line.level, level));
    return (
        <>
            <div class="toolbar">
                <label class="inline">
                    <span>From level</span>
                    <select value={level} onChange={(event) => choose(event.currentTarget.value as LoggingLevel)}>
                        {LEVELS.map((known) => (
                            <option value={known}>{known}</option>
                        ))}
                    </select>
                </label>
                <button type="button" class="small" onClick={() => log.clear()}>
                    Clear
                </button>
                {problem && <span class="problem">{problem}</span>}
            </div>
            {!shown.length && <p class="quiet">No messages of this level yet.</p>}
            <ol class="lines">
                {shown.toReversed().map(({ number, at, level: of, logger, data }) => (
                    <li key={number} class={`level level-${LEVELS.indexOf(of) > 3 ? 'error' : of === 'warning' ? 'warning' : 'plain'}`}>
                        <time class="quiet">{at.toLocaleTimeString()}</time> <span class="badge">{of}</span> {logger && <span class="quiet">{logger}</span>} {typeof data === 'string' ? data : JSON.stringify(data)}
                    </li>
                ))}
            </ol>
        </>
    );
}
