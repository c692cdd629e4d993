import { render } from 'preact';
import { VIEW } from './endpoint.ts';
import { installExact } from './exact.ts';
import { App } from './page/app.tsx';
import { framePolicy } from './view/sources.ts';

// The header of the page permits frames of its origin, because the server does not know its own address behind a proxy. The page permits less.
function narrowFrames(): void {
    const policy = document.createElement('meta');
    policy.httpEquiv = 'Content-Security-Policy';
    policy.content = framePolicy(VIEW) ?? "frame-src 'self'";
    document.head.append(policy);
}

// A key that is held would press the button of a question, and of the call after it, before the user has read them. It may still begin lines of a text.
function ignoreHeldEnter(): void {
    const onKeyDown = (event: KeyboardEvent) => {
        const isText = event.target instanceof HTMLTextAreaElement && !event.ctrlKey && !event.metaKey;
        if (event.key !== 'Enter' || !event.repeat || isText) return;
        event.preventDefault();
        event.stopPropagation();
    };
    addEventListener('keydown', onKeyDown, true);
}

narrowFrames();
ignoreHeldEnter();
installExact();
render(<App />, document.getElementById('app')!);
