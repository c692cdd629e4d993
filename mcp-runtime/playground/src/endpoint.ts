// The addresses of the server and of the page.

import { endpointUrl } from './endpoint_url.ts';

export const ENDPOINT = endpointUrl(document.querySelector<HTMLMetaElement>('meta[name="mcp-endpoint"]')!.content, location);

// The document in which the page shows the view of a tool. The server serves it beside the endpoint.
export const VIEW = new URL('./playground-view', ENDPOINT);

// The address of the page, without the state of the form.
export const PAGE = new URL(location.pathname, location.origin);
