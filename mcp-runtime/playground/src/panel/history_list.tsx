// Calls of earlier. Each leads back to its form.

import { forgetAll, past, type Past } from '../history.ts';
import { useStore } from '../store.ts';
import { duration } from '../words.ts';

export function HistoryList({ onRepeat }: { onRepeat: (call: Past) => void }) {
    const calls = useStore(past);
    if (!calls.length) return <p class="quiet">No calls yet. They are kept in this browser only.</p>;
    return (
        <>
            <div class="toolbar">
                <span class="quiet">Kept in this browser only, with the arguments.</span>
                <button type="button" class="small" onClick={forgetAll}>
                    Clear
                </button>
            </div>
            <ul class="past">
                {calls.map((call) => (
                    <li>
                        <button type="button" onClick={() => onRepeat(call)}>
                            <span class={`badge ${{ done: 'good', failed: 'bad', cancelled: '' }[call.outcome]}`}>{call.outcome}</span> <span class="method">{call.name}</span> <span class="quiet subject">{call.args !== undefined && JSON.stringify(call.args)}</span>
                            <span class="quiet numbers">
                                {duration(call.ms)}, <time>{new Date(call.at).toLocaleString()}</time>
                            </span>
                        </button>
                    </li>
                ))}
            </ul>
        </>
    );
}
