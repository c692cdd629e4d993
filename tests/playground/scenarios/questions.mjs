// The user answers elicitation, sampling and roots, in both eras.

import assert from 'node:assert/strict';

export default async function ({ page, open, run, result, dialog, button }) {
    for (const revision of ['2026-07-28', '2025-11-25']) {
        const to = (tool, args = '') => open(`/tool/${tool}?revision=${revision}${args}`);
        await to('test_elicitation_sep1034_defaults');
        await run('running');
        await dialog.getByRole('heading', { name: 'Please review these values.' }).waitFor();
        const name = dialog.getByRole('textbox', { name: 'name' });
        assert.equal(await name.inputValue(), 'John Doe');
        await name.fill('Ada');
        await dialog.getByRole('textbox', { name: 'age' }).fill('young');
        await button('Accept', dialog).click();
        await dialog.getByText('Must be integer').waitFor();
        await dialog.getByRole('textbox', { name: 'age' }).fill('36');
        await button('Accept', dialog).click();
        await page.locator('.state-done').waitFor();
        assert.match(await result.innerText(), /Ada/);
        // The page shows only progress that the server has reported, and does not count questions.
        assert.equal(await result.getByRole('progressbar').count(), 0);
        // Choices of every kind: with and without titles, one and several.
        await to('test_elicitation_sep1330_enums');
        await run('running');
        await button('Accept', dialog).click();
        await dialog.getByText('Required').first().waitFor();
        await dialog.getByLabel('untitledSingle').selectOption({ label: 'option2' });
        await dialog.getByLabel(/^titledSingle/).selectOption({ label: 'Second Option' });
        await dialog.getByLabel('legacyEnum').selectOption({ label: 'Option Two' });
        await dialog.getByRole('group', { name: 'untitledMulti' }).getByRole('checkbox', { name: 'option3' }).check();
        await dialog.getByRole('group', { name: /^titledMulti/ }).getByRole('checkbox', { name: 'First Choice' }).check();
        await button('Accept', dialog).click();
        await page.locator('.state-done').waitFor();
        assert.match(await result.innerText(), /untitled_single: Option2, titled_single: Value2, legacy_enum: Opt2, untitled_multi: \[Option3\], titled_multi: \[Value1\]/);
        await to('test_elicitation', '&args={"message":"Well?"}');
        await run('running');
        await button('Decline', dialog).click();
        await page.locator('.state-done, .state-failed').waitFor();
        assert.match(await result.innerText(), /declin/);
        await to('test_sampling', '&args={"prompt":"What is six by seven?"}');
        await run('running');
        await dialog.getByText('What is six by seven?').waitFor();
        await dialog.getByLabel('Answer of the model').fill('forty-two');
        await button('Answer', dialog).click();
        await page.locator('.state-done').waitFor();
        assert.match(await result.innerText(), /forty-two/);
        await to('test_input_required_result_list_roots');
        await run('running');
        const folders = dialog.getByLabel('Folders, one address a line');
        await dialog.getByText('file:///home/ada/project').waitFor();
        await folders.fill('/home/ada');
        await dialog.getByText('does not begin with file://').waitFor();
        await folders.fill('file:///home/ada');
        await button('Answer', dialog).click();
        await page.locator('.state-done').waitFor();
        assert.match(await result.innerText(), /file:\/\/\/home\/ada/);
        // The second click of a double click on the question before leaves a question open.
        await to('test_input_required_result_multiple_inputs');
        await run('running');
        await dialog.getByRole('textbox').fill('Ada');
        await button('Accept', dialog).click();
        await dialog.getByText('Write a greeting').waitFor();
        await button('Answer', dialog).dispatchEvent('click', { detail: 2 });
        await dialog.getByLabel('Answer of the model').fill('Good morning');
        await button('Answer', dialog).click();
        await dialog.getByText('Folders, one address a line').waitFor();
        await button('Answer', dialog).click();
        await page.locator('.state-done').waitFor();
        assert.match(await result.innerText(), /Good morning/);
    }
}
