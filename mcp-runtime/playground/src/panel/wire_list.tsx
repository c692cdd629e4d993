// The messages between the page and the server, and between the page and views.

import { useState } from 'preact/hooks';
import { CopyButton } from './copy_button.tsx';
import { pretty } from '../exact.ts';
import { useStore } from '../store.ts';
import { curl, filtered, transcript, type Kind, type Wire, type WireEntry } from '../wire.ts';
import { bytes, duration } from '../words.ts';

const KINDS: [Kind | 'all', string][] = [['all', 'all messages'], ['request', 'requests'], ['response', 'results'], ['error', 'errors'], ['notification', 'notifications']];

export function WireList({ wire }: { wire: Wire }) {
    const entries = useStore(wire.entries);
    const [text, setText] = useState('');
    const [kind, setKind] = useState<Kind | 'all'>('all');
    const shown = filtered(entries, text, kind);
    return (
        <>
            <div class="toolbar">
                <input type="search" aria-label="Filter the messages" placeholder="Filter" value={text} onInput={(event) => setText(event.currentTarget.value)} />
                <select aria-label="Kind of message" value={kind} onChange={(event) => setKind(event.currentTarget.value as Kind | 'all')}>
                    {KINDS.map(([name, label]) => (
                        <option value={name}>{label}</option>
                    ))}
                </select>
                <CopyButton label="Copy as transcript" text={() => transcript(shown)} />
                <button type="button" class="small" onClick={() => wire.clear()}>
                    Clear
                </button>
            </div>
            <ol class="wire" reversed>
                {shown.toReversed().map((entry) => (
                    <Entry key={entry.number} entry={entry} />
                ))}
            </ol>
        </>
    );
}

function Entry({ entry }: { entry: WireEntry }) {
    const { number, peer, direction, kind, method, message, elapsed, size, http } = entry;
    const [isOpen, setOpen] = useState(false);
    const subject = message.params?.name ?? message.params?.uri ?? message.error?.message ?? '';
    return (
        <li value={number}>
            <details onToggle={(event) => setOpen(event.currentTarget.open)}>
                <summary>
                    <span class={`arrow arrow-${direction}`}>{direction === 'client' ? '→' : '←'}</span>
                    <span class="hidden">{`${direction === 'client' ? 'to' : 'from'} the ${peer}`}</span>
                    {peer === 'view' && <span class="badge">view</span>}
                    <span class={`badge ${kind === 'error' ? 'bad' : ''}`}>{kind}</span> <span class="method">{method}</span> <span class="quiet subject">{subject}</span>
                    <span class="quiet numbers">
                        {elapsed !== undefined && `${duration(elapsed)}, `}
                        {bytes(size)}
                    </span>
                </summary>
                {isOpen && (
                    <div class="message-body">
                        <p class="toolbar">
                            <CopyButton label="Copy as JSON" text={() => pretty(message)} />
                            {http && <CopyButton label="Copy as curl" text={() => curl(entry)} />}
                        </p>
                        <pre tabIndex={0}>{pretty(message)}</pre>
                    </div>
                )}
            </details>
        </li>
    );
}
