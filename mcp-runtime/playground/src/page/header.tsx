// The top of the page: the server, the revision, the login and the colours.

import { useEffect, useState } from 'preact/hooks';
import type { Connection } from '../connection.ts';
import { REVISIONS, type Choice } from '../revision.ts';
import { read, write } from '../storage.ts';
import { useStore } from '../store.ts';

type Props = { connection: Connection; revision: Choice; onRevision: (choice: Choice) => void; onLogOut: () => void };

const STATUSES = { connecting: 'connecting', ready: 'connected', login: 'login needed', failed: 'not connected' };

export function Header({ connection, revision, onRevision, onLogOut }: Props) {
    const { server, status: begun, lost, revision: negotiated } = useStore(connection.offer);
    const status = lost && begun === 'ready' ? 'failed' : begun;
    const name = server?.title ?? server?.name ?? 'MCP server';
    useEffect(() => {
        document.title = `${name} · Playground`;
    }, [name]);
    return (
        <header class="top">
            <div class="server">
                <h1>{name}</h1>
                {server?.version && <span class="quiet version">{server.version}</span>}
                <span class={`status status-${status}`} role="status" title={negotiated && `Revision ${negotiated}`}>
                    {status === 'failed' && lost ? lost : STATUSES[status]}
                </span>
            </div>
            <div class="settings">
                {begun === 'ready' && (
                    <button type="button" title="Connects again, for example after the server has restarted" onClick={() => onRevision(revision)}>
                        Reconnect
                    </button>
                )}
                <label class="inline">
                    <span class="quiet">Protocol revision</span>
                    <select aria-label="Protocol revision" value={revision} onChange={(event) => onRevision(event.currentTarget.value as Choice)}>
                        <option value="auto">{revision === 'auto' && negotiated ? `newest (${negotiated})` : 'newest'}</option>
                        {REVISIONS.map((known) => (
                            <option value={known}>{known}</option>
                        ))}
                    </select>
                </label>
                {connection.login.isLoggedIn && (
                    <button type="button" onClick={onLogOut}>
                        Log out
                    </button>
                )}
                <Theme />
            </div>
        </header>
    );
}

const THEMES = { system: 'System', light: 'Light', dark: 'Dark' };
type ThemeName = keyof typeof THEMES;
const KEY = 'mcp-playground theme';

function Theme() {
    const [theme, setTheme] = useState<ThemeName>(() => (read('localStorage', KEY) as ThemeName) ?? 'system');
    useEffect(() => {
        write('localStorage', KEY, theme);
        document.documentElement.dataset.theme = theme;
    }, [theme]);
    return (
        <label class="inline">
            <span class="quiet">Colours</span>
            <select aria-label="Colours" value={theme} onChange={(event) => setTheme(event.currentTarget.value as ThemeName)}>
                {Object.entries(THEMES).map(([name, label]) => (
                    <option value={name}>{label}</option>
                ))}
            </select>
        </label>
    );
}
