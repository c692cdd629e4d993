// The sources that the resource of a view declares in `_meta.ui.csp`, and the address of the document whose policy allows them.

// Lists of the resource, with their names in the address of the document.
const LISTS = { connectDomains: 'connect', resourceDomains: 'resource', frameDomains: 'frame', baseUriDomains: 'base' } as const;
type ListName = keyof typeof LISTS;

// A host name with an optional scheme, port and path. The server checks the same, and refuses other texts: `host_sources.json` has cases for both.
const HOST_SOURCE = /^(?:(?:https?|wss?):\/\/)?(?:\*\.)?[\w-]+(?:\.[\w-]+)*(?::(?:\d{1,5}|\*))?(?:\/[\w.~%@/-]*)?$/i;

// `refused` has the texts that are no host sources. The view does without them.
export type Sources = { allowed: Partial<Record<ListName, string[]>>; refused: string[] };

export function declaredSources(csp: unknown): Sources {
    const sources: Sources = { allowed: {}, refused: [] };
    for (const name of Object.keys(LISTS) as ListName[]) {
        const list: unknown = (csp as any)?.[name];
        for (const source of Array.isArray(list) ? list : list === undefined || list === null ? [] : [list]) {
            if (typeof source === 'string' && Array.isArray(list) && HOST_SOURCE.test(source)) (sources.allowed[name] ??= []).push(source);
            else sources.refused.push(`${name}: ${typeof source === 'string' ? source : JSON.stringify(source)}`);
        }
    }
    return sources;
}

// Returns the address of the document that allows these sources. Host sources have no character that a query encodes.
export function viewUrl(view: URL, { allowed }: Sources): string {
    const parts = (Object.entries(allowed) as [ListName, string[]][]).flatMap(([name, sources]) => sources.map((source) => `${LISTS[name]}=${source}`));
    return parts.length ? `${view.href}?${parts.join('&')}` : view.href;
}

// Returns a policy by which only the document of views can be shown in a frame. A policy cannot name an IPv6 address.
export function framePolicy(view: URL): string | undefined {
    if (view.hostname.startsWith('[')) return undefined;
    const path = view.pathname.replaceAll(';', '%3B').replaceAll(',', '%2C');
    return `frame-src ${view.origin}${path}`;
}
