// Markdown as elements. Only what descriptions and results use: headings, lists, tables, quotes, code, emphasis and links. Text never
// becomes HTML, so that a server cannot bring scripts or images into the page.

import type { ComponentChild } from 'preact';
import { useMemo } from 'preact/hooks';
import { parseMarkdown, type Block, type Inline } from './markdown_tree.ts';

export function Markdown({ text }: { text: string }) {
    const parsed = useMemo(() => parseMarkdown(text), [text]);
    return <div class="markdown">{parsed.map(block)}</div>;
}

function block(found: Block): ComponentChild {
    switch (found.kind) {
        case 'code':
            return <pre tabIndex={0}>{found.text}</pre>;
        case 'heading':
            return <p class={`heading heading-${found.level}`}>{found.parts.map(inline)}</p>;
        case 'rule':
            return <hr />;
        case 'quote':
            return <blockquote>{found.blocks.map(block)}</blockquote>;
        case 'table':
            return <Table head={found.head} rows={found.rows} />;
        case 'list': {
            const rows = found.items.map(({ parts, blocks }) => (
                <li>
                    {parts.map(inline)}
                    {blocks.map(block)}
                </li>
            ));
            return found.start === undefined ? <ul>{rows}</ul> : <ol start={found.start}>{rows}</ol>;
        }
        case 'paragraph':
            return <p>{found.parts.map(inline)}</p>;
    }
}

function Table({ head, rows }: { head: Inline[][]; rows: Inline[][][] }) {
    return (
        <div class="scroll" tabIndex={0} role="region" aria-label="Table">
            <table>
                <thead>
                    <tr>{head.map((cell) => <th scope="col">{cell.map(inline)}</th>)}</tr>
                </thead>
                <tbody>{rows.map((row) => <tr>{row.map((cell) => <td>{cell.map(inline)}</td>)}</tr>)}</tbody>
            </table>
        </div>
    );
}

function inline(part: Inline): ComponentChild {
    if (typeof part === 'string') return part;
    switch (part.kind) {
        case 'code':
            return <code>{part.text}</code>;
        case 'strong':
            return <strong>{part.parts.map(inline)}</strong>;
        case 'em':
            return <em>{part.parts.map(inline)}</em>;
        case 'link':
            return <Link url={part.url}>{part.label}</Link>;
    }
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
