// A tool that the author adds while the page is open, under the command `dev`. The suite `dev` runs this scenario.

import { writeFileSync } from 'node:fs';

export default async function ({ page, open, run, main, result }) {
    // The steps after a change include a build, which waits for the builds of other tests in the same target folder.
    page.setDefaultTimeout(600_000);
    const { path, ...sources } = JSON.parse(process.env.SOURCES);
    const double = page.locator('.item', { hasText: 'double' });
    for (const revision of ['2026-07-28', '2025-11-25']) {
        await open(`/?revision=${revision}`);
        await double.waitFor({ state: 'detached' });
        writeFileSync(path, sources.double);
        await double.waitFor();
        await double.click();
        await main.getByRole('textbox', { name: 'number' }).fill('21');
        await run();
        await result.getByText('42', { exact: true }).first().waitFor();
        // The calls of a build that fails show why.
        writeFileSync(path, sources.broken);
        await run('failed');
        await main.getByText('cannot multiply').first().waitFor();
        writeFileSync(path, sources.start);
        await double.waitFor({ state: 'detached' });
    }
}
