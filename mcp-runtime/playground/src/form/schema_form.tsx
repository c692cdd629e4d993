// A form from a JSON Schema, with raw JSON as the way out.

import { useEffect, useId, useState } from 'preact/hooks';
import type { Completer } from './completion.tsx';
import { pretty } from '../exact.ts';
import { ValueField, type FormContext } from './value_field.tsx';
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
    const prefix = useId();
    useEffect(() => () => onBroken?.(false), []);
    const isClosed = shape.kind !== 'branches' && fields.length === 0 && !schema.additionalProperties && !schema.patternProperties;
    const isEmpty = isClosed && JSON.stringify(value ?? {}) === '{}';
    if (isEmpty) return <p class="quiet">No arguments.</p>;
    const form = { root: schema, problems, showAll, prefix, drawn: new Set<string>() };
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
                <>
                    <ValueField field={{ name: '', schema, isRequired: true }} form={form} path="" value={value} onChange={onChange} completer={completer} isOutermost />
                    {showAll && <OtherProblems form={form} />}
                </>
            )}
        </div>
    );
}

// Lists the problems of values without a field. The fields before it have been drawn when this is drawn.
function OtherProblems({ form: { problems, drawn } }: { form: FormContext }) {
    return <ProblemList found={[...problems].filter(([pointer]) => !drawn.has(pointer))} />;
}

function ProblemList({ found, id }: { found: (readonly [string, string])[]; id?: string }) {
    return (
        <ul id={id} class="problems">
            {found.map(([pointer, problem]) => (
                <li>
                    {pointer && <code>{pointer}</code>} {problem}
                </li>
            ))}
        </ul>
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
            <ProblemList id="raw-problems" found={found} />
        </div>
    );
}
