// Pictures of the main views, for people who look at them. The folder comes from the variable `OUT`, and the server is the fixture:
//
//     OUT=shots node tests/playground/run.mjs screenshots http://127.0.0.1:8000/playground FOLDER

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { mainViews } from '../main_views.mjs';

export default async function (context) {
    const { page } = context;
    const out = process.env.OUT;
    mkdirSync(out, { recursive: true });
    const views = mainViews(context);
    for (const [name, show] of Object.entries(views)) {
        for (const colours of ['light', 'dark']) {
            await page.emulateMedia({ colorScheme: colours, reducedMotion: 'reduce' });
            await show();
            await page.screenshot({ path: join(out, `${name}-${colours}.png`) });
        }
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 390, height: 780 });
    for (const [name, show] of Object.entries(views)) {
        await show();
        await page.screenshot({ path: join(out, `${name}-narrow.png`) });
    }
}
