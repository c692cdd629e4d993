// Errors of tools, of the protocol and of the connection, each with what to do.

import assert from 'node:assert/strict';

export default async function ({ page, open, run, result, main, button, complaints }) {
    await open('/tool/test_error_handling');
    await run('failed');
    await result.getByText('This tool intentionally returns an error for testing').waitFor();
    await result.getByText('The tool reports an error.').waitFor();
    await open('/tool/failing_job');
    await run('failed');
    await result.getByText('Check “Run as a task”').waitFor();
    await result.getByText('-32021').waitFor();
    // The user may send what the schema forbids, to see what the server says.
    await open('/tool/greet');
    await run(null);
    await main.getByText('One value does not fit the schema.').waitFor();
    await button('Run anyway').click();
    await page.locator('.state-failed').waitFor();
    assert.match(await result.innerText(), /name/);
    // A result that the protocol does not allow: the page names the place in it. Long words of an error do not widen a narrow screen.
    let answer = { result: { resultType: 'complete', content: [{ type: 'text', text: 'x' }, { type: 'strange' }] } };
    await page.route('**/mcp', (route) => {
        const { id, method } = route.request().postDataJSON() ?? {};
        return method === 'tools/call' ? route.fulfill({ json: { jsonrpc: '2.0', id, ...answer } }) : route.continue();
    });
    await open('/tool/test_simple_text');
    await run('failed');
    await result.getByText('The protocol does not allow this result: content/1 (Invalid input)', { exact: true }).waitFor();
    answer = { error: { code: -32603, message: `The file ${'/folder'.repeat(30)} is missing`, data: { cause: 'x'.repeat(300) } } };
    await page.setViewportSize({ width: 360, height: 720 });
    await run(null);
    await result.getByText('The handler failed.').waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.unroute('**/mcp');
    await open('/tool/no_such_tool');
    // The notice is a sentence, and not one line for each of its parts.
    const notice = main.getByText('The server does not offer no_such_tool, or not to this user.');
    assert.ok((await notice.boundingBox()).height < 40, 'the notice has one line');
    // The server cannot be reached: first during a call, and then when the page connects.
    await open('/tool/test_simple_text');
    await page.route('**/mcp', (route) => route.abort());
    await run('failed');
    await result.getByText('The server cannot be reached').waitFor();
    await result.getByText('Choose “Reconnect”').waitFor();
    // The top of the page shows the lost connection, too, until the server answers again.
    await page.locator('.status', { hasText: 'not connected' }).waitFor();
    await page.unroute('**/mcp');
    await run();
    await page.locator('.status', { hasText: /^connected/ }).waitFor();
    await page.route('**/mcp', (route) => route.abort());
    await open('/', 'failed');
    await main.getByText('The server cannot be reached').waitFor();
    await page.unroute('**/mcp');
    await button('Connect again').click();
    await page.locator('.status-ready').waitFor();
}
