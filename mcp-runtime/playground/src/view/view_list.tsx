// The frames of the views, below the result of the current call.

import { useLayoutEffect, useRef } from 'preact/hooks';
import { Boundary } from '../page/boundary.tsx';
import { ContentBlock } from '../result/content_block.tsx';
import { Structured } from '../result/structured.tsx';
import { useStore } from '../store.ts';
import type { Sources } from './sources.ts';
import type { View, ViewState, Views } from './views.ts';

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
            {state.problem && (
                <p class="notice notice-error" role="alert">
                    The view cannot be shown: {state.problem}
                </p>
            )}
            {state.sources && <SourceList sources={state.sources} />}
            {state.src && <Frame view={view} src={state.src} state={state} />}
            <Boundary about="Messages of the view">
                <Said state={state} />
            </Boundary>
        </section>
    );
}

function Frame({ view, src, state: { height, hasBorder } }: { view: View; src: string; state: ViewState }) {
    const frame = useRef<HTMLIFrameElement>(null);
    // The frame loads its document after this effect.
    useLayoutEffect(() => view.attach(frame.current!), [view]);
    return <iframe ref={frame} class={hasBorder ? 'bordered' : undefined} title={`View of ${view.tool.name}`} sandbox="allow-scripts" referrerpolicy="no-referrer" src={src} style={{ height: `${height}px` }} />;
}

const USES = { connectDomains: 'connects to', resourceDomains: 'loads from', frameDomains: 'shows frames of', baseUriDomains: 'resolves addresses at' } as const;

function SourceList({ sources: { allowed, refused } }: { sources: Sources }) {
    const used = Object.entries(allowed) as [keyof typeof USES, string[]][];
    return (
        <>
            <p class="quiet sources">{used.length ? `The view ${used.map(([name, list]) => `${USES[name]} ${list.join(', ')}`).join('; ')}.` : 'The view reaches no host.'}</p>
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
