// The value of a form while a user fills it in. A member that is `undefined` is not sent.

import { IS_EXACT, isRounded } from '../exact.ts';
import { fieldsOf, resolve, shapeOf, type Json, type Schema } from './shape.ts';

export type Draft = Json | undefined;

// The value that a form begins with: the defaults of the schema, and the objects that it requires.
export function initialDraft(given: unknown, root: Schema, isRequired: boolean, depth = 0): Draft {
    const schema = resolve(given, root);
    // Some browsers round a default above 2^53. Without the member, the server uses its own default.
    if (schema.default !== undefined && !isRounded(schema.default)) return schema.default;
    if (!isRequired || depth > 6) return undefined;
    const shape = shapeOf(schema, root);
    if (shape.isNullable) return undefined;
    if ('const' in shape.schema) return shape.schema.const;
    if (shape.kind === 'object') {
        const members = fieldsOf(shape.schema).map((field) => [field.name, initialDraft(field.schema, root, field.isRequired, depth + 1)] as const);
        return Object.fromEntries(members.filter(([, value]) => value !== undefined)) as Json;
    }
    if (shape.kind === 'list' || shape.kind === 'choices') return [];
    if (shape.kind === 'branches') return initialDraft(shape.branches[0].schema, root, true, depth + 1);
    return undefined;
}

// Returns a copy of an object with another member. `undefined` removes the member.
export function withMember(value: Draft, name: string, member: Draft): Draft {
    const members = typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
    if (member === undefined) delete members[name];
    else members[name] = member;
    return members;
}

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
