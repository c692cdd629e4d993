// Results of every kind of content, and how they are shown.

import assert from 'node:assert/strict';

export default async function ({ page, open, run, result, main, button, browser }) {
    await open('/tool/test_multiple_content_types');
    await run();
    const image = result.getByRole('img');
    assert.ok(await image.evaluate((element) => element.complete && element.naturalWidth === 1), 'the picture is shown');
    assert.match(await result.locator('header').innerText(), /Done\s+.* ms\s+\d+ B/);
    await result.getByText('image/png').waitFor();
    await result.getByText('test://mixed-content-resource').waitFor();
    assert.match(await result.locator('.tree').innerText(), /test: data\s+value: 123/);
    await button('Text', result.locator('.block', { hasText: 'mixed-content' })).first().click();
    await result.getByText('{"test":"data","value":123}').waitFor();
    await open('/tool/test_audio_content');
    await run();
    await result.locator('audio[controls]').waitFor();
    await open('/resource/test%3A%2F%2Fstatic-binary');
    await run();
    await result.getByRole('img').waitFor();
    await open('/prompt/test_prompt_with_image');
    await run();
    await result.getByRole('heading', { name: 'user' }).first().waitFor();
    await result.getByRole('img').waitFor();
}
