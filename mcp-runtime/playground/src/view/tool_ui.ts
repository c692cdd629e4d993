// What a tool and a resource say about views (MCP Apps, stable version of 2026-01-26).

export const UI = 'io.modelcontextprotocol/ui';
export const VIEW_TYPE = 'text/html;profile=mcp-app';

// Returns the address of the view of a tool. The flat key is the deprecated form.
export function viewUri(tool: any): string | undefined {
    const uri = tool?._meta?.ui?.resourceUri ?? tool?._meta?.['ui/resourceUri'];
    return typeof uri === 'string' ? uri : undefined;
}

// Whether models or views may call a tool. By default, both may.
export function isVisible(tool: any, to: 'model' | 'app'): boolean {
    const visibility = tool?._meta?.ui?.visibility;
    return !Array.isArray(visibility) || visibility.includes(to);
}

// Whether a call of a tool may change something, as the protocol assumes unless the server says otherwise.
export const mayChange = (tool: any) => tool?.annotations?.readOnlyHint !== true;

// Returns the HTML of a view and its settings. `listed` is the entry of the resource in the list, if it has one.
export function documentOf(uri: string, result: any, listed: any): { html: string; ui: any } {
    const content = result?.contents?.find((content: any) => content?.uri === uri) ?? result?.contents?.[0];
    if (!content) throw new Error(`The resource ${uri} has no content.`);
    const type = String(content.mimeType ?? '').toLowerCase().replaceAll(/\s|"/g, '');
    if (type !== VIEW_TYPE) throw new Error(`The resource ${uri} has the type “${content.mimeType ?? 'none'}”. A view has the type “${VIEW_TYPE}”.`);
    const bytes = () => Uint8Array.from(atob(content.blob ?? ''), (letter) => letter.charCodeAt(0));
    const html: string = content.text ?? new TextDecoder().decode(bytes());
    return { html, ui: content._meta?.ui ?? listed?._meta?.ui ?? {} };
}
