// A first evening with the example `book`: a table by keyboard, the booking through its template, updates, and a booking that is gone.

import assert from 'node:assert/strict';

export default async function ({ page, open, run, result, dialog, main, button, browser, url }) {
    await open();
    // A short list has no buttons that jump to its groups.
    assert.equal(await page.getByRole('group', { name: 'Jump to' }).count(), 0);
    await page.keyboard.press('/');
    await page.keyboard.type('book_table');
    await page.keyboard.press('Enter');
    await main.getByRole('heading', { name: 'book_table' }).waitFor();
    await page.keyboard.press('Control+Enter');
    await dialog.getByRole('heading', { name: 'When would you like to come?' }).waitFor();
    await dialog.getByLabel('Day').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('12312030');
    await page.keyboard.press('Enter');
    await dialog.getByText('What else should we know?').waitFor();
    await dialog.getByRole('textbox', { name: 'Name' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.type('Ada');
    await page.keyboard.press('Enter');
    await page.locator('.state-done').waitFor();
    const [, id] = /booking:\/\/([0-9a-f]+)/.exec(await result.innerText());
    // The form of a template shows the address that it reads, also while a variable has no value.
    await open('/template/booking%3A%2F%2F%7Bid%7D');
    await main.getByText('reads booking://{id}').waitFor();
    assert.equal(await main.getByRole('checkbox', { name: 'Subscribe' }).count(), 0);
    await main.getByRole('combobox', { name: 'id' }).fill(id);
    await main.getByText(`reads booking://${id}`).waitFor();
    await run();
    await result.getByText('Ada', { exact: true }).waitFor();
    // A resource of a template has subscriptions, too.
    await main.getByRole('checkbox', { name: 'Subscribe' }).check();
    const other = await browser.newPage();
    await other.goto(`${url}#/tool/cancel_booking?args={"booking":"${id}"}`);
    await other.locator('.status-ready').waitFor();
    await other.locator('.item', { hasText: 'cancel_booking' }).getByText('destructive').waitFor();
    assert.equal(await other.locator('.item', { hasText: 'book_table' }).getByText('destructive').count(), 0);
    await other.locator('article button[type=submit]').click();
    await other.getByText('The booking is cancelled.').waitFor();
    await other.close();
    await main.getByText('updated once').waitFor();
    await run('failed');
    await result.getByText('The server has no resource at this address').waitFor();
    // The description of a prompt is shown once.
    await open('/prompt/plan_evening');
    await main.getByRole('combobox', { name: 'occasion' }).fill('a birthday');
    await button('Get prompt').click();
    await result.getByText('Plan a birthday around a dinner').waitFor();
    assert.equal(await main.getByText('Plans an evening with us.').count(), 1);
}
