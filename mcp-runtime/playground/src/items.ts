// What the server offers, as the entries of one list.

import type { ItemKind } from './address.ts';
import type { Offer } from './connection.ts';
import { exactSchema } from './exact.ts';
import { isVisible, viewUri } from './view/tool_ui.ts';
import type { Schema } from './schema/shape.ts';

export type Item = {
    kind: ItemKind;
    // The name of a tool or prompt, the URI of a resource, the URI template of a template.
    id: string;
    title: string;
    name: string;
    description?: string;
    hints: Hint[];
    icon?: string;
    // Schema of the arguments. A resource has none.
    schema?: Schema;
    outputSchema?: Schema;
    mimeType?: string;
    size?: number;
    taskSupport?: 'optional' | 'required' | 'forbidden';
};

// The list shows a hint with `isListed`, too.
export type Hint = { label: string; about: string; tone: 'calm' | 'warn'; isListed?: boolean };

export function itemsOf({ tools, resources, templates, prompts }: Offer): Item[] {
    return [
        ...tools.map((tool): Item => ({ ...shared('tool', tool.name, tool), hints: [...hintsOf(tool.annotations), ...viewHintsOf(tool)], schema: exactSchema(tool, 'inputSchema'), outputSchema: tool.outputSchema, taskSupport: (tool as any).execution?.taskSupport })),
        ...resources.map((resource): Item => ({ ...shared('resource', resource.uri, resource), mimeType: resource.mimeType, size: resource.size })),
        ...templates.map((template): Item => ({ ...shared('template', template.uriTemplate, template), mimeType: template.mimeType, schema: templateSchema(template.uriTemplate) })),
        ...prompts.map((prompt): Item => ({ ...shared('prompt', prompt.name, prompt), schema: promptSchema(prompt.arguments ?? []) })),
    ];
}

function shared(kind: ItemKind, id: string, item: any) {
    const title = item.title ?? item.annotations?.title ?? item.name;
    // An icon of another host would be a request to that host, so only icons in the message itself are shown.
    const icon = item.icons?.find((icon: any) => icon.src.startsWith('data:image/'))?.src;
    return { kind, id, title, name: item.name, description: item.description, hints: [] as Hint[], icon };
}

function hintsOf(annotations: any = {}): Hint[] {
    const hints: Hint[] = [];
    const add = (label: string, about: string, tone: Hint['tone'] = 'calm') => hints.push({ label, about, tone, isListed: tone === 'warn' });
    if (annotations.readOnlyHint) add('read only', 'The tool changes nothing.');
    // The protocol assumes that a tool which may change something is destructive. If the author has set no hint at all, the page does not show that.
    const hasHints = annotations.idempotentHint !== undefined || annotations.openWorldHint !== undefined || annotations.readOnlyHint !== undefined;
    if ((annotations.destructiveHint ?? hasHints) && !annotations.readOnlyHint) add('destructive', 'The tool may delete or overwrite something.', 'warn');
    if (annotations.idempotentHint) add('idempotent', 'A second call with the same arguments changes nothing more.');
    if (annotations.openWorldHint) add('open world', 'The tool reaches other systems.');
    return hints;
}

function viewHintsOf(tool: any): Hint[] {
    const hints: Hint[] = [];
    if (viewUri(tool) !== undefined) hints.push({ label: 'has a view', about: 'Clients that support MCP Apps show a view of the server with the result.', tone: 'calm' });
    if (!isVisible(tool, 'model')) hints.push({ label: 'for views only', about: 'Clients do not offer this tool to models. The view of a tool calls it.', tone: 'calm', isListed: true });
    else if (!isVisible(tool, 'app')) hints.push({ label: 'not for views', about: 'A view may not call this tool.', tone: 'calm' });
    return hints;
}

function promptSchema(args: { name: string; title?: string; description?: string; required?: boolean }[]): Schema {
    const properties = Object.fromEntries(args.map(({ name, title, description }) => [name, { type: 'string', title, description }]));
    return { type: 'object', properties, required: args.filter((arg) => arg.required).map((arg) => arg.name) };
}

// The variables of a URI template (RFC 6570).
export function variablesOf(template: string): string[] {
    const found = [...template.matchAll(/\{[+#./;?&]?([^}]*)\}/g)].flatMap(([, list]) => list.split(','));
    return [...new Set(found.map((variable) => variable.replace(/\*$|:\d+$/, '')))];
}

function templateSchema(template: string): Schema {
    const optional = new Set([...template.matchAll(/\{[?&]([^}]*)\}/g)].flatMap(([, list]) => list.split(',')).map((name) => name.replace(/\*$|:\d+$/, '')));
    const variables = variablesOf(template);
    return { type: 'object', properties: Object.fromEntries(variables.map((name) => [name, { type: 'string' }])), required: variables.filter((name) => !optional.has(name)) };
}

// Encodes a text, except for reserved characters and for escapes that it has already (RFC 6570, section 3.2.3).
const encodeReserved = (text: string) => encodeURI(text).replace(/%25([\da-f]{2})/gi, '%$1');

// Fills in a URI template. With `isPreview`, variables without a value stay in it, except for those of a query.
export function expanded(template: string, values: Record<string, string>, isPreview = false): string {
    return template.replaceAll(/\{([+#./;?&]?)([^}]*)\}/g, (whole, operator: string, list: string) => {
        const isNamed = operator === '?' || operator === '&' || operator === ';';
        const encode = operator === '+' || operator === '#' ? encodeReserved : encodeURIComponent;
        const variables = list.split(',').map((variable) => {
            const [, name, most] = /^(.*?)(?:\*|:(\d+))?$/s.exec(variable)!;
            return { name, text: most === undefined ? values[name] : [...(values[name] ?? '')].slice(0, Number(most)).join('') };
        });
        const parts = variables.filter(({ text }) => text !== undefined && text !== '');
        if (!parts.length) return isPreview && operator !== '?' && operator !== '&' ? whole : '';
        const between = { '': ',', '+': ',', '#': ',', '?': '&' }[operator] ?? operator;
        const written = parts.map(({ name, text }) => (isNamed ? `${name}=${encode(text)}` : encode(text)));
        return (operator === '+' ? '' : operator) + written.join(between);
    });
}

// Returns the items that contain each word of the search.
export function found(items: Item[], search: string): Item[] {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    return items.filter(({ id, title, name, description = '' }) => {
        const text = `${id} ${title} ${name} ${description}`.toLowerCase();
        return words.every((word) => text.includes(word));
    });
}
