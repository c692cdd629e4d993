// Forms of schemas that servers in other languages send. The scenario replaces the tools of the server, and reads the arguments of each call.

import assert from 'node:assert/strict';

const TAGGED = {
    oneOf: [
        { type: 'object', properties: { by: { const: 'courier' }, street: { type: 'string' } }, required: ['by', 'street'] },
        { type: 'object', properties: { by: { const: 'pickup' }, shop: { type: 'string' } }, required: ['by', 'shop'] },
    ],
};

const SCHEMAS = {
    numbers: { properties: { x: { type: 'number' }, small: { type: 'integer', minimum: -20, maximum: 20 } } },
    lists: { properties: { items: { type: 'array', items: TAGGED }, any: { type: 'array', items: {} }, words: { type: 'array', items: { type: 'string' } } } },
    times: { properties: { at: { type: 'string', format: 'time' } } },
    names: { properties: { 'first name': { type: 'string', minLength: 3 }, höhe: { type: 'integer', minimum: 1 }, 名前: { type: 'string' }, 年齢: { type: 'string' } } },
    strict: { properties: { now: { type: 'string' }, some: {} }, additionalProperties: false, minProperties: 2, allOf: [{ properties: { some: { properties: { deep: { type: 'string' } } } } }] },
    pattern: { properties: { word: { type: 'string', pattern: '(?i)abc' } } },
    nulls: { properties: { text: { type: 'string', default: null } } },
    unions: { properties: { v: { anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] }, o: { type: ['object', 'null'], properties: { kind: { const: 'a' }, n: { type: 'integer', default: 5 } }, required: ['kind'] } } },
    texts: { properties: { text: { type: 'string' }, other: { type: 'string' } }, required: ['text'] },
    map: { additionalProperties: { type: 'string' } },
    either: { anyOf: [{ properties: { a: { type: 'string' } } }, { properties: { b: { type: 'string' } }, required: ['b'] }] },
    nothing: { additionalProperties: false },
    steps: { properties: { steps: { type: 'array', items: { enum: ['up', 'down', 'left'] } } } },
    changing: { properties: { mode: { type: 'string' }, hour: { type: 'integer', default: 12 } } },
    confirm_amount: { properties: { amount: { type: 'string', description: 'Of the form' }, proposal: { type: 'integer', default: 7 } } },
};

// Replaces the tools of the server, and answers all calls of those that it does not have.
async function replaceTools({ page }, calls) {
    await page.route('**/mcp', async (route) => {
        const { id, method, params } = route.request().postDataJSON() ?? {};
        if (method === 'tools/call' && params.name !== 'confirm_amount') {
            calls.push(params.arguments);
            return route.fulfill({ json: { jsonrpc: '2.0', id, result: { resultType: 'complete', content: [{ type: 'text', text: 'called' }] } } });
        }
        if (method !== 'tools/list') return route.continue();
        const response = await route.fetch();
        const answer = JSON.parse((await response.text()).replace(/^[^{]*/, '').trim());
        answer.result.tools = Object.entries(SCHEMAS).map(([name, schema]) => ({ name, description: 'שלום עולם', inputSchema: { type: 'object', ...schema } }));
        return route.fulfill({ json: answer });
    });
}

export default async function (context) {
    const { page, main, field, button, dialog, run } = context;
    const calls = [];
    await replaceTools(context, calls);
    const open = (tool, args) => context.open(`/tool/${tool}${args ? `?args=${encodeURIComponent(JSON.stringify(args))}` : ''}`);
    const sent = async () => {
        const before = calls.length;
        await run();
        assert.equal(calls.length, before + 1);
        return calls.at(-1);
    };
    const select = (name) => main.getByLabel(name, { exact: true });

    const parts = {
        async 'a number is typed digit by digit'() {
            for (const [text, number] of [['1.5', 1.5], ['0.05', 0.05], ['-0.5', -0.5], ['1.05', 1.05], ['2.50', 2.5], ['1e3', 1000]]) {
                await open('numbers');
                await field('x').pressSequentially(text);
                assert.equal(await field('x').inputValue(), text);
                await main.getByRole('spinbutton', { name: 'small' }).pressSequentially('-12');
                assert.deepEqual(await sent(), { x: number, small: -12 });
            }
        },
        async 'the items of a list keep their fields when another item is removed'() {
            await open('lists', { items: [{ by: 'courier', street: 'S' }, { by: 'pickup', shop: 'P' }], any: [{ a: 1 }, { b: 2 }] });
            await button('Remove 1').first().click();
            assert.equal(await field('shop').inputValue(), 'P');
            await button('Remove 1').nth(1).click();
            assert.match(await main.locator('textarea.code').inputValue(), /"b": 2/);
            assert.deepEqual(await sent(), { items: [{ by: 'pickup', shop: 'P' }], any: [{ b: 2 }] });
        },
        async 'a second click of a double click begins no call'() {
            await open('texts', { text: 'x' });
            const before = calls.length;
            await main.locator('article button[type=submit]').dispatchEvent('click', { detail: 2 });
            await sent();
            assert.equal(calls.length, before + 1);
        },
        async 'a time has a zone'() {
            await open('times', { at: '12:30:00Z' });
            assert.equal(await field('at').inputValue(), '12:30:00Z');
            await field('at').fill('');
            assert.equal(await field('at').getAttribute('placeholder'), '12:00:00Z');
        },
        async 'a field has its problem whatever its name is'() {
            await open('names', { 'first name': 'x', höhe: 0 });
            for (const name of ['first name', 'höhe']) assert.equal(await field(name).getAttribute('aria-invalid'), 'true');
        },
        async 'problems of values without a field are listed'() {
            await open('strict', { some: { deep: 1 } });
            await run(null);
            await main.locator('.problems li', { hasText: 'at least 2' }).waitFor();
            await main.locator('.problems li', { hasText: '/some/deep Must be string' }).waitFor();
            await open('pattern');
            await field('word').fill('ABC');
            await main.getByText('pattern (?i)abc (not checked here)').first().waitFor();
            assert.deepEqual(await sent(), { word: 'ABC' });
        },
        async 'each field has an id of its own, also in a question'() {
            const ids = () => page.locator('[id]').evaluateAll((elements) => elements.map(({ id }) => id));
            const twice = (all) => all.filter((id, at) => all.indexOf(id) !== at);
            await open('names');
            assert.deepEqual(twice(await ids()), []);
            for (const name of ['名前', '年齢', 'first name']) {
                await main.locator('label', { hasText: name }).click();
                await field(name).and(page.locator(':focus')).waitFor();
            }
            await open('confirm_amount');
            await run('running');
            const amount = dialog.getByRole('textbox', { name: 'amount' });
            await amount.waitFor();
            assert.deepEqual(twice(await ids()), []);
            await button('Cancel', dialog).click();
            await page.locator('.state-failed, .state-done').waitFor();
        },
        async 'members without a field are shown and can be removed'() {
            await open('strict', { old: ['x'], now: 'y', some: 1 });
            await main.getByText('The schema allows no value here').waitFor();
            await main.locator('.field', { hasText: 'old' }).getByText('"x"').waitFor();
            await button('Remove old').click();
            assert.deepEqual(await sent(), { now: 'y', some: 1 });
        },
        async 'a schema that has changed brings its new defaults'() {
            const before = SCHEMAS.changing;
            await open('changing');
            await field('mode').fill('zz');
            await field('hour').fill('');
            SCHEMAS.changing = { properties: { kind: { type: 'string', default: 'k' }, hour: { type: 'integer', default: 12 } } };
            await page.getByRole('button', { name: 'Reconnect' }).click();
            await page.locator('.status-ready').waitFor();
            await field('kind').waitFor();
            await main.locator('.field', { hasText: 'mode' }).getByText('"zz"').waitFor();
            assert.equal(await field('hour').inputValue(), '');
            SCHEMAS.changing = before;
            assert.deepEqual(await sent(), { mode: 'zz', kind: 'k' });
        },
        async 'a value of null has a field where null is not allowed'() {
            await open('nulls', { text: null });
            await field('text').fill('x');
            assert.deepEqual(await sent(), { text: 'x' });
            await open('nulls');
            assert.deepEqual(await sent(), {});
        },
        async 'a value that is added is what its schema asks for'() {
            await open('unions');
            await button('Add o').click();
            await select('Alternative of v').selectOption({ label: 'string' });
            await field('v').fill('x');
            assert.deepEqual(await sent(), { v: 'x', o: { kind: 'a', n: 5 } });
            await select('Alternative of v').selectOption({ label: 'not set' });
            assert.deepEqual(await sent(), { o: { kind: 'a', n: 5 } });
        },
        async 'an empty text is entered by typing and deleting'() {
            await open('texts');
            for (const name of ['text', 'other']) {
                await field(name).pressSequentially('x');
                await field(name).press('Backspace');
            }
            assert.equal(await field('text').getAttribute('placeholder'), 'empty text');
            assert.deepEqual(await sent(), { text: '' });
            await open('lists', { words: ['x'] });
            await field('1').fill('');
            assert.deepEqual(await sent(), { words: [''] });
        },
        async 'a tool without named arguments may have arguments'() {
            await open('map');
            await field('Value').fill('{"a":"b"}');
            assert.deepEqual(await sent(), { a: 'b' });
            await open('either');
            await select('Alternative of the value').selectOption({ label: 'b' });
            await field('b').fill('x');
            assert.deepEqual(await sent(), { b: 'x' });
            await open('nothing');
            await main.getByText('No arguments.').waitFor();
        },
        async 'a choice keeps the order and the repeats of the list'() {
            await open('steps', { steps: ['left', 'up', 'up'] });
            await main.getByRole('checkbox', { name: 'down' }).check();
            assert.deepEqual(await sent(), { steps: ['left', 'up', 'up', 'down'] });
            await main.getByRole('checkbox', { name: 'up' }).uncheck();
            assert.deepEqual(await sent(), { steps: ['left', 'down'] });
        },
        async 'the focus stays near an item that is removed'() {
            await open('lists', { words: ['a', 'b'] });
            await button('Remove 1').focus();
            await page.keyboard.press('Enter');
            await button('Remove 1').and(page.locator(':focus')).waitFor();
            await page.keyboard.press('Enter');
            await button('Add to words').and(page.locator(':focus')).waitFor();
            await open('unions');
            await main.getByRole('checkbox', { name: 'null for v' }).waitFor();
        },
        async 'a text of a language that is written from the right begins at the right'() {
            await open('texts');
            const gaps = await main.locator('.item-head p', { hasText: 'שלום' }).evaluate((element) => {
                const range = document.createRange();
                range.selectNodeContents(element);
                const [text, box] = [range.getBoundingClientRect(), element.getBoundingClientRect()];
                return { left: text.left - box.left, right: box.right - text.right };
            });
            assert.ok(gaps.right < 1 && gaps.left > 100, JSON.stringify(gaps));
        },
    };
    for (const [name, part] of Object.entries(parts)) {
        await part().catch((error) => {
            error.message = `${name}: ${error.message}`;
            throw error;
        });
    }
}
