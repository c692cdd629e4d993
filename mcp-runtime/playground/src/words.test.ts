import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytes, duration } from './words.ts';

test('a duration that is rounded up has the next unit', () => {
    const written = [0.4, 12.4, 999.4, 999.7, 59_940, 59_970, 119_400, 119_600].map(duration);
    assert.deepEqual(written, ['less than 1 ms', '12 ms', '999 ms', '1.0 s', '59.9 s', '1 min 0 s', '1 min 59 s', '2 min 0 s']);
});

test('a size that is rounded up has the next unit', () => {
    const written = [999, 1000, 999_940, 999_960, 1_500_000].map(bytes);
    assert.deepEqual(written, ['999 B', '1.0 kB', '999.9 kB', '1.0 MB', '1.5 MB']);
});
