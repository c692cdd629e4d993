import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inline, looksLikeMarkdown, MOST_CHARACTERS, parseMarkdown, plainText } from './markdown_tree.ts';

test('each kind of line end ends a heading', () => {
    for (const end of ['\r', '\u2028', '\u2029', '\r\n', '\n']) {
        assert.deepEqual(parseMarkdown(`# Progress${end}50 %`), [
            { kind: 'heading', level: 1, parts: ['Progress'] },
            { kind: 'paragraph', parts: ['50 %'] },
        ]);
    }
});

test('a line that begins like another block and is none is a paragraph', () => {
    for (const line of ['#', '###### ', '####### x', '-', '1.', '|']) assert.ok(parseMarkdown(`${line}\nx`).length > 0, line);
});

test('blocks have their parts', () => {
    assert.deepEqual(parseMarkdown('> a\n\n- **b**\n  c\n\n|x|y|\n|-|-|\n|1|2|\n\n~~~\n# d\n~~~\n---\n## e ##'), [
        { kind: 'quote', blocks: [{ kind: 'paragraph', parts: ['a'] }] },
        { kind: 'list', start: undefined, items: [{ parts: [{ kind: 'strong', parts: ['b'] }], blocks: [{ kind: 'paragraph', parts: ['c'] }] }] },
        { kind: 'table', head: [['x'], ['y']], rows: [[['1'], ['2']]] },
        { kind: 'code', text: '# d' },
        { kind: 'rule' },
        { kind: 'heading', level: 2, parts: ['e'] },
    ]);
});

test('a line has code, emphasis and links', () => {
    assert.deepEqual(inline('a `b*` **c _d_** *e* f_g_h [i](https://j.k "t") https://l.m, <https://n.o>'), [
        'a ',
        { kind: 'code', text: 'b*' },
        ' ',
        { kind: 'strong', parts: ['c ', { kind: 'em', parts: ['d'] }] },
        ' ',
        { kind: 'em', parts: ['e'] },
        ' f_g_h ',
        { kind: 'link', url: 'https://j.k', label: 'i' },
        ' ',
        { kind: 'link', url: 'https://l.m', label: 'https://l.m' },
        ', ',
        { kind: 'link', url: 'https://n.o', label: 'https://n.o' },
    ]);
    assert.deepEqual(inline('2 * 3 * 4 ** [x] `'), ['2 * 3 * 4 ** [x] `']);
});

test('underscores inside of words are no marks', () => {
    assert.deepEqual(inline('mcp__github__create_issue __a__b __init__ __c__'), ['mcp__github__create_issue __a__b ', { kind: 'strong', parts: ['init'] }, ' ', { kind: 'strong', parts: ['c'] }]);
    assert.deepEqual(inline('a**b**c'), ['a', { kind: 'strong', parts: ['b'] }, 'c']);
});

test('an address may have parentheses in pairs', () => {
    const url = 'https://w.x/A_(b)';
    assert.deepEqual(inline(`[w](${url}) (see ${url}) (${url}). [v](https://v.x) (y)`), [
        { kind: 'link', url, label: 'w' },
        ' (see ',
        { kind: 'link', url, label: url },
        ') (',
        { kind: 'link', url, label: url },
        '). ',
        { kind: 'link', url: 'https://v.x', label: 'v' },
        ' (y)',
    ]);
});

test('a numbered list keeps the number of its first item', () => {
    const starts = parseMarkdown('1. a\n\n2. b\n\n5) c').map((block) => block.kind === 'list' && block.start);
    assert.deepEqual(starts, [1, 2, 5]);
});

test('a line without its marks is its text', () => {
    assert.equal(plainText(inline('a `b*` **c _d_** [e](https://f.g) 2 * 3')), 'a b* c d e 2 * 3');
});

test('a long text of marks is parsed in the time that its length needs', () => {
    // A parser that goes over the rest of the text for each mark would need minutes for these.
    const marks = ['[', '`', '``` ` `` ', '*', '**a', '_', '[a](', '![', '<', 'https://', '\n', '# ', '> ', '- ', '|-', '- \n', '* a\n ', ' ', '[a](b(', 'https://a(', '(https://a)', '__', 'a__ '];
    for (const mark of marks) {
        const text = mark.repeat(MOST_CHARACTERS / mark.length);
        for (const full of [text, `x${text}`.slice(0, MOST_CHARACTERS), `# ${text}`.slice(0, MOST_CHARACTERS - 1) + 'x']) {
            parseMarkdown(full);
            looksLikeMarkdown(full);
        }
    }
});

test('quotes and lists are nested to a limit', () => {
    const depth = (blocks: any[]): number => (blocks[0]?.blocks ? 1 + depth(blocks[0].blocks) : 0);
    assert.ok(depth(parseMarkdown('>'.repeat(10_000) + 'x')) < 20);
});

test('a text that is too long is not parsed', () => {
    const text = '# a\n'.repeat(MOST_CHARACTERS);
    assert.deepEqual(parseMarkdown(text), [{ kind: 'code', text }]);
    assert.ok(!looksLikeMarkdown(text));
});
