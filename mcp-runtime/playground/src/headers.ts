// HTTP headers of arguments that the schema of a tool marks with `x-mcp-header` (protocol revision 2026-07-28).

import type { Draft } from './schema/draft.ts';
import type { Schema } from './schema/shape.ts';

export function headersOf(schema: Schema, args: Draft): Record<string, string> {
    const found: Record<string, string> = {};
    const visit = (part: Schema | undefined, value: any) => {
        for (const [name, field] of Object.entries<Schema>(part?.properties ?? {})) {
            const given = value?.[name];
            if (given === undefined || given === null) continue;
            const header = field?.['x-mcp-header'];
            if (typeof header === 'string') found[`Mcp-Param-${header}`] = encoded(String(given));
            else if (typeof given === 'object') visit(field, given);
        }
    };
    visit(schema, args);
    return found;
}

// A text that a header cannot carry as it is travels as Base64.
function encoded(text: string): string {
    const isPlain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/i.test(text);
    if (isPlain) return text;
    const bytes = new TextEncoder().encode(text);
    return `=?base64?${btoa(String.fromCharCode(...bytes))}?=`;
}
