// Whole numbers that a JavaScript number cannot hold: the page sends and shows them with all digits.

import assert from 'node:assert/strict';

const LARGE = '18446744073709551615';
const ODD = '9007199254740993';

export default async function ({ page, open, run, result, field, button, main, tab, dialog }) {
    for (const revision of ['2026-07-28', '2025-11-25']) {
        await open(`/tool/balance?revision=${revision}`);
        await field('amount').fill(LARGE);
        await page.waitForURL((url) => decodeURIComponent(url.hash).includes(`{"amount":${LARGE}}`));
        await run();
        const tree = result.getByRole('group', { name: 'Structured content' });
        assert.match(await tree.innerText(), /amount: 18446744073709551615/);
        assert.match(await tree.innerText(), /0: 9223372036854775807/);
        await result.getByText('fits the output schema', { exact: true }).waitFor();
        await button('JSON', result).click();
        assert.match(await result.locator('pre').first().innerText(), /"amount": 18446744073709551615/);
    }
    // The address, the JSON and the history have the same digits.
    const link = page.url();
    await page.goto('about:blank');
    await page.goto(link);
    await page.locator('.status-ready').waitFor();
    assert.equal(await field('amount').inputValue(), LARGE);
    await button('JSON').first().click();
    const raw = main.getByRole('textbox', { name: 'Arguments as JSON' });
    assert.match(await raw.inputValue(), /18446744073709551615/);
    await raw.fill(`{"amount": ${ODD}, "part": ${LARGE}}`);
    await run();
    assert.match(await result.innerText(), /amount: 9007199254740993[^]*0: 18446744073709551615/);
    await tab(/^Wire/).click();
    await page.locator('.wire summary').first().click();
    assert.match(await page.locator('.wire pre').innerText(), new RegExp(`"amount": ${ODD},`));
    await open('/tool/cities');
    await tab(/^History/).click();
    await page.locator('.past button').first().click();
    assert.equal(await field('amount').inputValue(), ODD);
    // The defaults of a tool and of a question keep their digits, and so does the answer to the question.
    for (const revision of ['2026-07-28', '2025-11-25']) {
        await open(`/tool/confirm_amount?revision=${revision}`);
        assert.equal(await field('proposal').inputValue(), '9007199254740995');
        await run('running');
        const amount = dialog.getByRole('textbox', { name: 'amount' });
        await amount.waitFor();
        assert.equal(await amount.inputValue(), ODD);
        await button('Accept', dialog).click();
        await result.getByText(`${ODD} of 9007199254740995`).waitFor();
        await run('running');
        await amount.fill(LARGE);
        await button('Accept', dialog).click();
        await result.getByText(`${LARGE} of 9007199254740995`).waitFor();
        await tab(/^Wire/).click();
        await page.getByLabel('Filter the messages').fill(LARGE);
        await page.locator('.wire summary').last().click();
        assert.match(await page.locator('.wire pre').innerText(), new RegExp(`"amount": ${LARGE}`));
    }
}
