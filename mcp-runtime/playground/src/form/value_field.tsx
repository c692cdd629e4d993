// A field of a form, for each shape of value.

import { useRef, useState } from 'preact/hooks';
import { pretty } from '../exact.ts';
import { Markdown } from '../markdown.tsx';
import { Suggested, type Completer } from './completion.tsx';
import { escape, type Problems } from '../schema/check.ts';
import { addedDraft, initialDraft, readNumber, withItem, withMember, withoutItem, type Draft } from '../schema/draft.ts';
import { limitsOf, shapeOf, typeName, type Field, type Schema, type Shape } from '../schema/shape.ts';

// State that all fields of a form share. `prefix` begins their ids, and each field adds its path to `drawn` while it is drawn.
export type FormContext = { root: Schema; problems: Problems; showAll: boolean; prefix: string; drawn: Set<string> };
type Common = { form: FormContext; path: string; value: Draft; onChange: (value: Draft) => void; completer?: Completer };
type FieldProps = Common & { field: Field; isOutermost?: boolean; onRemove?: () => void };

// An id has no spaces, because they separate the ids of a list. It ends with a slash, so that no name makes it the id of a part of another field.
const idOf = (prefix: string, path: string) => `${prefix}${path.replaceAll(/[%\s]/g, (letter) => `%${letter.charCodeAt(0)};`)}/`;

export function ValueField({ field, isOutermost, onRemove, ...common }: FieldProps) {
    const [isTouched, setTouched] = useState(false);
    const { form, path, value } = common;
    const shape = shapeOf(field.schema, form.root);
    if (isOutermost && shape.kind === 'object') return <Members {...common} shape={shape} />;
    form.drawn.add(path);
    const id = idOf(form.prefix, path);
    const title = shape.schema.title ?? field.name;
    const problem = isTouched || form.showAll || value !== undefined ? form.problems.get(path) : undefined;
    const isGroup = shape.kind === 'object' || shape.kind === 'list' || shape.kind === 'choices' || shape.kind === 'branches';
    const onChange = (next: Draft) => (setTouched(true), common.onChange(next));
    const notes = [typeName(shape), limitsOf(shape)].filter(Boolean).join(', ');
    const described = `${id}-about${problem ? ` ${id}-problem` : ''}`;
    const input = <Input {...common} onChange={onChange} shape={shape} id={id} field={field} described={described} isInvalid={problem !== undefined} />;
    const about = (
        <div class="about" id={`${id}-about`}>
            <span class="hidden">{notes}</span>
            {shape.schema.description && <Markdown text={shape.schema.description} />}
        </div>
    );
    const type = (
        <span class="type" aria-hidden="true">
            {notes}
        </span>
    );
    const heading = (
        <>
            {title || 'Value'}
            {field.isRequired && !isOutermost && !onRemove && (
                <span class="required" title="Required">
                    <span aria-hidden="true">*</span>
                    <span class="hidden">required</span>
                </span>
            )}
        </>
    );
    const tools = (
        <span class="field-tools">
            {shape.isNullable && (
                <label class="inline">
                    <input type="checkbox" aria-label={`null for ${title || 'Value'}`} checked={value === null} onChange={(event) => onChange(event.currentTarget.checked ? null : undefined)} /> null
                </label>
            )}
            {!field.isRequired && value !== undefined && isGroup && !onRemove && (
                <button type="button" class="small" onClick={() => onChange(undefined)}>
                    Leave out {title}
                </button>
            )}
            {onRemove && (
                <button type="button" class="small" onClick={onRemove} aria-label={`Remove ${title}`}>
                    Remove
                </button>
            )}
        </span>
    );
    const isShown = value !== null || !shape.isNullable;
    const problemLine = problem && (
        <p class="problem" id={`${id}-problem`}>
            {problem}
        </p>
    );
    if (isGroup) {
        return (
            <fieldset class="field group" aria-describedby={described}>
                <legend>{heading}</legend>
                {type}
                {tools}
                {about}
                {isShown && input}
                {problemLine}
            </fieldset>
        );
    }
    return (
        <div class="field" onFocusOut={() => setTouched(true)}>
            <div class="field-head">
                <label for={id}>{heading}</label>
                {type}
                {tools}
            </div>
            {about}
            {isShown && input}
            {problemLine}
        </div>
    );
}

type InputProps = Common & { shape: Shape; id: string; field: Field; described: string; isInvalid: boolean };

function Input(props: InputProps) {
    const { shape } = props;
    switch (shape.kind) {
        case 'text':
            return <TextInput {...props} />;
        case 'number':
            return <NumberInput {...props} isInteger={shape.isInteger} />;
        case 'flag':
            return <FlagInput {...props} />;
        case 'choice':
            return <ChoiceInput {...props} choices={shape.choices} />;
        case 'choices':
            return <ChoicesInput {...props} choices={shape.choices} />;
        case 'object':
            return props.value === undefined ? <AddButton {...props} /> : <Members {...props} shape={shape} />;
        case 'list':
            return <ListInput {...props} items={shape.items} />;
        case 'branches':
            return <BranchesInput {...props} branches={shape.branches} />;
        default:
            return <JsonInput {...props} />;
    }
}

const shown = (value: Draft) => (value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value));

// The number is that of the text. The text stays while the user types, because `1.` has the number of `1`.
function NumberInput({ id, shape, value, onChange, described, isInvalid, isInteger }: InputProps & { isInteger: boolean }) {
    const [typed, setTyped] = useState('');
    const change = (text: string) => (setTyped(text), onChange(readNumber(text)));
    const { minimum, maximum } = shape.schema;
    const hasSteps = isInteger && typeof minimum === 'number' && typeof maximum === 'number' && maximum - minimum <= 100;
    const kind: any = hasSteps ? { type: 'number', min: minimum, max: maximum, step: 1 } : { inputMode: 'decimal' };
    return <input {...kind} id={id} value={readNumber(typed) === value ? typed : shown(value)} onInput={(event) => change(event.currentTarget.value)} aria-describedby={described} aria-invalid={isInvalid} />;
}

// A browser has no input for `time`, which has a zone.
const INPUT_TYPES: Record<string, any> = { email: 'email', date: 'date', uri: 'url', password: 'password' };

function TextInput({ id, shape, field, value, onChange, described, isInvalid, completer }: InputProps) {
    const { schema } = shape;
    const change = (text: string) => onChange(text === '' && !field.isRequired ? undefined : text);
    const common = { id, value: shown(value), placeholder: value === '' ? 'empty text' : exampleOf(schema), 'aria-describedby': described, 'aria-invalid': isInvalid };
    if (completer) return <Suggested {...common} name={field.name} completer={completer} onText={change} />;
    const isLong = schema.contentMediaType || (schema.maxLength ?? 0) > 200;
    if (isLong) return <textarea {...common} rows={4} onInput={(event) => change(event.currentTarget.value)} />;
    if (!schema.format) return <GrowingText {...common} onText={change} />;
    return <input {...common} type={INPUT_TYPES[schema.format] ?? 'text'} onInput={(event) => change(event.currentTarget.value)} />;
}

// Text field of one line that grows with its text. While the text has one line, Enter sends the form, and Shift Enter begins a second line.
function GrowingText({ onText, ...common }: { id: string; value: string; placeholder?: string; onText: (text: string) => void }) {
    const rows = Math.min(12, common.value.split('\n').length);
    const onKeyDown = (event: KeyboardEvent) => {
        const isPlain = event.key === 'Enter' && !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.isComposing;
        if (!isPlain || rows > 1) return;
        event.preventDefault();
        if (event.repeat) return;
        (event.currentTarget as HTMLTextAreaElement).form?.requestSubmit();
    };
    return <textarea {...common} class="line" rows={rows} onInput={(event) => onText(event.currentTarget.value)} onKeyDown={onKeyDown} />;
}

function exampleOf(schema: Schema): string | undefined {
    const example = schema.examples?.[0];
    if (example !== undefined) return String(example);
    return { 'date-time': '2026-07-28T12:00:00Z', time: '12:00:00Z', uri: 'https://…', uuid: '00000000-0000-4000-8000-000000000000' }[schema.format as string];
}

function FlagInput({ id, field, value, onChange, described, isInvalid }: InputProps) {
    // An optional flag has a third state: the server decides.
    const states = field.isRequired ? [] : [['', 'not set']];
    const known = value === undefined && field.isRequired ? [['', 'choose']] : states;
    return (
        <select id={id} value={value === undefined ? '' : String(value)} onChange={(event) => onChange({ true: true, false: false }[event.currentTarget.value])} aria-describedby={described} aria-invalid={isInvalid}>
            {[...known, ['true', 'yes'], ['false', 'no']].map(([of, label]) => (
                <option value={of}>{label}</option>
            ))}
        </select>
    );
}

type Choices = { choices: { value: any; label: string }[] };

function ChoiceInput({ id, field, value, onChange, choices, described, isInvalid }: InputProps & Choices) {
    const at = choices.findIndex((choice) => JSON.stringify(choice.value) === JSON.stringify(value));
    return (
        <select id={id} value={String(at)} onChange={(event) => onChange(choices[Number(event.currentTarget.value)]?.value)} aria-describedby={described} aria-invalid={isInvalid}>
            {(!field.isRequired || at < 0) && <option value="-1">{field.isRequired ? 'choose' : 'not set'}</option>}
            {choices.map((choice, number) => (
                <option value={String(number)}>{choice.label}</option>
            ))}
        </select>
    );
}

function ChoicesInput({ value, onChange, choices }: InputProps & Choices) {
    const chosen = Array.isArray(value) ? value : [];
    const isChosen = (choice: any) => chosen.some((item) => JSON.stringify(item) === JSON.stringify(choice));
    // The order is that of the clicks. A list from a link or from JSON keeps its order and its repeats.
    const toggle = (choice: any, isOn: boolean) => onChange(isOn ? [...chosen, choice] : chosen.filter((item) => JSON.stringify(item) !== JSON.stringify(choice)));
    return (
        <div class="choices">
            {choices.map((choice) => (
                <label class="inline">
                    <input type="checkbox" checked={isChosen(choice.value)} onChange={(event) => toggle(choice.value, event.currentTarget.checked)} /> {choice.label}
                </label>
            ))}
        </div>
    );
}

function AddButton({ shape, field, onChange, form }: InputProps) {
    return (
        <button type="button" class="small" onClick={() => onChange(addedDraft({ ...shape.schema, default: undefined }, form.root) ?? {})}>
            Add {shape.schema.title ?? field.name}
        </button>
    );
}

function Members({ shape, path, value, onChange, ...rest }: Common & { shape: Shape }) {
    if (shape.kind !== 'object') return null;
    const members = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
    // A constant that is set already, such as the tag of a branch, leaves nothing to choose.
    const isSettled = ({ name, schema, isRequired }: Field) => {
        const inner = shapeOf(schema, rest.form.root);
        return isRequired && inner.kind === 'choice' && inner.choices.length === 1 && members[name] === inner.choices[0].value;
    };
    const visible = shape.fields.filter((field) => !isSettled(field));
    const others = Object.keys(members).filter((name) => members[name] !== undefined && !shape.fields.some((field) => field.name === name));
    return (
        <div class="members">
            {visible.map((field) => (
                <ValueField {...rest} key={field.name} field={field} path={`${path}/${escape(field.name)}`} value={members[field.name]} onChange={(next) => onChange(withMember(value, field.name, next))} />
            ))}
            {others.map((name) => (
                <OtherMember key={name} name={name} form={rest.form} path={`${path}/${escape(name)}`} value={members[name]} onRemove={() => onChange(withMember(value, name, undefined))} />
            ))}
        </div>
    );
}

// A member without a field, of a link or of an earlier version of the schema. It is sent, so the user has to see it.
function OtherMember({ name, form, path, value, onRemove }: { name: string; form: FormContext; path: string; value: Draft; onRemove: () => void }) {
    form.drawn.add(path);
    const problem = form.problems.get(path);
    return (
        <div class="field">
            <div class="field-head">
                <code>{name}</code>
                <span class="type">not named in the schema</span>
                <button type="button" class="small" onClick={onRemove} aria-label={`Remove ${name}`}>
                    Remove
                </button>
            </div>
            <pre>{pretty(value)}</pre>
            {problem && <p class="problem">{problem}</p>}
        </div>
    );
}

let lastKey = 0;

function ListInput({ items, path, value, onChange, form, shape, field }: InputProps & { items: Schema }) {
    const list = Array.isArray(value) ? value : [];
    const box = useRef<HTMLDivElement>(null);
    // Each item keeps its key, so that its field keeps its state when an item before it is removed.
    const keys = useRef<number[]>([]);
    while (keys.current.length < list.length) keys.current.push((lastKey += 1));
    keys.current.length = list.length;
    const add = () => onChange([...list, initialDraft(items, form.root, true) ?? null]);
    const remove = (at: number) => {
        keys.current.splice(at, 1);
        onChange(withoutItem(value, at));
        // The focus moves to the button of the next item, or else to “Add”. It would be lost with the field.
        setTimeout(() => {
            const next = box.current?.children[at] as HTMLElement | undefined;
            (next?.querySelector<HTMLElement>('.field-tools > button') ?? next)?.focus();
        });
    };
    return (
        <div class="members" ref={box}>
            {list.map((item, at) => (
                <ValueField
                    key={keys.current[at]}
                    form={form}
                    field={{ name: `${at + 1}`, schema: items, isRequired: true }}
                    path={`${path}/${at}`}
                    value={item === null && !shapeOf(items, form.root).isNullable ? undefined : item}
                    onChange={(next) => onChange(withItem(value, at, next))}
                    onRemove={() => remove(at)}
                />
            ))}
            <button type="button" class="small" onClick={add}>
                Add {shape.schema.title ?? (field.name ? `to ${field.name}` : 'an item')}
            </button>
        </div>
    );
}

function BranchesInput({ branches, value, onChange, form, path, field, id, described, isInvalid }: InputProps & { branches: { label: string; schema: Schema }[] }) {
    const [chosen, setChosen] = useState(() => {
        const fitting = branches.findIndex((branch) => fits(value, branch.schema, form.root));
        return fitting < 0 && (value !== undefined || field.isRequired) ? 0 : fitting;
    });
    const choose = (at: number) => {
        setChosen(at);
        onChange(at < 0 ? undefined : initialDraft(branches[at].schema, form.root, true));
    };
    const branch = branches[chosen];
    const inner = branch && shapeOf(branch.schema, form.root);
    const common = { form, path, value, onChange };
    return (
        <div class="members">
            <select value={String(chosen)} onChange={(event) => choose(Number(event.currentTarget.value))} aria-label={`Alternative of ${field.name || 'the value'}`}>
                {!field.isRequired && <option value="-1">not set</option>}
                {branches.map(({ label }, at) => (
                    <option value={String(at)}>{label}</option>
                ))}
            </select>
            {inner?.kind === 'object' && <Members key={chosen} {...common} shape={inner} />}
            {inner && inner.kind !== 'object' && (
                <>
                    <label class="hidden" for={id}>
                        {field.name || 'Value'}
                    </label>
                    <Input key={chosen} {...common} shape={inner} id={id} field={{ ...field, isRequired: true }} described={described} isInvalid={isInvalid} />
                </>
            )}
        </div>
    );
}

// Whether a value has the constants and the type of a branch.
function fits(value: Draft, schema: Schema, root: Schema): boolean {
    const shape = shapeOf(schema, root);
    if (shape.kind !== 'object') {
        const type = Array.isArray(value) ? 'array' : typeof value === 'bigint' ? 'number' : typeof value;
        return type === ({ text: 'string', flag: 'boolean', number: 'number', list: 'array', choices: 'array' } as Record<string, string>)[shape.kind];
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    return shape.fields.every(({ name, schema: member, isRequired }) => {
        const inner = shapeOf(member, root);
        if (inner.kind === 'choice' && inner.choices.length === 1) return value[name] === inner.choices[0].value;
        return !isRequired || name in value;
    });
}

function JsonInput({ id, value, onChange, described, isInvalid }: InputProps) {
    const [text, setText] = useState(() => (value === undefined ? '' : pretty(value)));
    const [isBroken, setBroken] = useState(false);
    const change = (next: string) => {
        setText(next);
        try {
            onChange(next.trim() === '' ? undefined : JSON.parse(next));
            setBroken(false);
        } catch {
            setBroken(true);
        }
    };
    return (
        <>
            <textarea id={id} class="code" rows={Math.min(12, Math.max(2, text.split('\n').length))} spellcheck={false} placeholder="JSON" value={text} onInput={(event) => change(event.currentTarget.value)} aria-describedby={described} aria-invalid={isInvalid || isBroken} />
            {isBroken && <p class="problem">This is not JSON yet, so the value before it is sent.</p>}
        </>
    );
}
