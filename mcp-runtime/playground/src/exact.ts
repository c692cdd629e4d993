// Whole numbers above 2^53, which a JavaScript number cannot hold. They are `bigint` values between the JSON of the server and the JSON of the page.

const { parse } = JSON;

// Whether this browser reads and writes the digits of JSON numbers. In other browsers, the forms reject whole numbers above 2^53.
export const IS_EXACT = 'rawJSON' in JSON;

// Whether a value is a number that may have been rounded from another whole number.
export const isRounded = (value: unknown) => typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);

// Parses JSON, with a `bigint` for each whole number that a JavaScript number cannot hold.
export function parseExact(text: string, reviver?: (this: any, key: string, value: any) => any): any {
    // The type of the reviver in TypeScript lacks the third argument.
    const exact = (_: string, value: any, context?: { source?: string }) => (isRounded(value) && /^-?\d+$/.test(context?.source ?? '') ? BigInt(context!.source!) : value);
    // A reviver runs for each value, which is slow. Only a text with 16 digits in a row needs it.
    return parse(text, reviver ?? (/\d{16}/.test(text) ? exact : undefined));
}

// Makes `JSON` of this page exact. The client library parses the messages of streams with it, and has no setting for another parser.
export function installExact(): void {
    JSON.parse = parseExact;
    const toJSON = function (this: bigint) {
        return (JSON as any).rawJSON(String(this));
    };
    Object.defineProperty(BigInt.prototype, 'toJSON', { value: toJSON, configurable: true });
}

// Returns the response, with a method `json` that keeps all digits.
export function exactResponse(response: Response): Response {
    return Object.defineProperty(response, 'json', { value: async () => parseExact(await response.text()) });
}

// Members of messages that the client library passes on as they are.
const PASSED_ON = new Set(['structuredContent', 'data']);

// Returns a message for the client library, which expects numbers in the members that it knows.
export function withNumbers(value: any, isKept = (name: string) => PASSED_ON.has(name)): any {
    if (typeof value === 'bigint') return Number(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => withNumbers(item, isKept));
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, isKept(name) ? member : withNumbers(member, isKept)]));
}

// Returns the JSON Pointers of the values that are a `bigint`.
export function large(value: any, pointer = ''): string[] {
    if (typeof value === 'bigint') return [pointer];
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([name, member]) => large(member, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`));
}
