// The list of everything that the server offers, with a search.

import { useEffect, useRef, useState } from 'preact/hooks';
import { KINDS, type ItemKind, type Place } from '../address.ts';
import type { Status } from '../connection.ts';
import { found, type Item } from '../items.ts';
import { inline, plainText } from '../markdown_tree.ts';
import { Name } from './name.tsx';

type Props = { items: Item[]; status: Status; chosen: Place; onChoose: (item: Item) => void };

// Number of items up to which the list is seen at a glance.
const FEW = 12;

const GROUPS: Record<ItemKind, string> = { tool: 'Tools', resource: 'Resources', template: 'Templates', prompt: 'Prompts' };

export function Sidebar({ items, status, chosen, onChoose }: Props) {
    const [search, setSearch] = useState('');
    const [isOpen, setOpen] = useState(!chosen.name);
    const field = useRef<HTMLInputElement>(null);
    const list = useRef<HTMLDivElement>(null);
    useEffect(() => {
        const focus = (event: KeyboardEvent) => {
            const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, select');
            if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return;
            event.preventDefault();
            setOpen(true);
            const begin = () => {
                field.current?.focus();
                // Typing begins a new search.
                field.current?.select();
            };
            begin();
            // On a narrow screen, the field appears only now.
            if (document.activeElement !== field.current) setTimeout(begin);
        };
        addEventListener('keydown', focus);
        return () => removeEventListener('keydown', focus);
    }, []);
    // The arrow keys lead from the search through the items.
    const onKeyDown = (event: KeyboardEvent) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (step === undefined) return;
        event.preventDefault();
        const buttons = [...list.current!.querySelectorAll<HTMLElement>('.item')];
        const at = buttons.indexOf(document.activeElement as HTMLElement) + step;
        if (at < 0) field.current?.focus();
        else buttons[Math.min(at, buttons.length - 1)]?.focus();
    };
    const shown = found(items, search);
    const groups = KINDS.filter((kind) => shown.some((item) => item.kind === kind));
    // The focus goes along, so that the arrow keys continue from there.
    const jump = (kind: ItemKind) => {
        const section = list.current!.querySelector<HTMLElement>(`#list-${kind}`)!;
        section.scrollIntoView({ block: 'start' });
        section.querySelector<HTMLElement>('.item')!.focus({ preventScroll: true });
    };
    const choose = (item: Item) => {
        setOpen(false);
        onChoose(item);
    };
    const onSearchKey = (event: KeyboardEvent) => {
        const first = KINDS.flatMap((kind) => shown.filter((item) => item.kind === kind))[0];
        // With Ctrl or Cmd, Enter runs the open item. An input method takes Enter for its own choice.
        if (event.ctrlKey || event.metaKey || event.isComposing) return;
        if (event.key === 'Enter' && search && first) choose(first);
    };
    // A link or the history may have chosen an item that is far down.
    useEffect(() => list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' }), [chosen.kind, chosen.name, status]);
    return (
        <nav class={`sidebar ${isOpen ? 'open' : ''}`} hidden={status === 'login' || status === 'failed'} aria-label="Items of the server" onKeyDown={onKeyDown}>
            <button type="button" class="menu" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
                {isOpen ? 'Hide the items' : 'Show the items'}
            </button>
            <div class="search">
                <label class="hidden" for="search">
                    Search
                </label>
                <input id="search" ref={field} type="search" placeholder="Search (press /)" value={search} onInput={(event) => setSearch(event.currentTarget.value)} onKeyDown={onSearchKey} />
            </div>
            {groups.length > 1 && shown.length > FEW && (
                <div class="jumps" role="group" aria-label="Jump to">
                    {groups.map((kind) => (
                        <button type="button" class="small" title={`Go to the ${GROUPS[kind].toLowerCase()}`} onClick={() => jump(kind)}>
                            {GROUPS[kind]}
                        </button>
                    ))}
                </div>
            )}
            <div class="list" ref={list}>
                {groups.map((kind) => {
                    const group = shown.filter((item) => item.kind === kind);
                    return (
                        <section id={`list-${kind}`}>
                            <h2>
                                {GROUPS[kind]} <span class="count">{group.length}</span>
                            </h2>
                            <ul>
                                {group.map((item) => (
                                    <li>
                                        <Entry item={item} isChosen={chosen.kind === kind && chosen.name === item.id} onChoose={() => choose(item)} />
                                    </li>
                                ))}
                            </ul>
                        </section>
                    );
                })}
                {status === 'ready' && !shown.length && <p class="quiet empty">{items.length ? 'Nothing contains these words.' : 'The server offers nothing.'}</p>}
            </div>
        </nav>
    );
}

function Entry({ item, isChosen, onChoose }: { item: Item; isChosen: boolean; onChoose: () => void }) {
    const first = plainText(inline(item.description?.split('\n', 1)[0] ?? ''));
    return (
        <button type="button" class="item" aria-current={isChosen ? 'page' : undefined} onClick={onChoose}>
            {item.icon && <img class="icon" src={item.icon} alt="" />}
            <span class="item-text">
                <span class="item-name">
                    <Name text={item.title} />
                    {item.hints
                        .filter(({ isListed }) => isListed)
                        .map(({ label, tone }) => (
                            <span class={`badge ${tone}`}>{label}</span>
                        ))}
                </span>
                {first && <span class="item-about">{first}</span>}
            </span>
        </button>
    );
}
