// A form from a JSON Schema, with raw JSON as the way out.

import { useEffect, useState } from 'preact/hooks';
import type { Completer } from './completion.tsx';
import { pretty } from '../exact.ts';
import { ValueField } from './value_field.tsx';
import type { Problems } from '../schema/check.ts';
import type { Draft } from '../schema/draft.ts';
import { fieldsOf, shapeOf, type Schema } from '../schema/shape.ts';

export type FormProps = {
    schema: Schema;
    value: Draft;
    onChange: (value: Draft) => void;
    problems: Problems;
    // Whether problems of fields that the user has not touched are shown too.
    showAll: boolean;
    completer?: Completer;
    // Whether the user may write the value as JSON. The text is told apart by `onBroken` while it is no JSON.
    onBroken?: (isBroken: boolean) => void;
};

export function SchemaForm({ schema, value, onChange, problems, showAll, completer, onBroken }: FormProps) {
    const [isRaw, setRaw] = useState(false);
    const shape = shapeOf(schema, schema);
    const fields = shape.kind === 'object' ? shape.fields : fieldsOf(schema);
    const isPlain = shape.kind === 'object' || fields.length === 0;
    useEffect(() => () => onBroken?.(false), []);
    const isEmpty = isPlain && fields.length === 0 && schema.additionalProperties !== true && JSON.stringify(value ?? {}) === '{}';
    if (isEmpty) return <p class="quiet">No arguments.</p>;
    return (
        <div class="form">
            {onBroken && (
                <div class="form-mode" role="group" aria-label="Form or JSON">
                    <button type="button" aria-pressed={!isRaw} onClick={() => (onBroken(false), setRaw(false))}>
                        Form
                    </button>
                    <button type="button" aria-pressed={isRaw} onClick={() => setRaw(true)}>
                        JSON
                    </button>
                </div>
            )}
            {isRaw && onBroken ? (
                <RawValue value={value} onChange={onChange} onBroken={onBroken} problems={problems} showAll={showAll} />
            ) : (
                <ValueField field={{ name: '', schema, isRequired: true }} root={schema} path="" value={value} onChange={onChange} problems={problems} showAll={showAll} completer={completer} isOutermost />
            )}
        </div>
    );
}

// Moves the focus to the first field with a problem. The fields show their problems only after they are drawn again.
export function focusProblem(form: HTMLFormElement | null): void {
    setTimeout(() => form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
}

type RawProps = { value: Draft; onChange: (value: Draft) => void; onBroken: (isBroken: boolean) => void; problems: Problems; showAll: boolean };

function RawValue({ value, onChange, onBroken, problems, showAll }: RawProps) {
    const [text, setText] = useState(() => pretty(value ?? {}));
    const [broken, setBroken] = useState('');
    const [isTouched, setTouched] = useState(false);
    const change = (next: string) => {
        setText(next);
        setTouched(true);
        try {
            onChange(JSON.parse(next));
            setBroken('');
            onBroken(false);
        } catch (error) {
            setBroken(error instanceof Error ? error.message : String(error));
            onBroken(true);
        }
    };
    const found = broken ? [['', broken] as const] : isTouched || showAll ? [...problems] : [];
    return (
        <div class="field">
            <label for="raw">Arguments as JSON</label>
            <textarea id="raw" class="code" rows={Math.min(24, text.split('\n').length + 2)} spellcheck={false} value={text} onInput={(event) => change(event.currentTarget.value)} aria-invalid={found.length > 0} aria-describedby="raw-problems" />
            <ul id="raw-problems" class="problems">
                {found.map(([pointer, problem]) => (
                    <li>
                        {pointer && <code>{pointer}</code>} {problem}
                    </li>
                ))}
            </ul>
        </div>
    );
}
