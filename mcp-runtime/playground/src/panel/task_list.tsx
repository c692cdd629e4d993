// The tasks that this page has started.

import { MODERN } from '../revision.ts';
import { useStore } from '../store.ts';
import type { Tasks } from '../tasks.ts';

const HAVE_TASKS = ['2025-11-25', MODERN];

export function TaskList({ tasks }: { tasks: Tasks }) {
    const all = useStore(tasks.all);
    const { revision } = useStore(tasks.connection.offer);
    if (!all.length && revision !== undefined && !HAVE_TASKS.includes(revision)) return <p class="quiet">Protocol revision {revision} has no tasks.</p>;
    if (!all.length) return <p class="quiet">No tasks yet. Tools that can run as tasks have a check box beside “Run”.</p>;
    return (
        <div class="scroll" tabIndex={0} role="region" aria-label="Tasks">
            <table>
                <thead>
                    <tr>
                        {['Tool', 'Status', '', 'Message', 'Task'].map((name) => (name ? <th scope="col">{name}</th> : <td />))}
                    </tr>
                </thead>
                <tbody>
                    {all.map(({ taskId, tool, status, statusMessage, lost }) => (
                        <tr key={taskId}>
                            <td>{tool}</td>
                            <td>
                                <span class={`badge task-${status}`}>{status.replace('_', ' ')}</span>
                            </td>
                            <td>
                                {(status === 'working' || status === 'input_required') && lost === undefined && (
                                    <button type="button" class="small" onClick={() => void tasks.cancel(taskId)}>
                                        Cancel
                                    </button>
                                )}
                            </td>
                            <td>{lost === undefined ? statusMessage : `The status may be old: ${lost}`}</td>
                            <td>
                                <code>{taskId}</code>
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}
