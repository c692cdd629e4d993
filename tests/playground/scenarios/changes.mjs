// Items that the server adds while the page is open: a tool, a resource, a template and a prompt.

export default async function ({ page, open, run, main, result }) {
    for (const revision of ['2026-07-28', '2025-11-25']) {
        await open(`/tool/grow?revision=${revision}&args={"name":"of-${revision}"}`);
        const grown = (kind) => page.locator('.list section', { hasText: kind }).locator('.item', { hasText: `of-${revision}` });
        await run();
        for (const kind of ['Tools', 'Resources', 'Templates', 'Prompts']) await grown(kind).waitFor();
        await grown('Tools').click();
        await main.getByText('Came later.').waitFor();
        await grown('Resources').click();
        await run();
        await result.getByText('grown', { exact: true }).waitFor();
    }
}
