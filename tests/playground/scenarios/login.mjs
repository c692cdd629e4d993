// A login at the authorization server of the server, before anything of the server is shown.

import assert from 'node:assert/strict';

export default async function ({ page, open, run, result, main, button, field, tab }) {
    await open('/tool/add_note?args={"text":"milk"}', 'login');
    assert.equal(await page.locator('.item').count(), 0);
    // Without items, there is nothing to search.
    assert.equal(await page.getByRole('searchbox').count(), 0);
    assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'MCP server');
    // A token that the server refuses does not prevent a login.
    await main.getByLabel('access token').fill('wrong');
    await button('Connect with the token').click();
    await main.getByText('The server has refused the access token.').waitFor();
    const enter = async () => {
        await page.waitForURL((url) => !url.pathname.endsWith('/playground'));
        const password = page.locator('input[type=password]');
        await password.waitFor();
        assert.match(await page.content(), /mcp-runtime playground/);
        await page.locator('input[name=name]').fill('ada');
        await password.fill('correct horse');
        await page.getByRole('button', { name: 'Log in' }).click();
    };
    // A user who denies the access comes back to the login, with the reason.
    await button('Log in').click();
    await enter();
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.locator('.status-login').waitFor();
    await main.getByText('The login has failed: the user has denied access').waitFor();
    // A user who has allowed less than the call needs sees what is missing, and logs in again from there.
    await button('Log in').click();
    await enter();
    await page.getByRole('checkbox', { name: 'Write' }).uncheck();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.locator('.status-ready').waitFor();
    assert.equal(await field('text').inputValue(), 'milk');
    await run('failed');
    await result.getByText('The call needs a login with notes:write and notes:read. This login allows less.').waitFor();
    await button('Log in again').click();
    await enter();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.locator('.status-ready').waitFor();
    await page.getByRole('searchbox').waitFor();
    // The protocol assumes that a tool destroys something, unless the author says otherwise.
    await page.locator('.item', { hasText: 'delete_note' }).getByText('destructive').waitFor();
    for (const calm of ['add_note', 'list_notes']) assert.equal(await page.locator('.item', { hasText: calm }).getByText('destructive').count(), 0);
    // The form has kept its text, and the address no longer has the authorization code.
    assert.equal(await field('text').inputValue(), 'milk');
    await page.waitForURL((url) => !url.search);
    await run();
    // The token is in this tab only, and a reload keeps it.
    await page.reload();
    await page.locator('.status-ready').waitFor();
    assert.ok(!JSON.stringify(await page.evaluate(() => ({ ...localStorage }))).includes('token'));
    await run();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.locator('.status-login').waitFor();
    // The next user does not see the messages of this one.
    await tab(/^Wire/).click();
    await page.locator('.wire > li').first().waitFor();
    assert.ok(!(await page.locator('.wire').innerText()).includes('tools/'));
    assert.equal(await page.locator('.item').count(), 0);
    // The history contains arguments, so only users who have logged in see it.
    await tab(/^History/).click();
    await page.getByText('No calls yet.').waitFor();
}
