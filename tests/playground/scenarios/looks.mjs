// Main views in light and dark colours and on a narrow screen: axe finds nothing, and nothing sticks out.

import { checker } from '../accessible.mjs';
import { mainViews } from '../main_views.mjs';

export default async function (context) {
    const { page, open } = context;
    const check = checker(context);
    const views = mainViews(context);
    for (const colours of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme: colours });
        for (const [name, show] of Object.entries(views)) {
            await show();
            await check(`${name} in ${colours}`);
        }
    }
    await page.setViewportSize({ width: 360, height: 720 });
    for (const [name, show] of Object.entries(views)) {
        await show();
        await check(`${name} on a narrow screen`);
    }
    // The chosen colours win over those of the system.
    await open('/');
    await page.getByLabel('Colours').selectOption('light');
    await page.waitForFunction(() => getComputedStyle(document.documentElement).colorScheme === 'light');
}
