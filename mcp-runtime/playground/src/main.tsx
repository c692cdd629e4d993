import { render } from 'preact';
import { App } from './page/app.tsx';

render(<App />, document.getElementById('app')!);
