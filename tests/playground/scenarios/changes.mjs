// A tool that the server adds while the page is open.

export default async function ({ page, open, run, main }) {
    await open('/tool/grow');
    await run();
    const grown = page.locator('.item', { hasText: 'grown' });
    await grown.waitFor();
    await grown.click();
    await main.getByText('Came later.').waitFor();
    await open('/?revision=2025-11-25');
    await grown.waitFor();
}
