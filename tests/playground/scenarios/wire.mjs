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
    // In both eras, each request of a session has its response, also the first.
    for (const [revision, first] of [['2026-07-28', 'server/discover'], ['auto', 'server/discover'], ['2025-11-25', 'initialize']]) {
        await open(`/tool/test_tool_with_progress?revision=${revision}`);
        await run();
        await tab(/^Wire/).click();
        await button('Copy as transcript', panel).click();
        await panel.getByText('copied').waitFor();
        const session = (await clipboard()).trimEnd().split('\n').map((line) => JSON.parse(line));
        assert.equal(session[0].client.method, first);
        for (const [one, other] of [['client', 'server'], ['server', 'client']]) {
            // The page listens until the connection ends.
            const asked = session.filter((line) => line[one]?.method && line[one].id !== undefined && line[one].method !== 'subscriptions/listen');
            for (const { [one]: request } of asked) {
                const answers = session.filter(({ [other]: answer }) => answer && answer.method === undefined && answer.id === request.id);
                assert.equal(answers.length, 1, `${request.method} in ${revision}`);
            }
        }
        const { server: answer } = session.find(({ server }) => server?.id === session[0].client.id && server.result);
        assert.ok(answer.result.capabilities.tools, `${first} names the capabilities`);
    }
}
