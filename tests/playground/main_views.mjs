// The main views of the page with the server `playground-fixture`. Each entry opens one view.

export function mainViews({ page, open, run, result, dialog, tab, main, button }) {
    return {
        welcome: () => open('/'),
        form: () => open('/tool/order?args={"customer":{"name":"Ada","email":"ada@example.com"},"articles":[{"code":7,"amount":3}],"delivery":{"by":"courier","street":"Aurakatu 1"},"extras":["gift"],"hour":12}'),
        problems: async () => {
            await open('/tool/order?args={"customer":{"name":"Ada","email":"ada"},"articles":[{"code":7,"amount":12}],"delivery":{"by":"pickup"},"hour":12}');
            await run(null);
            await main.getByText('do not fit the schema').waitFor();
        },
        table: async () => {
            await open('/tool/cities');
            await run();
        },
        markdown: async () => {
            await open('/tool/report');
            await run();
        },
        running: async () => {
            await open('/tool/wait_for_cancel');
            await run('running');
            await result.getByText('half of it').waitFor();
        },
        elsewhere: async () => {
            await open('/tool/wait_for_cancel');
            await run('running');
            await page.evaluate(() => (location.hash = '#/tool/cities'));
            await main.getByText('is still running').waitFor();
        },
        view: async () => {
            await open('/tool/lamp?args={"lamp":"hall"}');
            await run();
            const frame = main.locator('iframe').contentFrame();
            await frame.getByText('Result: {').waitFor();
            await frame.getByRole('button', { name: 'Call a tool' }).click();
            await main.getByRole('list', { name: 'Calls of the view' }).getByText('done').waitFor();
        },
        question_of_a_view: async () => {
            await open('/tool/lamp?args={"lamp":"hall"}');
            await run();
            await main.locator('iframe').contentFrame().getByText('Result: {').waitFor();
            const view = await (await main.locator('iframe').elementHandle()).contentFrame();
            await view.evaluate(`void request('tools/call', { name: 'switch_lamp', arguments: { lamp: 'hall', on: true } })`);
            await dialog.waitFor();
        },
        wire: async () => {
            await open('/tool/write_log');
            await run();
            await tab(/^Wire/).click();
            await page.locator('.wire summary').first().click();
        },
        log: async () => {
            await open('/tool/write_log');
            await run();
            await tab(/^Log/).click();
        },
        json: async () => {
            await open('/tool/order');
            await button('JSON').click();
        },
        completion: async () => {
            await open('/prompt/walk');
            await main.getByRole('combobox', { name: 'city' }).fill('T');
            await main.getByRole('option').first().waitFor();
            await page.keyboard.press('ArrowDown');
        },
        template: async () => {
            await open('/template/fixture%3A%2F%2F%7Bcity%7D%2F%7Bstreet%7D?args={"city":"Turku","street":"Aurakatu"}');
            await run();
        },
        mismatch: async () => {
            await open('/tool/broken_promise');
            await run();
            await result.getByText('does not fit').click();
        },
        task: async () => {
            await open('/tool/wait_for_cancellations?args={"count":99}');
            await main.getByRole('checkbox', { name: 'Run as a task' }).check();
            await run('running');
            await result.getByText('working').waitFor();
            await tab(/^Tasks/).click();
        },
        failed: async () => {
            await open('/resource/fixture%3A%2F%2Fnowhere');
            await run('failed');
        },
        login: async () => {
            await page.route('**/mcp', (route) => route.fulfill({ status: 401 }));
            await open('/', 'login');
            await page.unroute('**/mcp');
        },
        missing: () => open('/tool/no_such_tool'),
        form_of_a_question: async () => {
            await open('/tool/confirm_amount');
            await run('running');
            await dialog.waitFor();
        },
        unreachable: async () => {
            await page.route('**/mcp', (route) => route.abort());
            await open('/', 'failed');
            await page.unroute('**/mcp');
        },
        history: async () => {
            await open('/');
            await tab(/^History/).click();
        },
        question: async () => {
            await open('/tool/pay');
            await run('running');
            await dialog.waitFor();
        },
    };
}
