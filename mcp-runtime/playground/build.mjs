// Bundles the playground into one HTML file, and writes its Content-Security-Policy beside it.
//
//     npm ci && node build.mjs [OUT]
//
// OUT is the folder of the two files, by default `dist`. The same sources and packages always give the same bytes.

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

const here = import.meta.dirname;
const out = process.argv[2] ?? join(here, 'dist');

const bundle = (entry, options) =>
    buildSync({
        absWorkingDir: here,
        bundle: true,
        charset: 'utf8',
        entryPoints: [entry],
        legalComments: 'none',
        logLevel: 'warning',
        minify: true,
        target: 'es2023',
        write: false,
        ...options,
    }).outputFiles[0].text.trim();

const script = bundle('src/main.tsx', {
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    platform: 'browser',
    tsconfigRaw: {},
});
const style = bundle('src/style.css', {});

// The texts of both elements are replaced by functions, because `$` has a meaning in a replacement text.
const page = readFileSync(join(here, 'src/page.html'), 'utf8')
    .replace('/* style */', () => style)
    .replace('/* script */', () => script);
const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const policy = [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    'img-src data: blob:',
    'media-src data: blob:',
    // The page itself narrows this to the document of views: a policy in a header cannot name a path of an origin that the server does not know.
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
].join('; ');

mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'playground.html'), page);
writeFileSync(join(out, 'policy.txt'), `${policy}\n`);
