import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LogLines, MOST_LENGTH } from './log_lines.ts';

test('old lines go when all lines together are too long, and the newest stays', () => {
    const log = new LogLines();
    const half = 'x'.repeat(MOST_LENGTH / 2);
    for (const data of ['first', half, half]) log.add({ level: 'info', data });
    assert.deepEqual(log.lines.value.map(({ number }) => number), [3]);
    log.add({ level: 'info', data: half + half });
    assert.deepEqual(log.lines.value.map(({ number }) => number), [4]);
    log.add({ level: 'info', data: 'short' });
    assert.deepEqual(log.lines.value.map(({ number }) => number), [5]);
});
