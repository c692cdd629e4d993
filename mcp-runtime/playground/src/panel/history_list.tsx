// Calls of earlier. Each leads back to its form.

import { ENDPOINT } from '../endpoint.ts';
import { forgetAll, past, type Past } from '../history.ts';
import type { Draft } from '../schema/draft.ts';
import { useStore } from '../store.ts';
import { duration } from '../words.ts';

// The storage of a browser belongs to an address with its port.
const WHERE = `This browser keeps the calls of this server at ${ENDPOINT.host}, with their arguments. To find them again, start the server at the same port.`;

const shown = (args: Draft) => (args === undefined || JSON.stringify(args) === '{}' ? '' : JSON.stringify(args));

export function HistoryList({ onRepeat }: { onRepeat: (call: Past) => void }) {
    const calls = useStore(past);
    if (!calls.length) return <p class="quiet">No calls yet. {WHERE}</p>;
    return (
        <>
            <div class="toolbar">
                <span class="quiet">{WHERE}</span>
                <button type="button" class="small" onClick={forgetAll}>
                    Clear
                </button>
            </div>
            <ul class="past">
                {calls.map((call) => (
                    <li>
                        <button type="button" onClick={() => onRepeat(call)}>
                            <span class={`badge ${{ done: 'good', failed: 'bad', cancelled: '' }[call.outcome]}`}>{call.outcome}</span> <span class="method">{call.name}</span> <span class="quiet subject">{shown(call.args)}</span>
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
