import assert from 'node:assert/strict';
import { test } from 'node:test';
import { format, parse, type Place } from './address.ts';

test('a place survives its address', () => {
    const places: Place[] = [
        { revision: 'auto' },
        { kind: 'tool', name: 'greet', revision: 'auto', args: { name: 'Ada & "Bob" #1?' } },
        { kind: 'tool', name: 'greet', revision: 'auto', args: {} },
        { kind: 'template', name: 'notes://{city}/{+path}', revision: '2025-11-25' },
        { kind: 'resource', name: 'https://x.y/ä?b=1', revision: 'auto' },
    ];
    for (const place of places) assert.deepEqual(parse(format(place)), place);
});

test('a link that was cut off or invented leads to what is left', () => {
    assert.deepEqual(parse('#/tool/greet?args={"na'), { kind: 'tool', name: 'greet', revision: 'auto' });
    assert.deepEqual(parse('#/other/x?revision=1999-01-01'), { revision: 'auto' });
    assert.deepEqual(parse(''), { revision: 'auto' });
});
