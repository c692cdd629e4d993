// Markdown as elements. Only what descriptions and results use: headings, lists, tables, quotes, code, emphasis and links. Text never
// becomes HTML, so that a server cannot bring scripts or images into the page.

import type { ComponentChild } from 'preact';

export function Markdown({ text }: { text: string }) {
    return <div class="markdown">{blocks(text.replaceAll('\r\n', '\n').split('\n'))}</div>;
}

// Whether a text has marks that are rare in other texts.
export const looksLikeMarkdown = (text: string) =>
    /^#{1,6} \S/m.test(text) || /^```/m.test(text) || /^\s*[-*] \S.*\n\s*[-*] \S/m.test(text) || /\*\*\S[^*]*\*\*/.test(text) || /\[[^\]\n]+\]\(https?:/.test(text) || /^\|.*\|\n\|[\s:|-]+\|$/m.test(text);

const ITEM = /^(\s*)([-*+]|\d+[.)])\s+(.*)$/;

function blocks(lines: string[]): ComponentChild[] {
    const found: ComponentChild[] = [];
    let at = 0;
    const take = (fits: (line: string) => boolean) => {
        const first = at;
        while (at < lines.length && fits(lines[at])) at += 1;
        return lines.slice(first, at);
    };
    while (at < lines.length) {
        const line = lines[at];
        const fence = /^\s*(```+|~~~+)/.exec(line)?.[1];
        const heading = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line);
        if (line.trim() === '') {
            at += 1;
        } else if (fence) {
            at += 1;
            const code = take((next) => !next.trim().startsWith(fence));
            at += 1;
            found.push(<pre tabIndex={0}>{code.join('\n')}</pre>);
        } else if (heading) {
            at += 1;
            found.push(<p class={`heading heading-${heading[1].length}`}>{inline(heading[2])}</p>);
        } else if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) {
            at += 1;
            found.push(<hr />);
        } else if (line.startsWith('>')) {
            found.push(<blockquote>{blocks(take((next) => next.startsWith('>')).map((quoted) => quoted.replace(/^> ?/, '')))}</blockquote>);
        } else if (line.includes('|') && /^\s*\|?[\s:-]*-[\s:|-]*$/.test(lines[at + 1] ?? '') && lines[at + 1].includes('|')) {
            found.push(table(take((next) => next.includes('|'))));
        } else if (ITEM.test(line)) {
            found.push(list(take((next) => ITEM.test(next) || /^\s{2,}\S/.test(next))));
        } else {
            found.push(<p>{inline(take((next) => next.trim() !== '' && !/^(\s*(```|~~~)|#{1,6}\s|>)/.test(next) && !ITEM.test(next)).join('\n'))}</p>);
        }
    }
    return found;
}

function list(lines: string[]): ComponentChild {
    const indent = ITEM.exec(lines[0])![1].length;
    const items: { text: string; inner: string[] }[] = [];
    for (const line of lines) {
        const item = ITEM.exec(line);
        if (item && item[1].length <= indent) items.push({ text: item[3], inner: [] });
        else items.at(-1)!.inner.push(line.slice(indent + 2));
    }
    const rows = items.map(({ text, inner }) => (
        <li>
            {inline(text)}
            {blocks(inner)}
        </li>
    ));
    return /^\s*\d/.test(lines[0]) ? <ol>{rows}</ol> : <ul>{rows}</ul>;
}

function table(lines: string[]): ComponentChild {
    const cells = (line: string) => line.trim().replace(/^\||\|$/g, '').split('|').map((cell) => cell.trim());
    const [head, , ...rows] = lines.map(cells);
    return (
        <div class="scroll" tabIndex={0} role="region" aria-label="Table">
            <table>
                <thead>
                    <tr>{head.map((cell) => <th scope="col">{inline(cell)}</th>)}</tr>
                </thead>
                <tbody>{rows.map((row) => <tr>{row.map((cell) => <td>{inline(cell)}</td>)}</tr>)}</tbody>
            </table>
        </div>
    );
}

const INLINE = /(`+)([^`]|[^`].*?[^`])\1(?!`)|\*\*(.+?)\*\*|__(.+?)__|(?<![\w*])\*([^*\s](?:[^*]*[^*\s])?)\*(?!\w)|(?<!\w)_([^_\s](?:[^_]*[^_\s])?)_(?!\w)|!?\[([^\]]*)\]\(([^)\s]+)[^)]*\)|<?(https?:\/\/[^\s<>)\]]*[^\s<>)\].,;:!?])>?/gs;

function inline(text: string): ComponentChild[] {
    const found: ComponentChild[] = [];
    let last = 0;
    for (const match of text.matchAll(INLINE)) {
        found.push(text.slice(last, match.index));
        last = match.index + match[0].length;
        const [all, , code, bold, strong, italic, emphasis, label, target, url] = match;
        if (code !== undefined) found.push(<code>{code.trim()}</code>);
        else if (bold ?? strong) found.push(<strong>{inline(bold ?? strong)}</strong>);
        else if (italic ?? emphasis) found.push(<em>{inline(italic ?? emphasis)}</em>);
        else if (target ?? url) found.push(<Link url={target ?? url}>{label || target || url}</Link>);
        else found.push(all);
    }
    found.push(text.slice(last));
    return found;
}

// A link that opens in a new tab. An address that is not of the web stays a text.
export function Link({ url, children }: { url: string; children: ComponentChild }) {
    if (!/^(https?|mailto):/i.test(url)) return <span>{children}</span>;
    return (
        <a href={url} target="_blank" rel="noopener noreferrer">
            {children}
        </a>
    );
}
