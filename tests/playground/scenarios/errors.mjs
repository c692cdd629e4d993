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
