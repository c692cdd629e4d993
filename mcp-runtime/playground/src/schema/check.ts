// Compares a value with its JSON Schema.

import { Validator, type OutputUnit } from '@cfworker/json-schema';
import { withNumbers } from '../exact.ts';
import { isInexact, type Draft } from './draft.ts';
import { isPattern } from './pattern.ts';
import type { Schema } from './shape.ts';

// Problems by the JSON Pointer of the value that has them. The empty pointer is the whole value.
export type Problems = Map<string, string>;

// Keywords whose error only says that a part is wrong. The part has an error of its own.
const OUTER = new Set(['properties', 'items', 'prefixItems', 'allOf', '$ref', '$dynamicRef', 'additionalProperties', 'patternProperties', 'unevaluatedProperties', 'if', 'dependentSchemas']);

const TOO_LARGE = 'The browser cannot send this whole number exactly here: its limit is 9007199254740991';

// Compares a value with its schema.
export function problemsOf(value: Draft, schema: Schema): Problems {
    const problems: Problems = new Map();
    let errors;
    try {
        const draft = String(schema.$schema ?? '').includes('draft-07') ? '7' : '2020-12';
        // The validator compares numbers only.
        const [plainSchema, plainValue] = [schema, value ?? null].map((part) => withNumbers(part, () => false));
        dropPatterns(plainSchema);
        ({ errors } = new Validator(plainSchema, draft, false).validate(plainValue));
    } catch (error) {
        problems.set('', `The value cannot be compared with the schema: ${error instanceof Error ? error.message : error}`);
        return problems;
    }
    const inner = ofLikelyBranches(errors.map(located)).filter((error) => !OUTER.has(error.keyword));
    for (const { keyword, error, instanceLocation } of inner) {
        // The validator writes its pointers for the fragment of a URI.
        let pointer = decodeURIComponent(instanceLocation.slice(1));
        const missing = keyword === 'required' ? /property "(.*)"/.exec(error)?.[1] : undefined;
        if (missing !== undefined) pointer += `/${escape(missing)}`;
        const given = keyword === 'type' ? at(value, pointer) : undefined;
        const isLarge = typeof given === 'string' && isInexact(given) && /"(integer|number)"/.test(error);
        problems.set(pointer, missing !== undefined ? 'Required' : isLarge ? TOO_LARGE : plain(keyword, error));
    }
    return problems;
}

// Removes the patterns that a browser cannot compare with a value. They would end the comparison of the whole value, or never end.
function dropPatterns(schema: Schema): void {
    const open = [schema];
    for (let part = open.pop(); part !== undefined; part = open.pop()) {
        if (typeof part.pattern === 'string' && !isPattern(part.pattern)) delete part.pattern;
        for (const pattern of Object.keys(part.patternProperties ?? {})) if (!isPattern(pattern)) delete part.patternProperties[pattern];
        for (const inner of Object.values(part)) if (typeof inner === 'object' && inner !== null) open.push(inner);
    }
}

// Gives an error of the schema `false` the place of its keyword. The validator names only the value there, and reports the keyword just before.
const located = (error: OutputUnit, at: number, all: OutputUnit[]): OutputUnit => (error.keyword === 'false' && at ? { ...error, keywordLocation: `${all[at - 1].keywordLocation}/false` } : error);

// Of the errors of alternatives, keeps those of the alternative that the value is most likely meant for: its constants and its type fit, and
// it has the fewest errors. The error of the keyword itself says less, and goes too.
function ofLikelyBranches(errors: OutputUnit[]): OutputUnit[] {
    let kept = errors;
    for (const outer of errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')) {
        const at = (error: OutputUnit) => {
            const isOfOuter = error !== outer && error.instanceLocation.startsWith(outer.instanceLocation);
            const rest = isOfOuter && error.keywordLocation.startsWith(`${outer.keywordLocation}/`) ? error.keywordLocation.slice(outer.keywordLocation.length + 1) : '';
            return rest && rest.split('/')[0];
        };
        const costs = new Map<string, number>();
        for (const error of kept) {
            const isOfAnotherKind = error.keyword === 'const' || error.keyword === 'enum' || (error.keyword === 'type' && error.instanceLocation === outer.instanceLocation);
            if (at(error)) costs.set(at(error), (costs.get(at(error)) ?? 0) + (isOfAnotherKind ? 1000 : 1));
        }
        const [likely] = [...costs].sort(([, left], [, right]) => left - right)[0] ?? [];
        if (likely !== undefined && costs.get(likely)! < 1000) kept = kept.filter((error) => error !== outer && (!at(error) || at(error) === likely));
        else kept = kept.filter((error) => !at(error));
    }
    return kept;
}

// Returns the value at a JSON Pointer.
function at(value: Draft, pointer: string): unknown {
    const names = pointer.split('/').slice(1).map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
    return names.reduce((part: any, name) => part?.[name], value);
}

export const escape = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');

function plain(keyword: string, error: string): string {
    const expected = /Expected "(.*)"/.exec(error)?.[1];
    if (keyword === 'type' && expected) return `Must be ${expected.replaceAll('"', '').replaceAll(', ', ' or ')}`;
    if (keyword === 'false') return 'The schema allows no value here';
    if (keyword === 'anyOf' || keyword === 'oneOf') return 'Does not fit exactly one of the alternatives';
    const format = /format "(.*)"/.exec(error)?.[1];
    if (keyword === 'format' && format) return `Must be a valid ${format}`;
    return error.replace(/^String/, 'Text').replace(/^Instance/, 'Value').replace(/\.$/, '');
}
