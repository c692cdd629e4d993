// A view that uses the official library for views.

import assert from 'node:assert/strict';

export default async function ({ page, open, run, main, dialog, button, tab }) {
    const frame = main.locator('section.view:visible iframe');
    const view = frame.contentFrame();
    await open('/tool/library_lamp?args={"lamp":"hall"}');
    await run();
    await view.getByText('input: {"lamp":"hall"}').waitFor();
    await view.getByText(/result: {"name":"hall"/).waitFor();
    await view.getByText('context: "inline"').waitFor();
    // The frame changes its height after each answer, so a click of the mouse could miss the button.
    const press = (id) => view.locator(`#${id}`).evaluate((element) => element.click());
    const answers = async (id, expected) => {
        await press(id);
        await view.locator('#answer', { hasText: expected }).waitFor();
    };
    await answers('call', '"name":"attic"');
    await answers('read', 'second');
    await answers('mode', '{"mode":"inline"}');
    await answers('message', '{}');
    await main.getByText('From the library.').waitFor();
    await answers('model', '{}');
    await main.getByText('For the model.').waitFor();
    await press('link');
    await dialog.getByText('https://example.com/').waitFor();
    await button('Decline', dialog).click();
    await view.getByText(/answer: .*declined/).waitFor();
    // The library reports the height of its document by itself.
    const height = await view.locator('html').evaluate((element) => element.getBoundingClientRect().height);
    assert.ok(Math.abs((await frame.evaluate((element) => element.clientHeight)) - height) < 60, String(height));
    await run();
    await tab(/^Log/).click();
    await page.locator('.panel').getByText('the library says goodbye').waitFor();
}
