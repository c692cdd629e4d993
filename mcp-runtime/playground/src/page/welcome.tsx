// The page before an item is chosen: the instructions of the server, the login, or why there is no connection.

import { useState } from 'preact/hooks';
import type { Connection } from '../connection.ts';
import { ENDPOINT } from '../endpoint.ts';
import { Link, Markdown } from '../markdown.tsx';
import { useStore } from '../store.ts';

type Props = { connection: Connection; missing?: string; count: number; onConnect: () => void; onLogin: () => void; onToken: (token: string) => void };

export function Welcome({ connection, missing, count, onConnect, onLogin, onToken }: Props) {
    const { status, problem, server, instructions } = useStore(connection.offer);
    if (status === 'connecting') return <p class="quiet welcome">Connecting to {ENDPOINT.href} …</p>;
    if (status === 'login') {
        return (
            <div class="welcome">
                <h2>This server needs a login</h2>
                {problem && (
                    <p class="notice notice-error" role="alert">
                        {problem}
                    </p>
                )}
                <p>
                    The page of the server’s authorization server opens in this tab, and leads back to the playground. The access token stays in this tab, and is gone when the tab is closed.
                </p>
                <button type="button" class="primary" onClick={onLogin}>
                    Log in
                </button>
                <TokenForm onToken={onToken} />
            </div>
        );
    }
    if (status === 'failed') {
        return (
            <div class="welcome">
                <h2>No connection</h2>
                <p class="notice notice-error" role="alert">
                    {problem}
                </p>
                <p>
                    The endpoint is <code>{ENDPOINT.href}</code>. The terminal of the server shows errors. Another revision can be chosen at the top.
                </p>
                <button type="button" class="primary" onClick={onConnect}>
                    Connect again
                </button>
            </div>
        );
    }
    return (
        <div class="welcome">
            {missing && (
                <p class="notice notice-error">
                    <span>
                        The server does not offer <code>{missing}</code>, or not to this user.
                    </span>
                </p>
            )}
            <h2>Choose an item{count ? '' : ' as soon as there is one'}</h2>
            {server?.description && <p>{server.description}</p>}
            {server?.websiteUrl && (
                <p>
                    <Link url={server.websiteUrl}>{server.websiteUrl}</Link>
                </p>
            )}
            {instructions ? (
                <>
                    <h3>Instructions of the server</h3>
                    <Markdown text={instructions} />
                </>
            ) : (
                <p class="quiet">The server has no instructions for models.</p>
            )}
            <h3>Keys</h3>
            <ul class="keys">
                <li>
                    <kbd>/</kbd> searches, <kbd>Enter</kbd> opens the first item, and the arrow keys walk through the items
                </li>
                <li>
                    <kbd>Ctrl</kbd> <kbd>Enter</kbd> runs the chosen item
                </li>
                <li>
                    <kbd>Esc</kbd> closes suggestions, or cancels a running call
                </li>
            </ul>
            <p class="quiet">The address of this page contains the item and the values of its form, apart from passwords, so a link to it shares a call.</p>
        </div>
    );
}

// For servers that check tokens of their own, or whose authorization server this page does not know.
function TokenForm({ onToken }: { onToken: (token: string) => void }) {
    const [token, setToken] = useState('');
    const send = (event: Event) => {
        event.preventDefault();
        if (token.trim()) onToken(token.trim());
    };
    return (
        <form onSubmit={send}>
            <div class="field">
                <label for="token">Or enter an access token</label>
                <input id="token" type="password" autocomplete="off" value={token} onInput={(event) => setToken(event.currentTarget.value)} />
            </div>
            <div class="actions">
                <button type="submit">Connect with the token</button>
            </div>
        </form>
    );
}
