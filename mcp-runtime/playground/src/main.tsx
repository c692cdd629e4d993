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

narrowFrames();
installExact();
render(<App />, document.getElementById('app')!);
