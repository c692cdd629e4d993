// The page asks only its own origin, and a server cannot bring scripts or pictures of other hosts into it.

import assert from 'node:assert/strict';

export default async function ({ page, open, run, url, requests, result, complaints }) {
    await open('/tool/report');
    await run();
    await result.getByText('onerror').waitFor();
    await open('/tool/cities');
    await run();
    const own = new URL(url).origin;
    const foreign = requests.filter((request) => !request.startsWith(own) && !request.startsWith('data:') && request !== 'about:blank');
    assert.deepEqual(foreign, []);
    // The policy refuses what a script would add.
    const refused = await page.evaluate(
        () =>
            new Promise((resolve) => {
                addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective), { once: true });
                const image = document.createElement('img');
                image.src = 'http://127.0.0.1:9/pixel.png';
                document.body.append(image);
            }),
    );
    assert.equal(refused, 'img-src');
    assert.ok(complaints.every((complaint) => complaint.includes('Content Security Policy')), complaints.join('\n'));
    complaints.length = 0;
}
