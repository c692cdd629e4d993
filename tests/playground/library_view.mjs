// Bundles a view that uses the official library for views into one HTML file.
//
//     node library_view.mjs FOLDER OUT
//
// FOLDER contains `node_modules`, and OUT is the file.

import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [folder, out] = process.argv.slice(2);
const { buildSync } = createRequire(join(folder, 'x.js'))('esbuild');
const view = `
import { App } from '@modelcontextprotocol/ext-apps/app-with-deps';
const show = (id, value) => (document.getElementById(id).textContent = JSON.stringify(value));
const app = new App({ name: 'library', version: '1' }, {});
app.ontoolinput = (params) => show('input', params.arguments);
app.ontoolresult = (result) => show('result', result.structuredContent);
app.onteardown = async () => {
    await app.sendLog({ level: 'notice', data: 'the library says goodbye' });
    return {};
};
await app.connect();
show('context', app.getHostContext().displayMode);
const button = (id, action) => document.getElementById(id).addEventListener('click', async () => show('answer', await action().catch((error) => error.message)));
button('call', () => app.callServerTool({ name: 'lamp_state', arguments: { lamp: 'attic' } }));
button('read', () => app.readServerResource({ uri: 'fixture://notes' }));
button('message', () => app.sendMessage({ role: 'user', content: [{ type: 'text', text: 'From the library.' }] }));
button('model', () => app.updateModelContext({ content: [{ type: 'text', text: 'For the model.' }] }));
button('link', () => app.openLink({ url: 'https://example.com/' }));
button('mode', () => app.requestDisplayMode({ mode: 'fullscreen' }));
`;
const [{ text }] = buildSync({ stdin: { contents: view, resolveDir: folder }, bundle: true, format: 'esm', minify: true, charset: 'utf8', target: 'es2023', write: false }).outputFiles;
const buttons = ['call', 'read', 'message', 'model', 'link', 'mode'].map((id) => `<button id="${id}">${id}</button>`).join(' ');
const outputs = ['input', 'result', 'answer', 'context'].map((id) => `<p>${id}: <output id="${id}">none</output></p>`).join('\n');
writeFileSync(out, `<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>Library</title></head>\n<body>\n${outputs}\n<p>${buttons}</p>\n<script type="module">${text}</script>\n</body>\n</html>\n`);
