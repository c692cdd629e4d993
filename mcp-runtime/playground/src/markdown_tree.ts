// The parser of Markdown, whose time grows with the length of the text and not with its square.

export type Inline = string | { kind: 'code'; text: string } | { kind: 'strong' | 'em'; parts: Inline[] } | { kind: 'link'; url: string; label: string };
export type Block =
    | { kind: 'code'; text: string }
    | { kind: 'heading'; level: number; parts: Inline[] }
    | { kind: 'rule' }
    | { kind: 'quote'; blocks: Block[] }
    | { kind: 'table'; head: Inline[][]; rows: Inline[][][] }
    | { kind: 'list'; start?: number; items: { parts: Inline[]; blocks: Block[] }[] }
    | { kind: 'paragraph'; parts: Inline[] };

// A longer text is shown as it is.
export const MOST_CHARACTERS = 100_000;
const MOST_DEPTH = 12;

// Whether a text has marks that are rare in other texts.
export const looksLikeMarkdown = (text: string) =>
    text.length <= MOST_CHARACTERS &&
    (/^#{1,6} \S/m.test(text) || /^```/m.test(text) || /^[ \t]*[-*] \S.*\n[ \t]*[-*] \S/m.test(text) || /\*\*\S[^*]*\*\*/.test(text) || /\[[^[\]\n]+\]\(https?:/.test(text) || /^\|.*\|\n\|[ \t:|-]+\|$/m.test(text));

export function parseMarkdown(text: string): Block[] {
    return text.length > MOST_CHARACTERS ? [{ kind: 'code', text }] : blocks(text.split(/\r\n|[\r\n\u2028\u2029]/), 0);
}

const ITEM = /^(\s*)([-*+]|\d+[.)])\s+(.*)$/;

function blocks(lines: string[], depth: number): Block[] {
    if (depth > MOST_DEPTH) return lines.length ? [{ kind: 'paragraph', parts: [lines.join('\n')] }] : [];
    const found: Block[] = [];
    let at = 0;
    const take = (fits: (line: string) => boolean) => {
        const first = at;
        while (at < lines.length && fits(lines[at])) at += 1;
        return lines.slice(first, at);
    };
    while (at < lines.length) {
        const line = lines[at];
        const fence = /^\s*(```+|~~~+)/.exec(line)?.[1];
        const heading = /^(#{1,6})\s+(.*)$/.exec(line);
        if (line.trim() === '') {
            at += 1;
        } else if (fence) {
            at += 1;
            const code = take((next) => !next.trim().startsWith(fence));
            at += 1;
            found.push({ kind: 'code', text: code.join('\n') });
        } else if (heading) {
            at += 1;
            found.push({ kind: 'heading', level: heading[1].length, parts: inline(withoutMarks(heading[2])) });
        } else if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) {
            at += 1;
            found.push({ kind: 'rule' });
        } else if (line.startsWith('>')) {
            const quoted = take((next) => next.startsWith('>')).map((next) => next.replace(/^> ?/, ''));
            found.push({ kind: 'quote', blocks: blocks(quoted, depth + 1) });
        } else if (line.includes('|') && isTableRule(lines[at + 1] ?? '')) {
            found.push(table(take((next) => next.includes('|'))));
        } else if (ITEM.test(line)) {
            found.push(list(take((next) => ITEM.test(next) || /^\s{2,}\S/.test(next)), depth));
        } else {
            // The first line always belongs to the paragraph, so that each round makes progress.
            at += 1;
            const rest = take((next) => next.trim() !== '' && !/^(\s*(```|~~~)|#{1,6}\s|>)/.test(next) && !ITEM.test(next));
            found.push({ kind: 'paragraph', parts: inline([line, ...rest].join('\n')) });
        }
    }
    return found;
}

// Returns a heading without the marks at its end.
function withoutMarks(text: string): string {
    let end = text.trimEnd().length;
    while (text[end - 1] === '#') end -= 1;
    return text.slice(0, end).trim();
}

const isTableRule = (line: string) => line.includes('-') && line.includes('|') && /^[\s:|-]+$/.test(line);

function list(lines: string[], depth: number): Block {
    const indent = ITEM.exec(lines[0])![1].length;
    const items: { text: string; inner: string[] }[] = [];
    for (const line of lines) {
        const item = ITEM.exec(line);
        if (item && item[1].length <= indent) items.push({ text: item[3], inner: [] });
        else items.at(-1)!.inner.push(line.slice(indent + 2));
    }
    const parsed = items.map(({ text, inner }) => ({ parts: inline(text), blocks: blocks(inner, depth + 1) }));
    const number = /^\s*(\d+)/.exec(lines[0])?.[1];
    return { kind: 'list', start: number === undefined ? undefined : Number(number), items: parsed };
}

function table(lines: string[]): Block {
    const cells = (line: string) => line.trim().replace(/^\||\|$/g, '').split('|').map((cell) => inline(cell.trim()));
    const [head, , ...rows] = lines;
    return { kind: 'table', head: cells(head), rows: rows.map(cells) };
}

// An address may have parentheses in pairs, and no punctuation at its end.
const URL_AT = /<?(https?:\/\/(?:[^\s<>()\]]|\([^\s<>()\]]*\))*(?:[^\s<>()\].,;:!?]|\([^\s<>()\]]*\)))>?/y;
const isWord = (character: string | undefined) => character !== undefined && /\w/.test(character);
const isSpace = (character: string | undefined) => character === undefined || /\s/.test(character);

// Returns a function that finds a mark from a position on. A search that went past a position is not repeated from there.
function finder(text: string): (mark: string, from: number) => number {
    const known = new Map<string, { from: number; at: number }>();
    return (mark, from) => {
        const last = known.get(mark);
        if (last && last.from <= from && (last.at === -1 || from <= last.at)) return last.at;
        const at = text.indexOf(mark, from);
        known.set(mark, { from, at });
        return at;
    };
}

// Returns the positions of the runs of backticks, by their length.
function tickRuns(text: string): Map<number, number[]> {
    const runs = new Map<number, number[]>();
    for (const { 0: run, index } of text.matchAll(/`+/g)) {
        const known = runs.get(run.length);
        if (known) known.push(index);
        else runs.set(run.length, [index]);
    }
    // The first run is at the end, where it is removed when the parser has passed it.
    for (const positions of runs.values()) positions.reverse();
    return runs;
}

const MOST_OF_ADDRESS = 2000;

// Returns the position of the parenthesis that closes an address.
function closing(text: string, from: number): number | undefined {
    let open = 1;
    for (let at = from; at < Math.min(text.length, from + MOST_OF_ADDRESS); at += 1) {
        if (text[at] === '(') open += 1;
        if (text[at] === ')') open -= 1;
        if (!open) return at;
    }
    return undefined;
}

export function inline(text: string, depth = 0): Inline[] {
    if (depth > MOST_DEPTH) return [text];
    const found: Inline[] = [];
    const find = finder(text);
    const ticks = tickRuns(text);
    let last = 0;
    let at = 0;
    const add = (part: Inline, end: number) => {
        if (at > last) found.push(text.slice(last, at));
        found.push(part);
        last = at = end;
    };
    while (at < text.length) {
        const character = text[at];
        if (character === '`') {
            let size = 1;
            while (text[at + size] === '`') size += 1;
            const closers = ticks.get(size)!;
            while (closers.length && closers.at(-1)! <= at) closers.pop();
            const end = closers.at(-1);
            if (end === undefined) at += size;
            else add({ kind: 'code', text: text.slice(at + size, end).trim() }, end + size);
        } else if (character === '*' || character === '_') {
            const twice = character + character;
            const isStrong = text.startsWith(twice, at);
            const end = isStrong ? find(twice, at + 3) : find(character, at + 2);
            const isInWord = isWord(text[at - 1]) || text[at - 1] === character || isWord(text[end + (isStrong ? 2 : 1)]);
            const isMark = isStrong ? character === '*' || !isInWord : !isInWord && !isSpace(text[at + 1]) && !isSpace(text[end - 1]);
            if (end === -1 || !isMark) at += 1;
            else if (isStrong) add({ kind: 'strong', parts: inline(text.slice(at + 2, end), depth + 1) }, end + 2);
            else add({ kind: 'em', parts: inline(text.slice(at + 1, end), depth + 1) }, end + 1);
        } else if (character === '[' || (character === '!' && text[at + 1] === '[')) {
            const first = character === '[' ? at + 1 : at + 2;
            const middle = find(']', first);
            const nearest = middle !== -1 && text[middle + 1] === '(' ? find(')', middle + 2) : -1;
            const end = nearest === -1 ? -1 : (closing(text, middle + 2) ?? nearest);
            const url = end === -1 ? '' : text.slice(middle + 2, end).split(/\s/, 1)[0];
            if (url) add({ kind: 'link', url, label: text.slice(first, middle) || url }, end + 1);
            else at = first;
        } else if (character === '<' || character === 'h') {
            URL_AT.lastIndex = at;
            const match = URL_AT.exec(text);
            if (match) add({ kind: 'link', url: match[1], label: match[1] }, at + match[0].length);
            else at += 1;
        } else {
            at += 1;
        }
    }
    if (last < text.length) found.push(text.slice(last));
    return found;
}

// Returns the text of a line without its marks.
export const plainText = (parts: Inline[]): string =>
    parts.map((part) => (typeof part === 'string' ? part : part.kind === 'link' ? part.label : part.kind === 'code' ? part.text : plainText(part.parts))).join('');
