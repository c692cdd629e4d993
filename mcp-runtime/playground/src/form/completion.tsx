// A text field with suggestions of the server, which come while the user types.

import { useEffect, useRef, useState } from 'preact/hooks';

// Returns suggestions for an argument. The arguments that are given already are known to it.
export type Completer = (name: string, text: string, signal: AbortSignal) => Promise<string[]>;

const PAUSE_MS = 120;

type Props = { id: string; name: string; value: string; placeholder?: string; onText: (text: string) => void; completer: Completer; 'aria-describedby': string; 'aria-invalid': boolean };

export function Suggested({ id, name, value, onText, completer, ...aria }: Props) {
    const [found, setFound] = useState<string[]>([]);
    const [isOpen, setOpen] = useState(false);
    const [active, setActive] = useState(-1);
    const current = useRef(completer);
    current.current = completer;
    useEffect(() => {
        setActive(-1);
        // The other arguments may change before the field has the focus again.
        if (!isOpen) return setFound([]);
        const abort = new AbortController();
        const timer = setTimeout(() => {
            current.current(name, value, abort.signal).then(
                (values) => (setFound(values), setActive(-1)),
                () => abort.signal.aborted || setFound([]),
            );
        }, PAUSE_MS);
        return () => {
            clearTimeout(timer);
            abort.abort();
        };
    }, [value, isOpen, name]);
    const isShown = isOpen && found.length > 0;
    const choose = (text: string) => {
        onText(text);
        setOpen(false);
    };
    const onKeyDown = (event: KeyboardEvent) => {
        if (event.key === 'Escape') {
            // Without a list, the key cancels the running call.
            if (isShown) event.preventDefault();
            setOpen(false);
        }
        if (event.key === 'Enter' && isOpen && active >= 0 && !event.ctrlKey && !event.metaKey) {
            choose(found[active]);
            event.preventDefault();
        }
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (step === undefined) return;
        event.preventDefault();
        setOpen(true);
        if (found.length) setActive((active + step + found.length) % found.length);
    };
    return (
        <div class="suggested">
            <input
                {...aria}
                id={id}
                role="combobox"
                aria-autocomplete="list"
                aria-expanded={isShown}
                aria-controls={`${id}-suggestions`}
                aria-activedescendant={isShown && active >= 0 ? `${id}-suggestion-${active}` : undefined}
                autocomplete="off"
                value={value}
                onInput={(event) => (setOpen(true), onText(event.currentTarget.value))}
                onFocus={() => setOpen(true)}
                onBlur={() => setOpen(false)}
                onKeyDown={onKeyDown}
            />
            <ul id={`${id}-suggestions`} role="listbox" aria-label={`Suggestions for ${name}`} hidden={!isShown}>
                {found.map((text, at) => (
                    // The mouse button must not take the focus from the field.
                    <li id={`${id}-suggestion-${at}`} role="option" aria-selected={at === active} onMouseDown={(event) => (event.preventDefault(), choose(text))}>
                        {text}
                    </li>
                ))}
            </ul>
        </div>
    );
}
