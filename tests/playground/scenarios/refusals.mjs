// Responses with an HTTP status that refuses the request, and errors whose text looks like one.

import assert from 'node:assert/strict';

export default async function ({ page, open, run, result }) {
    let answer;
    await page.route('**/mcp', (route) => {
        const { id, method } = route.request().postDataJSON() ?? {};
        return method === 'tools/call' ? route.fulfill(answer(id)) : route.continue();
    });
    for (const revision of ['2026-07-28', '2025-11-25']) {
        await open(`/tool/cities?revision=${revision}`);
        const fails = async (status, contentType, body, advice) => {
            answer = (id) => ({ status, contentType, body: typeof body === 'string' ? body : JSON.stringify({ jsonrpc: '2.0', id, ...body }) });
            await run(null);
            await result.getByText(advice).waitFor();
            await page.locator('.state-failed').waitFor();
        };
        await fails(403, 'text/plain', 'Ada may not see cities', 'Ask for the permission that the message names.');
        await result.getByText('HTTP 403', { exact: true }).waitFor();
        // The wire has no message of this response.
        await fails(502, 'text/html', '<h1>Bad gateway</h1>', 'has refused the HTTP request');
        await result.getByText('HTTP 502', { exact: true }).waitFor();
        assert.equal(await result.getByText('whole answer').count(), 0);
        // A number in the text is no status.
        await fails(200, 'application/json', { error: { code: -32000, message: 'The order 4013 is unknown' } }, 'The tab “Wire” shows the whole answer.');
        await fails(401, 'text/plain', 'Who are you?', 'Log in again, and allow what the call needs.');
    }
}
