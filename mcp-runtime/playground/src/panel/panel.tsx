// The lower part of the page: the wire, the log, tasks and history.

import { useState } from 'preact/hooks';
import { HistoryList } from './history_list.tsx';
import { LogList } from './log_list.tsx';
import { TaskList } from './task_list.tsx';
import { WireList } from './wire_list.tsx';
import type { Connection } from '../connection.ts';
import { past, type Past } from '../history.ts';
import { useStore } from '../store.ts';
import type { Tasks } from '../tasks.ts';

type Props = { connection: Connection; tasks: Tasks; onRepeat: (call: Past) => void };

export function Panel({ connection, tasks, onRepeat }: Props) {
    const [open, setOpen] = useState<string | undefined>(undefined);
    const tabs = [
        { name: 'wire', label: 'Wire', count: useStore(connection.wire.entries).length, body: () => <WireList wire={connection.wire} /> },
        { name: 'log', label: 'Log', count: useStore(connection.log.lines).length, body: () => <LogList connection={connection} /> },
        { name: 'tasks', label: 'Tasks', count: useStore(tasks.all).length, body: () => <TaskList tasks={tasks} /> },
        { name: 'history', label: 'History', count: useStore(past).length, body: () => <HistoryList onRepeat={onRepeat} /> },
    ];
    const shown = tabs.find(({ name }) => name === open);
    return (
        <section class="panel" aria-label="Wire, log, tasks and history">
            <div class="tabs">
                {tabs.map(({ name, label, count }) => (
                    <button type="button" aria-expanded={open === name} aria-controls="panel-body" onClick={() => setOpen(open === name ? undefined : name)}>
                        {label} <span class="count">{count}</span>
                    </button>
                ))}
            </div>
            <div id="panel-body" class="panel-body" hidden={!shown}>
                {shown?.body()}
            </div>
        </section>
    );
}
