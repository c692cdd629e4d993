// The kind of form field that fits a JSON Schema.

import { isPattern } from './pattern.ts';

export type Json = null | boolean | number | bigint | string | Json[] | { [name: string]: Json };
export type Schema = { [keyword: string]: any };

export type Choice = { value: Json; label: string };
export type Field = { name: string; schema: Schema; isRequired: boolean };

export type Shape = { isNullable: boolean; schema: Schema } & (
    | { kind: 'text'; format?: string }
    | { kind: 'number'; isInteger: boolean }
    | { kind: 'flag' }
    | { kind: 'choice'; choices: Choice[] }
    | { kind: 'choices'; choices: Choice[] }
    | { kind: 'object'; fields: Field[] }
    | { kind: 'list'; items: Schema }
    | { kind: 'branches'; branches: { label: string; schema: Schema }[] }
    | { kind: 'json' }
);

const isObject = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value);

// Follows references into the document `root`, and merges `allOf`. Other members beside a reference win over those of its target.
export function resolve(schema: unknown, root: Schema, depth = 0): Schema {
    if (!isObject(schema) || depth > 20) return {};
    let found: Schema = schema;
    if (typeof schema.$ref === 'string' && schema.$ref.startsWith('#')) {
        const { $ref, ...rest } = schema;
        const parts = $ref.slice(1).split('/').filter(Boolean);
        const names = parts.map((part: string) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'));
        const target = names.reduce((at: any, name: string) => at?.[name], root);
        found = { ...resolve(target, root, depth + 1), ...rest };
    }
    if (Array.isArray(found.allOf)) {
        const { allOf, ...rest } = found;
        found = [...allOf.map((part) => resolve(part, root, depth + 1)), rest].reduce(merge, {});
    }
    return found;
}

function merge(left: Schema, right: Schema): Schema {
    const required = [...new Set([...(left.required ?? []), ...(right.required ?? [])])];
    const properties = left.properties || right.properties ? { ...left.properties, ...right.properties } : undefined;
    return { ...left, ...right, ...(required.length ? { required } : {}), ...(properties ? { properties } : {}) };
}

const isNull = (schema: Schema) => schema.type === 'null' || schema.const === null || (schema.enum?.length === 1 && schema.enum[0] === null);

export function shapeOf(given: unknown, root: Schema): Shape {
    const schema = resolve(given, root);
    const alternatives = schema.oneOf ?? schema.anyOf;
    if (Array.isArray(alternatives) && !schema.properties) return alternative(schema, alternatives, root);
    const types: string[] = Array.isArray(schema.type) ? schema.type : schema.type ? [schema.type] : [];
    const isNullable = types.includes('null') || (Array.isArray(schema.enum) && schema.enum.includes(null));
    const only = types.filter((type) => type !== 'null');
    const base = { schema, isNullable };
    if (Array.isArray(schema.enum)) {
        const choices = schema.enum.filter((value) => value !== null).map((value, at) => ({ value, label: schema.enumNames?.[at] ?? label(value) }));
        return { ...base, kind: 'choice', choices };
    }
    if ('const' in schema) return { ...base, kind: 'choice', choices: [{ value: schema.const, label: label(schema.const) }] };
    if (only.length > 1) return { ...base, kind: 'branches', branches: only.map((type) => ({ label: type, schema: { ...schema, type } })) };
    switch (only[0] ?? (schema.properties ? 'object' : undefined)) {
        case 'string':
            return { ...base, kind: 'text', format: schema.format };
        case 'integer':
        case 'number':
            return { ...base, kind: 'number', isInteger: only[0] === 'integer' };
        case 'boolean':
            return { ...base, kind: 'flag' };
        case 'array':
            return list(base, root);
        case 'object':
            return schema.properties ? { ...base, kind: 'object', fields: fieldsOf(schema) } : { ...base, kind: 'json' };
        default:
            return { ...base, kind: 'json' };
    }
}

export function fieldsOf(schema: Schema): Field[] {
    const required: string[] = schema.required ?? [];
    return Object.entries(schema.properties ?? {}).map(([name, field]) => ({
        name,
        schema: isObject(field) ? field : {},
        isRequired: required.includes(name),
    }));
}

function alternative(schema: Schema, alternatives: unknown[], root: Schema): Shape {
    const all = alternatives.map((part) => resolve(part, root));
    const rest = all.filter((part) => !isNull(part));
    const isNullable = rest.length < all.length;
    const { oneOf, anyOf, ...outer } = schema;
    const { title, description, default: initial } = outer;
    const named = Object.fromEntries(Object.entries({ title, description, default: initial }).filter(([, value]) => value !== undefined));
    if (rest.length === 1) {
        const inner = shapeOf({ ...rest[0], ...named }, root);
        return { ...inner, isNullable: isNullable || inner.isNullable };
    }
    const base = { schema, isNullable };
    const constants = rest.map((part) => ('const' in part ? [part.const] : part.enum));
    if (rest.length && constants.every((values) => Array.isArray(values) && values.length === 1)) {
        const choices = rest.map((part, at) => ({ value: constants[at]![0], label: part.title ?? label(constants[at]![0]) }));
        return { ...base, kind: 'choice', choices };
    }
    const branches = rest.map((part, at) => ({ label: part.title ?? branchLabel(part, at), schema: part }));
    return { ...base, kind: 'branches', branches };
}

// Names a branch by the constant that tells it apart, or else by its type.
function branchLabel(schema: Schema, at: number): string {
    for (const field of Object.values<Schema>(schema.properties ?? {})) {
        if (isObject(field) && 'const' in field) return label(field.const);
        if (isObject(field) && field.enum?.length === 1) return label(field.enum[0]);
    }
    const names = Object.keys(schema.properties ?? {});
    if (names.length) return names.join(', ');
    return typeof schema.type === 'string' ? schema.type : `alternative ${at + 1}`;
}

function list(base: { schema: Schema; isNullable: boolean }, root: Schema): Shape {
    const { items } = base.schema;
    if (!isObject(items)) return { ...base, kind: 'json' };
    const inner = shapeOf(items, root);
    return inner.kind === 'choice' && !inner.isNullable && inner.choices.length <= 12
        ? { ...base, kind: 'choices', choices: inner.choices }
        : { ...base, kind: 'list', items };
}

const label = (value: Json) => (typeof value === 'string' ? value : JSON.stringify(value));

// What the user has to know about the values of a field, such as `1 to 10`.
export function limitsOf({ schema, kind }: Shape): string {
    const between = (least: unknown, most: unknown, unit = '') => {
        if (least !== undefined && most !== undefined) return least === most ? `${least}${unit}` : `${least} to ${most}${unit}`;
        if (least !== undefined) return `at least ${least}${unit}`;
        return most === undefined ? '' : `at most ${most}${unit}`;
    };
    const notes: string[] = [];
    if (kind === 'number') {
        notes.push(between(schema.minimum, schema.maximum));
        if (schema.exclusiveMinimum !== undefined) notes.push(`above ${schema.exclusiveMinimum}`);
        if (schema.exclusiveMaximum !== undefined) notes.push(`below ${schema.exclusiveMaximum}`);
        if (schema.multipleOf !== undefined) notes.push(`a multiple of ${schema.multipleOf}`);
    }
    if (kind === 'text') {
        notes.push(between(schema.minLength, schema.maxLength, ' characters'));
        if (schema.format) notes.push(schema.format);
        if (schema.pattern) notes.push(`pattern ${schema.pattern}${isPattern(schema.pattern) ? '' : ' (not checked here)'}`);
    }
    if (kind === 'list' || kind === 'choices') notes.push(between(schema.minItems, schema.maxItems, ' items'));
    return notes.filter(Boolean).join(', ');
}

// The type of a field in a few words.
export function typeName(shape: Shape): string {
    const names = { text: 'text', flag: 'yes or no', choice: 'choice', choices: 'choices', object: 'object', list: 'list', branches: 'one of', json: 'JSON' };
    const name = shape.kind === 'number' ? (shape.isInteger ? 'whole number' : 'number') : names[shape.kind];
    return shape.isNullable ? `${name} or null` : name;
}
