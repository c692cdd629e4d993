// The messages beside the form: all of them, a filter, and the copies.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';

export default async function ({ page, open, run, result, tab, button }) {
    await open('/tool/test_tool_with_progress');
    await run();
    await tab(/^Wire/).click();
    const panel = page.locator('.panel');
    const entries = panel.locator('.wire > li');
    assert.match(await entries.first().innerText(), /response\s+tools\/call/);
    await panel.getByLabel('Kind of message').selectOption('notifications');
    await entries.nth(2).waitFor();
    assert.ok((await entries.allInnerTexts()).every((text) => text.includes('notification')));
    await panel.getByLabel('Kind of message').selectOption('all messages');
    await panel.getByLabel('Filter the messages').fill('tools/call');
    await button('Copy as transcript', panel).click();
    await panel.getByText('copied').waitFor();
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
    const lines = (await clipboard()).trimEnd().split('\n').map((line) => JSON.parse(line));
    assert.equal(lines[0].client.method, 'tools/call');
    assert.equal(lines.at(-1).server.result.content[0].text, 'The work is done.');
    const request = entries.filter({ hasText: 'request' }).first();
    await request.locator('summary').click();
    await button('Copy as curl', request).click();
    await request.getByText('copied').waitFor();
    // The copied line is a command that works.
    const answer = execFileSync('bash', ['-c', `${await clipboard()} --silent`], { encoding: 'utf8' });
    assert.match(answer, /The work is done\./);
}
