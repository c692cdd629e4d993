// One block of content: text, image, audio, embedded resource or link.

import { useState } from 'preact/hooks';
import { Tree } from './tree.tsx';
import { useActions } from '../actions.ts';
import { Link, Markdown } from '../markdown.tsx';
import { looksLikeMarkdown } from '../markdown_tree.ts';
import type { Json } from '../schema/shape.ts';
import { bytes } from '../words.ts';
import { ViewSwitch } from './view_switch.tsx';

export function ContentBlock({ block, isRepeated = false }: { block: any; isRepeated?: boolean }) {
    switch (block?.type) {
        case 'text':
            return isRepeated ? <Folded label="The same as text" text={block.text} /> : <Text text={block.text} />;
        case 'image':
            return <Media kind="image" data={block.data} mimeType={block.mimeType} />;
        case 'audio':
            return <Media kind="audio" data={block.data} mimeType={block.mimeType} />;
        case 'resource':
            return <Embedded resource={block.resource} />;
        case 'resource_link':
            return <ResourceLink link={block} />;
        default:
            return <Tree value={block} label="Content of an unknown type" />;
    }
}

function Folded({ label, text }: { label: string; text: string }) {
    return (
        <details class="repeated">
            <summary class="quiet">{label}</summary>
            <pre tabIndex={0}>{text}</pre>
        </details>
    );
}

function parsed(text: string): Json | undefined {
    if (!/^\s*[[{]/.test(text)) return undefined;
    try {
        return JSON.parse(text);
    } catch {
        return undefined;
    }
}

type View = 'text' | 'markdown' | 'json';

function Text({ text, mimeType = '' }: { text: string; mimeType?: string }) {
    const json = parsed(text);
    const isMarkdown = mimeType.includes('markdown') || (mimeType === '' && looksLikeMarkdown(text));
    const [view, setView] = useState<View>(json !== undefined ? 'json' : isMarkdown ? 'markdown' : 'text');
    const views: [View, string][] = [['text', 'Text'], ['markdown', 'Markdown'], ...(json === undefined ? [] : [['json', 'JSON'] as [View, string]])];
    return (
        <div class="block">
            <div class="block-head">
                <span class="quiet">{mimeType || 'text'}</span>
                <ViewSwitch views={views} view={view} choose={setView} />
            </div>
            {view === 'json' && json !== undefined ? <Tree value={json} label="JSON" /> : view === 'markdown' ? <Markdown text={text} /> : <pre class="plain" tabIndex={0}>{text}</pre>}
        </div>
    );
}

function Media({ kind, data, mimeType }: { kind: 'image' | 'audio'; data: string; mimeType: string }) {
    const url = `data:${mimeType};base64,${data}`;
    const size = bytes(Math.floor((data.length * 3) / 4));
    return (
        <figure class="block">
            {kind === 'image' ? <img src={url} alt={`Image of the result, ${mimeType}`} /> : <audio controls src={url} aria-label={`Audio of the result, ${mimeType}`} />}
            <figcaption class="quiet">
                {mimeType}, {size}
            </figcaption>
        </figure>
    );
}

function Embedded({ resource }: { resource: any }) {
    const mimeType: string = resource.mimeType ?? '';
    const kind = /^(image|audio)\//.exec(mimeType)?.[1] as 'image' | 'audio' | undefined;
    return (
        <div class="block">
            <p class="uri">
                <code>{resource.uri}</code>
            </p>
            {resource.text !== undefined ? (
                <Text text={resource.text} mimeType={mimeType} />
            ) : kind ? (
                <Media kind={kind} data={resource.blob} mimeType={mimeType} />
            ) : (
                <a download={resource.uri.split('/').pop() || 'resource'} href={`data:${mimeType || 'application/octet-stream'};base64,${resource.blob}`}>
                    Save {mimeType || 'the bytes'}, {bytes(Math.floor((resource.blob.length * 3) / 4))}
                </a>
            )}
        </div>
    );
}

function ResourceLink({ link }: { link: any }) {
    const { readResource } = useActions();
    return (
        <div class="block">
            <p>
                <strong>{link.title ?? link.name}</strong> {link.description && <span class="quiet">{link.description}</span>}
            </p>
            <p class="uri">
                {/^https?:/.test(link.uri) ? <Link url={link.uri}>{link.uri}</Link> : <code>{link.uri}</code>}{' '}
                <button type="button" class="small" onClick={() => readResource(link.uri)}>
                    Read this resource
                </button>
            </p>
        </div>
    );
}
