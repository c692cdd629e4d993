// Whole numbers above 2^53, which a JavaScript number cannot hold. They are `bigint` values between the JSON of the server and the JSON of the page.

import { isDeeper, mapLeaves, writeDeep } from './deep.ts';
import type { Message } from './wire.ts';

const { parse, stringify } = JSON;

// Whether this browser writes the digits of a `bigint` into JSON. In other browsers, the forms reject whole numbers above 2^53.
export const IS_EXACT = 'rawJSON' in JSON;

// Whether a value is a number that may have been rounded from another whole number.
export const isRounded = (value: unknown) => typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);

// Begins a text that stands for a `bigint`. No server can know it.
const MARK = `${crypto.getRandomValues(new Uint32Array(4)).join('-')} `;

const TEXT_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

// Returns a copy of a value with a text for each `bigint`. The client library accepts it where it refuses a `bigint`.
export const withMarks = (value: any) => mapLeaves(value, (leaf) => (typeof leaf === 'bigint' ? MARK + leaf : leaf));

// Returns a copy of a value with a `bigint` for each of the texts of `withMarks`.
export const withoutMarks = (value: any) => mapLeaves(value, (leaf) => (typeof leaf === 'string' && leaf.startsWith(MARK) ? BigInt(leaf.slice(MARK.length)) : leaf));

// Parses JSON, with a `bigint` for each whole number that a JavaScript number cannot hold.
export function parseExact(text: string, reviver?: (this: any, key: string, value: any) => any): any {
    if (!IS_EXACT || reviver || !/\d{16}/.test(text)) return parse(text, reviver);
    const isLarge = (token: string) => /^-?[1-9]\d*$/.test(token) && !Number.isSafeInteger(Number(token));
    let value;
    try {
        value = parse(text.replace(TEXT_OR_NUMBER, (token) => (isLarge(token) ? `"${MARK}${token}"` : token)));
    } catch {
        // The error names a place in the text, so it has to come from the text itself.
        return parse(text);
    }
    return withoutMarks(value);
}

// Makes `JSON` of this page exact, for values of any depth. The client library uses it, and has no setting for another parser.
export function installExact(): void {
    JSON.parse = parseExact;
    const toJSON = function (this: bigint) {
        return (JSON as any).rawJSON(String(this));
    };
    Object.defineProperty(BigInt.prototype, 'toJSON', { value: toJSON, configurable: true });
    JSON.stringify = (...given: [any, any?, any?]) => {
        try {
            return stringify(...given);
        } catch (error) {
            // Some browsers write deep values with functions that call themselves.
            if (error instanceof TypeError) throw error;
            return writeDeep(given[0], stringify);
        }
    };
}

// Number of levels up to which a text is indented. The indentation of a deeper value would be longer than its text by far.
const MOST_INDENTED = 200;

// Returns the JSON of a value for people to read.
export const pretty = (value: unknown) => (isDeeper(value, MOST_INDENTED) ? JSON.stringify(value) : JSON.stringify(value, null, 2));

// Returns the response, with a method `json` that keeps all digits.
export function exactResponse(response: Response): Response {
    return Object.defineProperty(response, 'json', { value: async () => parseExact(await response.text()) });
}

// Members of messages that the client library passes on as they are.
const PASSED_ON = new Set(['structuredContent', 'data']);

// Returns a copy of a value with numbers, which the client library expects in the members that it knows.
export function withNumbers(value: any, isKept = (name: string) => PASSED_ON.has(name)): any {
    return mapLeaves(value, (leaf) => (typeof leaf === 'bigint' ? Number(leaf) : leaf), isKept);
}

// Member of `_meta` with a schema that has all digits. The client library passes `_meta` on as it is.
const EXACT_SCHEMA = 'playground/schema';

// Returns a message of the server for the client library. `exactSchema` finds the exact schemas in what the library makes of it.
export function forLibrary(message: Message): any {
    const copy = withNumbers(message);
    const carry = (name: string, from: any, to: any) => {
        if (typeof from?.[name] === 'object') to._meta = { ...to._meta, [EXACT_SCHEMA]: from[name] };
    };
    const { tools, inputRequests } = message.result ?? {};
    if (Array.isArray(tools)) tools.forEach((tool, at) => carry('inputSchema', tool, copy.result.tools[at]));
    for (const [key, request] of Object.entries<any>(inputRequests ?? {})) carry('requestedSchema', request?.params, copy.result.inputRequests[key].params);
    if (message.method === 'elicitation/create') carry('requestedSchema', message.params, copy.params);
    return copy;
}

// Returns a tool as the server has sent it, except for large numbers.
export function plainTool({ _meta: { [EXACT_SCHEMA]: _, ...meta } = {} as any, ...tool }: any): any {
    return Object.keys(meta).length ? { ...tool, _meta: meta } : tool;
}

// Returns the schema that a tool or a question has as the member `name`, with all digits.
export const exactSchema = (owner: any, name: 'inputSchema' | 'requestedSchema') => owner._meta?.[EXACT_SCHEMA] ?? owner[name];
