// Calls the tool `double`, which an author has added while `dev` serves. The suite `dev` runs this scenario.

export default async function ({ page, open, run, main, result }) {
    await open();
    await page.locator('.item', { hasText: 'double' }).click();
    await main.getByRole('textbox', { name: 'number' }).fill('21');
    await run();
    await result.getByText('42', { exact: true }).first().waitFor();
}
