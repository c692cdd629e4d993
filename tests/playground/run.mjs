// Runs a scenario in Chromium.
//
//     node run.mjs SCENARIO PAGE FOLDER
//
// SCENARIO is the name of a file in `scenarios`, PAGE is the URL of the playground, and FOLDER contains `node_modules`. A scenario is a
// function that takes the context below. A failed assertion, an error of the page and a message of its console end the process with 1.

import { createRequire } from 'node:module';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const [scenario, url, folder] = process.argv.slice(2);
const { chromium } = createRequire(join(folder, 'x.js'))('playwright-core');
const ARGUMENTS = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
];

const program = process.env.PATH.split(delimiter).map((part) => join(part, 'chromium')).find((path) => existsSync(path));
const profile = mkdtempSync(join(tmpdir(), 'playground-'));
const browser = await chromium.launchPersistentContext(profile, {
    executablePath: program,
    args: ARGUMENTS,
    // Chromium writes into the home of the user. It puts a socket into the temporary folder, and the path of a socket has at most 107 bytes.
    env: { ...process.env, HOME: profile, XDG_CONFIG_HOME: profile, XDG_CACHE_HOME: profile, TMPDIR: '/tmp' },
    headless: true,
    viewport: { width: 1280, height: 860 },
    permissions: ['clipboard-read', 'clipboard-write'],
});
browser.setDefaultTimeout(30_000);
const complaints = [];
const requests = [];
const page = browser.pages()[0] ?? (await browser.newPage());
page.on('pageerror', (error) => complaints.push(`error of the page: ${error.message}`));
page.on('console', (message) => {
    // The browser itself reports responses with an error status, which scenarios expect.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) complaints.push(`console: ${message.text()}`);
});
page.on('request', (request) => requests.push(request.url()));

// Opens a place of the page, such as `/tool/greet`, and waits for the connection.
async function open(place = '/', status = 'ready') {
    await page.goto('about:blank');
    await page.goto(`${url}#${place}`);
    await page.locator(`.status-${status}`).waitFor();
}

// Presses the button of the form, and waits until the call has ended in this state.
async function run(state = 'done') {
    await page.locator('article button[type=submit]').click();
    if (state) await page.locator(`.state-${state}`).waitFor();
}

const context = {
    browser,
    page,
    url,
    folder,
    requests,
    complaints,
    open,
    run,
    main: page.locator('main'),
    result: page.locator('.result'),
    dialog: page.locator('dialog[open]'),
    field: (name) => page.locator('main').getByRole('textbox', { name }),
    button: (name, within = page.locator('main')) => within.getByRole('button', { name, exact: true }),
    tab: (name) => page.locator('.tabs').getByRole('button', { name }),
};

try {
    const { default: steps } = await import(`./scenarios/${scenario}.mjs`);
    await steps(context);
    if (complaints.length) throw new Error(complaints.join('\n'));
} catch (error) {
    console.error(await page.locator('main').innerText({ timeout: 1000 }).catch(() => 'the page has no text'));
    // The error and the texts of the views come last, because a test shows only the end of this output.
    console.error(error.stack ?? error);
    for (const frame of page.frames().slice(1)) {
        const text = await frame.locator('body').innerText({ timeout: 1000 }).catch((unread) => unread.message);
        console.error(`view: ${JSON.stringify(text)}`);
    }
    process.exitCode = 1;
} finally {
    await browser.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
}
