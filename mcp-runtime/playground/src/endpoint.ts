// The address of the server, which the server writes into the page.

export const ENDPOINT = new URL(document.querySelector<HTMLMetaElement>('meta[name="mcp-endpoint"]')!.content, location.origin);

// The address of the page, without the state of the form.
export const PAGE = new URL(location.pathname, location.origin);
