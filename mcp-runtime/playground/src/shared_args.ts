// The arguments that the page writes into its address and into the history. The browser keeps both.

import { isDeeper } from './deep.ts';
import { initialDraft, type Draft } from './schema/draft.ts';
import { resolve, type Json, type Schema } from './schema/shape.ts';

const MOST_LEVELS = 500;

// Returns the arguments for an address, or `undefined` if they are those that the form begins with.
export function sharedArgs(args: Draft, schema: Schema | undefined): Draft {
    if (!schema || args === undefined) return args;
    const shared = withoutSecrets(args, schema);
    const initial = withoutSecrets(initialDraft(schema, schema, true) ?? {}, schema);
    return JSON.stringify(shared) === JSON.stringify(initial) ? undefined : shared;
}

// Returns a copy of the arguments without the members that their schema calls passwords, or that it only lets a client write.
export function withoutSecrets(args: Draft, schema: Schema): Draft {
    if (args === undefined || isDeeper(args, MOST_LEVELS)) return undefined;
    return stripped(args, [schema], schema);
}

const isSecret = ({ format, writeOnly }: Schema) => format === 'password' || writeOnly === true;

function stripped(value: Json, given: unknown[], root: Schema): Json {
    if (typeof value !== 'object' || value === null || !given.length) return value;
    const schemas = alternatives(given, root);
    if (Array.isArray(value)) {
        return value.map((item, at) => {
            const inner = schemas.flatMap(({ prefixItems, items }) => prefixItems?.[at] ?? items ?? []);
            return alternatives(inner, root).some(isSecret) ? null : stripped(item, inner, root);
        });
    }
    const members = Object.entries(value).map(([name, member]) => {
        const inner = schemas.flatMap(({ properties, additionalProperties }) => (properties && Object.hasOwn(properties, name) ? properties[name] : (additionalProperties ?? [])));
        return [name, alternatives(inner, root).some(isSecret) ? undefined : stripped(member, inner, root)] as const;
    });
    return Object.fromEntries(members.filter(([, member]) => member !== undefined)) as Json;
}

// Returns all schemas that a value may have to fit.
function alternatives(given: unknown[], root: Schema, seen = new Set<unknown>()): Schema[] {
    return given.flatMap((part) => {
        if (seen.has(part)) return [];
        seen.add(part);
        const schema = resolve(part, root);
        const parts = [schema.oneOf, schema.anyOf].flatMap((list) => (Array.isArray(list) ? list : []));
        return [schema, ...alternatives(parts, root, seen)];
    });
}
