// The value of a form while a user fills it in. A member that is `undefined` is not sent.

import { IS_EXACT, isRounded } from '../exact.ts';
import { fieldsOf, resolve, shapeOf, type Json, type Schema, type Shape } from './shape.ts';

export type Draft = Json | undefined;

// The value that a form begins with: the defaults of the schema, and the objects that it requires.
export function initialDraft(given: unknown, root: Schema, isRequired: boolean, depth = 0): Draft {
    const schema = resolve(given, root);
    const shape = shapeOf(schema, root);
    const isWrong = schema.default === null && !shape.isNullable && shape.kind !== 'json';
    // Some browsers round a default above 2^53. Without the member, the server uses its own default.
    if (schema.default !== undefined && !isRounded(schema.default) && !isWrong) return schema.default;
    return !isRequired || shape.isNullable ? undefined : draftOf(shape, root, depth);
}

// The value that a field begins with when the user adds it.
export const addedDraft = (given: unknown, root: Schema) => draftOf(shapeOf(given, root), root, 0);

function draftOf(shape: Shape, root: Schema, depth: number): Draft {
    if (depth > 6) return undefined;
    if ('const' in shape.schema) return shape.schema.const;
    if (shape.kind === 'object') {
        const members = fieldsOf(shape.schema).map((field) => [field.name, initialDraft(field.schema, root, field.isRequired, depth + 1)] as const);
        return Object.fromEntries(members.filter(([, value]) => value !== undefined)) as Json;
    }
    if (shape.kind === 'list' || shape.kind === 'choices') return [];
    if (shape.kind === 'branches') return initialDraft(shape.branches[0].schema, root, true, depth + 1);
    return undefined;
}

// Adds the defaults of the members that an object has in `schema` and did not have in `before`. The server may have been built again.
export function withNewDefaults(value: Draft, before: Schema, schema: Schema): Draft {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const known = new Set(fieldsOf(before).map(({ name }) => name));
    const fresh = fieldsOf(schema).filter(({ name }) => !known.has(name) && !(name in value));
    const defaults = fresh.map((field) => [field.name, initialDraft(field.schema, schema, field.isRequired)] as const).filter(([, initial]) => initial !== undefined);
    return defaults.length ? ({ ...value, ...Object.fromEntries(defaults) } as Draft) : value;
}

// Returns a copy of an object with another member. `undefined` removes the member.
export function withMember(value: Draft, name: string, member: Draft): Draft {
    const members = typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
    if (member === undefined) delete members[name];
    else members[name] = member;
    return members;
}

// Returns a copy of an object without the members that are an empty text.
export const withoutEmpty = (value: Draft) => Object.fromEntries(Object.entries(value ?? {}).filter(([, member]) => member !== '')) as Draft;

export function withItem(value: Draft, at: number, item: Draft): Draft {
    const items = Array.isArray(value) ? [...value] : [];
    items[at] = item ?? null;
    return items;
}

export function withoutItem(value: Draft, at: number): Draft {
    return Array.isArray(value) ? value.filter((_, other) => other !== at) : value;
}

export const isInexact = (text: string) => /^[+-]?\d+$/.test(text.trim()) && !Number.isSafeInteger(Number(text));

// Reads the text of a number field. A text that is no exact number stays a text, so that the check can report it.
export function readNumber(text: string): Draft {
    const trimmed = text.trim();
    if (trimmed === '') return undefined;
    const number = Number(trimmed);
    if (isInexact(trimmed)) return IS_EXACT ? BigInt(trimmed) : text;
    return Number.isFinite(number) ? number : text;
}
