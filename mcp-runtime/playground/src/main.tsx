import { render } from 'preact';
import { installExact } from './exact.ts';
import { App } from './page/app.tsx';

installExact();
render(<App />, document.getElementById('app')!);
