// Calls of a view: the page lists them, asks before the first call that may change something, and offers a login when the server refuses one.

import assert from 'node:assert/strict';
import { checker } from '../accessible.mjs';

export default async function (context) {
    const { page, open, run, main, dialog, button, tab } = context;
    const check = checker(context);
    const panel = page.locator('.panel');
    const section = main.locator('section.view:visible');
    const frame = section.locator('iframe');
    const view = frame.contentFrame();
    const inView = async (expression) => (await (await frame.elementHandle()).contentFrame()).evaluate(expression);
    const call = (name, args) => inView(`request('tools/call', ${JSON.stringify({ name, arguments: args })})`);
    const calls = section.getByRole('list', { name: 'Calls of the view' }).getByRole('listitem');
    const newest = (pattern) => calls.first().filter({ hasText: pattern }).waitFor();
    const bodies = [];
    page.on('request', (request) => bodies.push(request.postData() ?? ''));
    const changes = () => bodies.filter((body) => body.includes('switch_lamp')).length;
    const begin = async () => {
        await run();
        await view.getByText(/Result: .*hall/).waitFor();
    };
    await open('/tool/lamp?args={"lamp":"hall"}');
    await begin();
    assert.equal(await calls.count(), 0);
    // A tool that only reads, and a resource: no question, but the page shows both.
    assert.ok((await call('lamp_state', { lamp: 'hall' })).result);
    await newest(/done\s*lamp_state\s*{"lamp":"hall"}/);
    assert.ok((await inView(`request('resources/read', { uri: 'fixture://notes' })`)).result);
    await newest(/done\s*fixture:\/\/notes/);
    // Calls that fail are in the list, too, with the reason.
    await call('forget_lamp', {});
    await newest(/failed\s*forget_lamp[^]*not for views/);
    assert.equal(await calls.count(), 3);
    // Before a tool that may change something, the page asks. The button that has the focus refuses.
    const [off, on] = [{ lamp: 'attic', on: false }, { lamp: 'attic', on: true }];
    const declined = call('switch_lamp', off);
    await dialog.getByRole('heading', { name: 'switch_lamp' }).waitFor();
    await dialog.getByText('"on": false').waitFor();
    await newest(/waits for you\s*switch_lamp/);
    await check('question about the calls of a view');
    await page.keyboard.press('Enter');
    assert.deepEqual((await declined).error, { code: -32000, message: 'The user has refused calls of this view that may change something' });
    await newest(/failed\s*switch_lamp/);
    await dialog.waitFor({ state: 'detached' });
    // The answer holds for this view. Tools that only read go on.
    assert.match((await call('switch_lamp', on)).error.message, /has refused/);
    assert.equal(await dialog.count(), 0);
    assert.equal(changes(), 0);
    assert.ok((await call('lamp_state', { lamp: 'hall' })).result);
    // The next view asks again, and once for several calls.
    await begin();
    const both = inView(`Promise.all([${[off, on].map((args) => `request('tools/call', ${JSON.stringify({ name: 'switch_lamp', arguments: args })})`)}])`);
    await dialog.waitFor();
    assert.equal(await dialog.getByText('more to answer').count(), 0);
    await button('Allow', dialog).click();
    assert.deepEqual((await both).map(({ result }) => result.content[0].text), ['attic is off', 'attic is on']);
    await dialog.waitFor({ state: 'detached' });
    assert.equal((await call('switch_lamp', on)).result.content[0].text, 'attic is on');
    assert.equal(await dialog.count(), 0);
    assert.equal(changes(), 3);
    assert.equal(await calls.filter({ hasText: /done\s*switch_lamp/ }).count(), 3);
    // The wire has each call that was sent twice: from the view, and to the server.
    await tab(/^Wire/).click();
    await panel.getByLabel('Filter the messages').fill('switch_lamp');
    await panel.getByLabel('Kind of message').selectOption('request');
    const [all, ofView] = [panel.locator('.wire > li'), panel.locator('.wire > li', { hasText: 'from the view' })];
    assert.deepEqual([await ofView.count(), await all.count()], [5, 5 + 3]);
    await tab(/^Wire/).click();
    // A view may make many calls: the page shows the newest.
    await inView(`Promise.all(Array.from({ length: 30 }, () => request('tools/call', { name: 'lamp_state', arguments: { lamp: 'hall' } })))`);
    await section.getByText('33 calls, the newest 20 of them:').waitFor();
    assert.equal(await calls.count(), 20);
    // The question goes away with its view.
    await begin();
    await inView(`void request('tools/call', ${JSON.stringify({ name: 'switch_lamp', arguments: on })})`);
    await dialog.waitFor();
    await page.evaluate(() => (location.hash = '#/tool/cities'));
    await dialog.waitFor({ state: 'detached' });
    await tab(/^Wire/).click();
    await panel.getByLabel('Filter the messages').fill('The view is about to go away');
    await panel.locator('.wire > li', { hasText: 'to the view' }).waitFor();
    await tab(/^Wire/).click();
    assert.equal(changes(), 3);
    // A token that the server refuses, first for the resource of the view: the user can log in again.
    const refuse = (text) => page.route('**/mcp', (route) => (route.request().postData()?.includes(text) ? route.fulfill({ status: 401, body: 'no' }) : route.continue()));
    await page.evaluate(() => (location.hash = '#/tool/lamp?args={"lamp":"hall"}'));
    await refuse('ui://fixture/lamp');
    await run();
    await section.getByText('The view cannot be shown: The server has refused the access token.').waitFor();
    await button('Log in again', section).waitFor();
    await page.unroute('**/mcp');
    // The same for a call: the view gets the reason.
    await begin();
    await refuse('lamp_state');
    assert.equal((await call('lamp_state', { lamp: 'hall '.repeat(100) })).error.message, 'The server has refused the access token.');
    await newest(/failed\s*lamp_state[^]*The server has refused the access token\./);
    await check('a call of a view that needs a login');
    // Long arguments are cut off, and do not widen the page.
    const width = (locator) => locator.evaluate((element) => element.getBoundingClientRect().width);
    assert.ok((await width(calls.first())) <= (await width(section)));
    await page.unroute('**/mcp');
    await button('Log in again', section).click();
    await main.locator('section.view').waitFor({ state: 'detached' });
    await page.locator('.status-ready').waitFor();
}
