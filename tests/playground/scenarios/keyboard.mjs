// A call without a mouse.

import assert from 'node:assert/strict';

export default async function ({ page, open, result, main, dialog }) {
    await open();
    await page.keyboard.press('/');
    await page.keyboard.type('greet');
    await page.locator('.item').nth(1).waitFor({ state: 'detached' });
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await main.getByRole('heading', { name: 'greet' }).waitFor();
    const isFocused = (element) => element.evaluate((found) => found === document.activeElement);
    // After the choice, the item has the focus, and not the list.
    assert.ok(await isFocused(main));
    // Enter in the search field opens the first item that matches.
    await page.keyboard.press('/');
    await page.keyboard.type('slow_compute');
    await page.keyboard.press('Enter');
    await main.getByRole('heading', { name: 'slow_compute' }).waitFor();
    // The first field with a problem gets the focus.
    await page.keyboard.press('Control+Enter');
    await main.getByText('2 values do not fit the schema.').waitFor();
    await main.getByRole('textbox', { name: 'seconds' }).and(page.locator(':focus')).waitFor();
    // In the search field, Enter with Control runs the open item, too, and opens no other.
    await open('/tool/greet');
    await main.getByRole('textbox', { name: 'name' }).fill('Zoe');
    await page.locator('#search').focus();
    await page.keyboard.type('slow_compute');
    await page.keyboard.press('Control+Enter');
    await result.getByText('Hello, Zoe!').waitFor();
    await open('/tool/greet');
    // The skip link, the header and the list come before the form in the order of the page.
    await page.locator('.skip').focus();
    await page.keyboard.press('Enter');
    const name = main.getByRole('textbox', { name: 'name' });
    for (let presses = 0; presses < 4 && !(await name.evaluate((element) => element === document.activeElement)); presses += 1) await page.keyboard.press('Tab');
    await page.keyboard.type('Ada');
    await page.keyboard.press('Enter');
    await result.getByText('Hello, Ada!').waitFor();
    // Enter with Shift begins a line. From then on, Enter belongs to the text.
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('Bob');
    await page.keyboard.press('Enter');
    await page.keyboard.type('Eve');
    assert.equal(await name.inputValue(), 'Ada\nBob\nEve');
    await page.keyboard.press('Control+Enter');
    await result.getByText('Bob').waitFor();
    // A call with several questions: each question puts the focus into its first field.
    await open('/tool/multi_input');
    await main.getByRole('checkbox', { name: 'Run as a task' }).check();
    await page.keyboard.press('Control+Enter');
    await dialog.getByText('Who is the first?').waitFor();
    await page.keyboard.type('Ada');
    await page.keyboard.press('Enter');
    await dialog.getByText('Who is the second?').waitFor();
    await dialog.getByRole('textbox').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('Bob');
    await page.keyboard.press('Control+Enter');
    await page.locator('.state-done').waitFor();
    assert.match(await result.innerText(), /Ada[^]*Bob/);
    await open('/tool/slow_compute?args={"seconds":600,"label":"forever"}');
    await main.locator('button[type=submit]').focus();
    await page.keyboard.press('Enter');
    await result.getByText('Running').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.state-cancelled').waitFor();
    // The same with the button, which goes away: the focus moves to the button that runs the call again.
    await page.keyboard.press('Control+Enter');
    await result.getByRole('button', { name: 'Cancel' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('.state-cancelled').waitFor();
    await main.getByRole('button', { name: 'Run' }).and(page.locator(':focus')).waitFor();
    // Several questions, one after the other: each puts the focus into its field, also below the messages of a conversation.
    await open('/tool/test_input_required_result_multiple_inputs');
    await page.keyboard.press('Control+Enter');
    await dialog.getByText('What is your name?').waitFor();
    await page.keyboard.type('Ada');
    await page.keyboard.press('Enter');
    await dialog.getByText('Write a greeting').waitFor();
    await dialog.getByLabel('Answer of the model').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('Good morning');
    await page.keyboard.press('Control+Enter');
    await dialog.getByLabel('Folders, one address a line').and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Control+Enter');
    await page.locator('.state-done').waitFor();
    // A held key calls once, and answers no question.
    await open('/tool/test_elicitation_sep1034_defaults');
    let calls = 0;
    page.on('request', (request) => (calls += request.postDataJSON()?.method === 'tools/call' ? 1 : 0));
    const asked = dialog.getByText('Please review these values.');
    await page.keyboard.down('Control');
    await page.keyboard.down('Enter');
    await page.keyboard.down('Enter');
    await asked.waitFor();
    for (let repeats = 0; repeats < 5; repeats += 1) await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    await page.keyboard.up('Control');
    // The same without Control, in a field and on a button.
    for (const element of [dialog.getByRole('textbox', { name: 'name' }), dialog.getByRole('textbox', { name: 'age' }), dialog.getByRole('button', { name: 'Accept' })]) {
        await page.evaluate(() => document.activeElement.blur());
        await page.keyboard.down('Enter');
        await element.focus();
        for (let repeats = 0; repeats < 5; repeats += 1) await page.keyboard.down('Enter');
        await page.keyboard.up('Enter');
        await asked.waitFor();
    }
    assert.equal(calls, 1);
    await dialog.getByRole('textbox', { name: 'name' }).fill('Zoe');
    await page.keyboard.press('Control+Enter');
    await page.locator('.state-done').waitFor();
    assert.match(await result.innerText(), /Zoe/);
    // The result may arrive before the dialog closes.
    await dialog.waitFor({ state: 'detached' });
    // On a narrow screen, the search opens the list.
    await page.setViewportSize({ width: 360, height: 720 });
    await page.keyboard.press('Escape');
    await main.focus();
    await page.keyboard.press('/');
    await page.locator('#search').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('greet');
    await page.keyboard.press('Enter');
    await main.getByRole('heading', { name: 'greet' }).waitFor();
    await page.setViewportSize({ width: 1280, height: 860 });
    // Everything that has the focus shows it.
    for (let presses = 0; presses < 20; presses += 1) {
        await page.keyboard.press('Tab');
        const outline = await page.evaluate(() => document.activeElement !== document.body && getComputedStyle(document.activeElement).outlineStyle);
        assert.notEqual(outline, 'none');
    }
}
