// The frames of the views, below the result of the current call.

import { useLayoutEffect, useRef } from 'preact/hooks';
import { Boundary } from '../page/boundary.tsx';
import { ContentBlock } from '../result/content_block.tsx';
import { LoginButton } from '../result/failure_view.tsx';
import { Structured } from '../result/structured.tsx';
import { useStore } from '../store.ts';
import { duration } from '../words.ts';
import type { Sources } from './sources.ts';
import type { ViewCall, ViewCalls } from './view_calls.ts';
import { BEGINNING_TIME, type View, type ViewState, type Views } from './views.ts';

// `tool` is the tool that the page shows. The view of a call that runs elsewhere stays, and is hidden.
export function ViewList({ views, tool }: { views: Views; tool?: string }) {
    const open = useStore(views.open);
    return (
        <>
            {open.map((view) => (
                <ViewSection key={view.number} view={view} isShown={view.tool.name === tool} />
            ))}
        </>
    );
}

function ViewSection({ view, isShown }: { view: View; isShown: boolean }) {
    const { uri, tool } = view;
    const state = useStore(view.state);
    return (
        <section class="view" aria-label={`View of ${tool.name}`} hidden={!isShown || state.isLeaving}>
            <header class="view-head">
                <h3>View</h3>
                <code class="quiet">{uri}</code>
            </header>
            {state.failure && (
                <div class="notice notice-error" role="alert">
                    <p>The view cannot be shown: {state.failure.message}</p>
                    {state.failure.needsLogin && <LoginButton />}
                </div>
            )}
            {state.isSilent && <Silent />}
            {state.sources && <SourceList sources={state.sources} />}
            {state.src && <Frame view={view} src={state.src} state={state} />}
            <Boundary about="Messages of the view">
                <Said state={state} />
            </Boundary>
            <Calls calls={view.calls} />
        </section>
    );
}

function Frame({ view, src, state: { height, hasBorder } }: { view: View; src: string; state: ViewState }) {
    const frame = useRef<HTMLIFrameElement>(null);
    // The frame loads its document after this effect.
    useLayoutEffect(() => view.attach(frame.current!), [view]);
    return <iframe ref={frame} class={hasBorder ? 'bordered' : undefined} title={`View of ${view.tool.name}`} sandbox="allow-scripts" referrerpolicy="no-referrer" src={src} style={{ height: `${height}px` }} />;
}

function Silent() {
    return (
        <div class="notice notice-error" role="alert">
            <p>
                The view has not sent “ui/initialize” within {BEGINNING_TIME / 1000} seconds, so it gets neither the input nor the result.
            </p>
            <p>
                Look at the console of the browser: it shows errors of the script, and what the policy has refused. A script of another host needs this host in <code>_meta.ui.csp.resourceDomains</code> of the resource.
            </p>
        </div>
    );
}

const STATES = { asking: 'waits for you', running: 'running', done: 'done', failed: 'failed', cancelled: 'cancelled' };
const TONES = { asking: 'warn', running: '', done: 'good', failed: 'bad', cancelled: '' };

function Calls({ calls }: { calls: ViewCalls }) {
    const { list, count } = useStore(calls.state);
    if (!count) return null;
    return (
        <div class="calls">
            <h4>Calls of the view</h4>
            {count > list.length && (
                <p class="quiet">
                    {count} calls, the newest {list.length} of them:
                </p>
            )}
            <ol aria-label="Calls of the view">
                {list.map((call) => (
                    <Call key={call.number} call={call} />
                ))}
            </ol>
        </div>
    );
}

function Call({ call: { kind, name, args, state, ms, failure } }: { call: ViewCall }) {
    return (
        <li>
            <p class="call">
                <span class={`badge ${TONES[state]}`}>{STATES[state]}</span> <span class="method">{name}</span> {kind === 'tool' && <span class="quiet subject">{JSON.stringify(args)}</span>}
                {ms !== undefined && <span class="quiet numbers">{duration(ms)}</span>}
            </p>
            {failure && <p class="problem">{failure.message}</p>}
            {failure?.needsLogin && <LoginButton />}
        </li>
    );
}

const USES = { connectDomains: 'connects to', resourceDomains: 'loads from', frameDomains: 'shows frames of', baseUriDomains: 'resolves addresses at' } as const;

function SourceList({ sources: { allowed, refused } }: { sources: Sources }) {
    const used = Object.entries(allowed) as [keyof typeof USES, string[]][];
    return (
        <>
            <p class="quiet sources">{used.length ? `The view ${used.map(([name, list]) => `${USES[name]} ${list.join(', ')}`).join('; ')}.` : 'The policy of the view names no host. WebRTC and the preparation of connections are not subject to a policy.'}</p>
            {refused.length > 0 && (
                <p class="notice">
                    The view does without these sources, because a source is a host such as <code>https://cdn.example.com</code>:{' '}
                    {refused.map((source) => (
                        <code class="refused">{source}</code>
                    ))}
                </p>
            )}
        </>
    );
}

function Said({ state: { messages, modelContext } }: { state: ViewState }) {
    return (
        <div class="said" role="log" aria-label="Messages of the view">
            {messages.map(({ role, content }) => (
                <div class="message">
                    <h4>Message to the conversation, as {role}</h4>
                    {content.map((block) => (
                        <ContentBlock block={block} />
                    ))}
                </div>
            ))}
            {modelContext && (
                <div class="message">
                    <h4>Context for the model</h4>
                    {modelContext.content.map((block) => (
                        <ContentBlock block={block} />
                    ))}
                    {modelContext.structuredContent !== undefined && <Structured value={modelContext.structuredContent as any} />}
                </div>
            )}
        </div>
    );
}
